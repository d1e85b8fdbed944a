"""Pieces that all pages share, as markup; ``parts.html`` has what they look like."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from markupsafe import Markup, escape

from harness.records import FileResult, Outcome, RunResult, Step, Verdict
from harness.report.file_view import WORDS
from harness.report.html.page_names import PLAIN, STYLE, link, part_name
from harness.report.html.templates import GLOBALS, macro
from harness.report.report_files import SharedText
from harness.report.tally import Tally, phrases
from harness.text import one_line, show_utc

# Not even a mistake in escaping may run a script or load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
NOTHING = Markup("")

# How a verdict's sign is drawn: f it broke, x as expected, w look here, p all is well.
_DOTS = {
    Verdict.PASSED: "p",
    Verdict.UNEXPECTED_PASS: "u",
    Verdict.EXPECTED_FAIL: "x",
    Verdict.FAILED: "f",
}
# What a filter tells apart; all else is worth a look.
KINDS = {Verdict.FAILED: "f", Verdict.EXPECTED_FAIL: "x", Verdict.PASSED: "p"}
LOOK = "w"
_PILLS = {
    Verdict.PASSED: "p",
    Verdict.UNEXPECTED_PASS: "w",
    Verdict.FAILED: "f",
    Verdict.NOT_RUN: "w",
    Verdict.NOT_JUDGED: "w",
}


class PageFrame:
    """Frame of a page's body.

    ``crumbs``: the way here, as pairs of a name and an address; the last one is the page itself,
    and its address is not used. ``status``: in the bar above, at its right. ``aside``: contents
    beside the body. ``boards``: whether there are cards, which have them. ``script``: whether a
    click can do more. ``log``: whether it is a log, which has a script of its own.
    """

    __slots__ = ("aside", "boards", "crumbs", "log", "script", "status", "style")

    def __init__(  # noqa: PLR0913 - what pages differ in
        self,
        crumbs: Sequence[tuple[str, str]] = (),
        *,
        status: Markup = NOTHING,
        aside: Markup = NOTHING,
        boards: bool = False,
        script: bool = False,
        log: bool = False,
        style: str = "",
    ) -> None:
        self.crumbs = crumbs
        self.status = status
        self.aside = aside
        self.boards = boards
        self.script = script
        self.log = log
        self.style = style


_PLAIN = PageFrame()


def page(title: str, body: Iterable[str], frame: PageFrame = _PLAIN) -> Iterator[str]:
    """Yield a whole page, in the parts of its ``body``."""
    kind = frame.script, frame.log
    yield _frame("head", title, _policy(*kind))
    yield _page_start(frame.boards, frame.style)
    crumbs = frame.crumbs or [(title, "")]
    yield _frame("top", crumbs, frame.status, frame.aside)
    yield from map(escape, body)
    yield _end(*kind)


def _frame(part: str, *values: object) -> Markup:
    return macro("report/html/page.html", part)(*values)


# What is alike in many pages is made once, and is then known to anyone who writes it.


@cache
def _policy(has_script: bool, is_log: bool) -> Markup:
    """Return what allows the style, and the script by its digest."""
    if not has_script:
        return Markup(_POLICY)
    from harness.report.html.page_names import LOG_SHA256, SHA256

    return Markup(f"{_POLICY}; script-src 'sha256-{LOG_SHA256 if is_log else SHA256}'")


@lru_cache(16)
def _page_start(has_boards: bool, style: str) -> SharedText:
    """Return the style, with what a page adds to it, and what follows up to the way here."""
    whole = Markup((STYLE if has_boards else PLAIN) + style)
    if not has_boards:
        return SharedText(_frame("start", whole, NOTHING))
    from harness.report.html.board_drawing import DEFINITIONS

    return SharedText(_frame("start", whole, DEFINITIONS))


@cache
def _end(has_script: bool, is_log: bool) -> SharedText:
    """Return the end of a page, with its script."""
    from harness.report.html.page_names import LOG_SCRIPT, SCRIPT

    script = Markup(LOG_SCRIPT if is_log else SCRIPT) if has_script else ""
    return SharedText(_frame("end", script))


# --- Pieces ---


def _draw(piece: str, *values: object) -> Markup:
    return macro("report/html/parts.html", piece)(*values)


def part_links(name: str, part: int, count: int) -> Markup:
    """Return links to the other parts of a page that is cut into so many."""
    if count == 1:
        return NOTHING
    links = [(one, one != part and link(part_name(name, one))) for one in range(1, count + 1)]
    return _draw("part_links", links)


def anchor(address: str, text: object) -> Markup:
    """Return a text that leads to an address."""
    return _draw("anchor", address, text)


@cache
def dot(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as a sign alone; the word stands elsewhere."""
    return _draw("dot", "u" if flaky else _DOTS.get(verdict, "x"))


