"""Pieces that all pages share. Every function takes plain text or markup and returns markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from harness.records import FileResult, Outcome, RunResult, Step, Verdict
from harness.report.file_view import WORDS
from harness.report.html.page_names import PLAIN, STYLE, link, part_name
from harness.report.markup import NOTHING, Markup, SharedMarkup, escape, join_markup
from harness.report.tally import Tally, phrases
from harness.text import one_line, show_utc

# Not even a mistake in escaping may run a script or load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_HEAD = Markup(
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="%s">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    "<title>%s</title><style>"
)
_BODY = Markup('%s</style></head>\n<body><a class="skip" href="#main">Skip to content</a>\n')
_LOGO = Markup(
    '<svg class="logo" viewBox="0 0 22 22" aria-hidden="true">'
    '<rect width="22" height="22" rx="5" fill="#dcb273"/>'
    '<path d="M7 0v22M15 0v22M0 7h22M0 15h22" stroke="#5b4320"/>'
    '<circle cx="7" cy="15" r="4.3" fill="#15171b"/>'
    '<circle cx="15" cy="7" r="4.1" fill="#fbfaf6" stroke="#6f6551"/></svg>'
)
_TOP = Markup('<header class="top"><div>%s<nav class="crumbs" aria-label="Where you are">')
_AFTER_TOP = Markup("</nav>%s</div></header>\n")
_CRUMB = Markup('<a href="%s">%s</a> <span aria-hidden="true">/</span> ')
_HERE = Markup("<b>%s</b>")
_LAY = Markup(
    '<div class="page lay"><aside class="toc noprint" aria-label="Contents">%s</aside>\n'
)
_NO_LAY = Markup('<div class="page">')
_MAIN = Markup('<main id="main" tabindex="-1">\n')
_FOOT = Markup('<footer class="foot">gtp-harness</footer></main></div>\n')
_SCRIPT = '<p id="say" class="vh" role="status"></p><script>%s</script>\n'
_END = Markup("</body></html>\n")

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
    """What stands around a page's body.

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
        aside: Iterable[Markup] = (),
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


def page(title: str, body: Iterable[Markup], frame: PageFrame = _PLAIN) -> Iterator[Markup]:
    """Yield a whole page, in the parts of its ``body``."""
    kind = frame.script, frame.log
    yield _HEAD % (_policy(*kind), title)
    yield _page_start(frame.boards, frame.style)
    yield _crumbs(frame.crumbs or [(title, "")])
    aside = join_markup(frame.aside)
    yield from (_AFTER_TOP % frame.status, _LAY % aside if aside else _NO_LAY, _MAIN)
    yield from map(escape, body)
    yield _end(*kind)


# What is alike in many pages is made once, and is then known to anyone who writes it.


@cache
def _policy(has_script: bool, is_log: bool) -> Markup:
    """Return what allows the style, and the script by its digest."""
    if not has_script:
        return Markup(_POLICY)
    from harness.report.html.page_names import LOG_SHA256, SHA256

    return Markup(f"{_POLICY}; script-src 'sha256-{LOG_SHA256 if is_log else SHA256}'")


@lru_cache(16)
def _page_start(has_boards: bool, style: str) -> SharedMarkup:
    """Return the style, with what a page adds to it, and what follows up to the way here."""
    parts = [Markup(STYLE if has_boards else PLAIN), _BODY % Markup(style)]
    if has_boards:
        from harness.report.html.board_drawing import DEFINITIONS

        parts.append(DEFINITIONS)
    return SharedMarkup(join_markup([*parts, _TOP % _LOGO]))


@cache
def _end(has_script: bool, is_log: bool) -> SharedMarkup:
    """Return the end of a page, with its script."""
    if not has_script:
        return SharedMarkup(_FOOT + _END)
    from harness.report.html.page_names import LOG_SCRIPT, SCRIPT

    return SharedMarkup(
        join_markup([_FOOT, Markup(_SCRIPT % (LOG_SCRIPT if is_log else SCRIPT)), _END])
    )


def _crumbs(crumbs: Sequence[tuple[str, str]]) -> Markup:
    *before, (last, _) = crumbs
    links = [word for name, address in before for word in (address, name)]
    return Markup(_CRUMB * len(before) + _HERE) % (*links, last)


def part_links(name: str, part: int, count: int) -> Markup:
    """Return links to the other parts of a page that is cut into so many."""
    if count == 1:
        return NOTHING
    links = join_markup(
        Markup("<b>%s</b>") % one
        if one == part
        else Markup('<a href="%s">%s</a>') % (link(part_name(name, one)), one)
        for one in range(1, count + 1)
    )
    return Markup('<nav class="parts" aria-label="Parts">Part %s</nav>') % links