@cache
def badge(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as sign and word."""
    sign, word = WORDS[verdict]
    return _draw("badge", as_class(word), sign, word, flaky)


@cache
def pill(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as a word on its tint."""
    return _draw("pill", _PILLS.get(verdict, ""), WORDS[verdict][1], flaky)


def change_pills(broke: int, mended: int) -> Markup:
    """Return how many tests changed; nothing if none did."""
    kinds = (("f", broke, "broke"), ("p", mended, "mended"))
    return _draw("pills", [one for one in kinds if one[1]])


def as_class(word: str) -> str:
    """Return a verdict's word as the name of a class, which has no blanks."""
    return word.replace(" ", "")


def in_words(counts: Tally) -> Markup:
    """Return the counts that are not zero as a list, the worst first."""
    return _in_words(tuple(phrases(counts)))


# The files of a run have much in common: what is remembered here is made once for many pages.
@lru_cache(64)
def _in_words(counts: tuple[tuple[str, str, str], ...]) -> Markup:
    return _draw("counts", counts)


def bar(counts: Tally, kind: str = "") -> Markup:
    """Return the tests of a tally as one bar: what failed, what is doubtful, what passed."""
    lost = counts.not_run + counts.not_judged
    parts = (
        ("f", counts.failed, "failed"),
        ("w", lost, "not run or not judged"),
        ("x", counts.expected_fails, "failed as expected"),
        ("w", counts.unexpected_passes, "passed unexpectedly"),
        ("p", counts.passed, "passed"),
    )
    return _bar(tuple(one for one in parts if one[1]), kind)


@lru_cache(64)
def _bar(parts: tuple[tuple[str, int, str], ...], kind: str) -> Markup:
    words = ", ".join(f"{number} {words}" for _, number, words in parts) or "no tests"
    return _draw("bar", [one[:2] for one in parts], words, kind)


def headline(counts: Tally) -> Markup:
    """Return how many tests failed, large, with a bar and all counts."""
    return _draw("headline", counts, bar(counts, "big-bar"), in_words(counts))


@cache
def keys() -> Markup:
    """Return the keys that go from failure to failure, and through a setup."""
    return _draw("keys")


def command_line(text: str) -> Markup:
    """Return a command line for a shell, to be copied."""
    return _draw("command_line", text)


def choices(kinds: Iterable[tuple[str, str, object]]) -> Markup:
    """Return the buttons of a filter: the kind that each shows, its word, and how many there are.

    The first one is pressed.
    """
    return _draw("choices", kinds)


def filter_tools(
    label: str,
    count: int | None = None,
    kinds: Sequence[tuple[str, str, object]] = (),
    more: Markup = NOTHING,
) -> Markup:
    """Return the field of a filter, its :func:`choices`, and how many of so many are shown."""
    return _draw("filter_tools", label, count, kinds, more)


def sortable_heads(names: str) -> Markup:
    """Return the heads of a table's columns; numbers, marked with a #, stand at the right."""
    return _draw("sortable_heads", names.split("; "))


def both_sides(expected: str, got: str, *, is_code: bool = False) -> Markup:
    """Return what is right and what came, both short, side by side."""
    return _draw("both_sides", expected, got, is_code)


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Return a list of terms and what they are; empty ones are left out."""
    return _draw("facts", pairs)


def run_facts(run: RunResult, file: FileResult | None) -> Markup:
    """Return what was run, when and where; name and version as the engine of a file gave them."""
    name = " ".join((file.name, file.version)).strip() if file else ""
    return _draw_facts(
        (
            ("Engine", name),
            ("Command", run.program),
            ("Started", show_utc(run.started)),
            ("Host", run.host),
        )
    )


@lru_cache(64)
def _draw_facts(pairs: tuple[tuple[str, str], ...]) -> Markup:
    return facts(pairs)


def box(title: str, body: str, kind: str = "") -> Markup:
    """Return a framed notice."""
    return _draw("box", title, body, kind)


def items(texts: Iterable[str]) -> Markup:
    """Return plain texts, or markup, as a list."""
    return _draw("items", texts)


# --- Times as a small plot: one stroke for each test or command, or for a few neighbours ---------


_STROKES, _HEIGHT = 120, 36  # at most; in units: a stroke takes two
_WIDEST = 12  # pixels of a stroke
_COMMAND_TIME = 40  # characters


def times(file: FileResult, outcomes: Sequence[Outcome]) -> Markup:
    """Return the plot of a file's tests; nothing where no time was measured."""
    known = [one for one in outcomes if one.reply]
    values = [one.reply.seconds for one in known if one.reply]
    longest = max(values, default=0.0)
    if not longest:
        return NOTHING
    step = file.case.steps[known[values.index(longest)].step]
    failed = [one.verdict is Verdict.FAILED for one in known]
    return _plot("Time of each test", values, failed, _name(step), "tests")


def step_times(file: FileResult, first: int, test: int) -> Markup:
    """Return the plot of what leads to a test and of the test itself, which comes last.

    ``first``, ``test``: steps of the file. Nothing where fewer than two were measured.
    """
    steps, replies = file.case.steps[first : test + 1], file.replies[first : test + 1]
    known = [(step, reply.seconds) for step, reply in zip(steps, replies, strict=True) if reply]
    values = [seconds for _, seconds in known]
    longest = max(values, default=0.0)
    if not longest or len(known) < 2:
        return NOTHING
    step = known[values.index(longest)][0]
    failed = [step is steps[-1] for step, _ in known]
    words = f"{_name(step)}, {one_line(step.command, _COMMAND_TIME)}"
    return _plot("Time of each command, from the setup on", values, failed, words, "commands")


def _plot(
    title: str, values: Sequence[float], failed: Sequence[bool], longest: str, kind: str
) -> Markup:
    """Return a plot; ``longest``: what took longest; ``kind``: of what these are the times."""
    most, every = max(values), -(-len(values) // _STROKES)
    strokes: tuple[list[str], list[str]] = ([], [])  # of what did not fail, of what did
    for place in range(0, len(values), every):
        group = slice(place, place + every)
        height = max(1.0, (_HEIGHT - 2) * max(values[group]) / most)
        stroke = f"M{2 * (place // every) + 1} {_HEIGHT}v-{height:.1f}"
        strokes[any(failed[group])].append(stroke)
    words = f"{times_in_words(sum(values))} in all, the longest {times_in_words(most)}: {longest}"
    count = -(-len(values) // every)
    label = f"Times of {len(values)} {kind}: {words}"
    paths = ("".join(some) for some in strokes)
    return _draw("times", title, _WIDEST * count, 2 * count, _HEIGHT, label, *paths, words)


def _name(step: Step) -> str:
    return f"test {step.id}" if step.id >= 0 else f"line {step.line}"


def times_in_words(value: float) -> str:
    """Return a time in seconds as a reader wants it."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


GLOBALS["parts"] = sys.modules[__name__]