def dot(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as a sign alone; the word stands elsewhere."""
    kind = "u" if flaky else _DOTS.get(verdict, "x")
    return Markup('<span class="dot %s"></span>') % kind


def badge(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as sign and word."""
    sign, word = WORDS[verdict]
    drawn = Markup('<span class="v %s">%s %s</span>') % (as_class(word), sign, word)
    return drawn + Markup(' <span class="v flaky">~ flaky</span>') if flaky else drawn


def pill(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as a word on its tint."""
    word = WORDS[verdict][1]
    drawn = Markup('<span class="pill %s">%s</span>') % (_PILLS.get(verdict, ""), word)
    return drawn + Markup(' <span class="pill w">flaky</span>') if flaky else drawn


def as_class(word: str) -> str:
    """Return a verdict's word as the name of a class, which has no blanks."""
    return word.replace(" ", "")


def in_words(counts: Tally) -> Markup:
    """Return the counts that are not zero as a list, the worst first."""
    return _in_words(tuple(phrases(counts)))


# The files of a run have much in common: what is remembered here is made once for many pages.
@lru_cache(64)
def _in_words(told: tuple[tuple[str, str, str], ...]) -> Markup:
    drawn = join_markup(
        Markup('<li class="v %s">%s %s</li>') % (as_class(kind), sign, words)
        for kind, sign, words in told
    )
    return Markup('<ul class="counts">%s</ul>') % drawn


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
    return _bar(parts, kind)


@lru_cache(64)
def _bar(parts: tuple[tuple[str, int, str], ...], kind: str) -> Markup:
    drawn = join_markup(
        Markup('<i class="%s" style="flex:%s"></i>') % (name, number)
        for name, number, _ in parts
        if number
    )
    words = ", ".join(f"{number} {words}" for _, number, words in parts if number) or "no tests"
    return Markup('<div class="bar %s" role="img" aria-label="%s">%s</div>') % (kind, words, drawn)


def headline(counts: Tally) -> Markup:
    """Return how many tests failed, large, with a bar and all counts."""
    tests = Markup("of %s test%s") % (counts.tests, "s"[: counts.tests != 1])
    if counts.failed:
        large = Markup("<b>%s</b> %s failed") % (counts.failed, tests)
    else:
        large = Markup('<b class="p">%s</b> %s passed') % (counts.passes, tests)
    shown = Markup('<div class="sum"><p class="big">%s</p>%s%s</div>\n')
    return shown % (large, bar(counts, "big-bar"), in_words(counts))


KEYS = Markup(
    '<p class="sub js-only kb"><kbd>n</kbd> next failure, <kbd>p</kbd> previous, '
    "<kbd>&larr;</kbd> <kbd>&rarr;</kbd> through the setup</p>"
)
_COMMAND = Markup(
    '<div class="cmd"><pre tabindex="0"><b aria-hidden="true">$ </b><span>%s</span></pre>'
    '<button type="button" class="btn js-only" data-copy>Copy</button></div>'
)


def command_line(text: str) -> Markup:
    """Return a command line for a shell, to be copied."""
    return _COMMAND % text


_CHOICE = Markup(
    '<button type="button" class="btn" data-verdict="%s" aria-pressed="%s">%s %s</button>'
)


def choices(kinds: Iterable[tuple[str, str, object]]) -> Markup:
    """Return the buttons of a filter: the kind that each shows, its word, and how many there are.

    The first one is pressed.
    """
    return join_markup(
        _CHOICE % (kind, "false" if place else "true", word, count)
        for place, (kind, word, count) in enumerate(kinds)
    )


_TOOLS = Markup(
    '<div class="tools js-only" role="search"><input class="inp" type="search" data-filter '
    'aria-label="%s" placeholder="%s">%s<span class="sub" id="shown" role="status">%s</span>%s'
    "</div>"
)
_SORTABLE = Markup('<th scope="col"%s><button type="button">%s</button></th>')


def filter_tools(
    label: str,
    count: int | None = None,
    kinds: Iterable[tuple[str, str, object]] = (),
    more: Markup = NOTHING,
) -> Markup:
    """Return the field of a filter, its :func:`choices`, and how many of so many are shown."""
    buttons = choices(kinds)
    drawn = Markup('<span class="btns">%s</span>') % buttons if buttons else NOTHING
    told = "" if count is None else f"{count} of {count}"
    return _TOOLS % (label, label, drawn, told, more)


def sortable_heads(names: str) -> Markup:
    """Return the heads of a table's columns; numbers, marked with a #, stand at the right."""
    return join_markup(
        _SORTABLE % (Markup(' class="num"') if one[0] == "#" else NOTHING, one.strip("#"))
        for one in names.split("; ")
    )


_BOTH_SIDES = Markup(
    '<span class="exg%s"><span class="okc"><span class="vh">expected </span>%s</span> '
    '<span aria-hidden="true">&rarr;</span> <span class="noc"><span class="vh">got </span>%s'
    "</span></span>"
)


def both_sides(expected: str, got: str, *, is_code: bool = False) -> Markup:
    """Return what is right and what came, both short, side by side."""
    return _BOTH_SIDES % (" mono" if is_code else "", expected, got)


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Return a list of terms and what they are; empty ones are left out."""
    rows = join_markup(
        Markup("<dt>%s</dt><dd>%s</dd>") % (term, text) for term, text in pairs if text
    )
    return Markup('<dl class="facts">%s</dl>') % rows


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


def box(title: str, body: Markup, kind: str = "") -> Markup:
    """Return a framed notice."""
    shown = Markup('<section class="box %s"><h2>%s</h2>%s</section>\n')
    return shown % (kind, title, body)


def items(texts: Iterable[str]) -> Markup:
    """Return plain texts, or markup, as a list."""
    return Markup("<ul>%s</ul>") % join_markup(Markup("<li>%s</li>") % text for text in texts)


# --- Times as a small plot: one stroke for each test or command, or for a few neighbours ---------


_STROKES, _HEIGHT = 120, 36  # at most; in units: a stroke takes two
_WIDEST = 12  # pixels of a stroke
_COMMAND_TIME = 40  # characters

_PLOT = Markup(
    '<div><p class="lab">%s</p><svg class="plot-t" style="max-width:%spx" viewBox="0 0 %s %s" '
    'preserveAspectRatio="none" role="img" aria-label="%s" stroke-width="1.4">'
    '<path class="tp" d="%s"/><path class="tf" d="%s"/></svg><p class="sub">%s</p></div>\n'
)


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
    return _PLOT % (title, _WIDEST * count, 2 * count, _HEIGHT, label, *paths, words)


def _name(step: Step) -> str:
    return f"test {step.id}" if step.id >= 0 else f"line {step.line}"


def times_in_words(value: float) -> str:
    """Return a time in seconds as a reader wants it."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"
