"""The frame of all pages, and pieces of them that are made of records.

``parts.html`` has what they look like, and the pieces that need no module.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from harness.core.records import Failure, FileResult, Outcome, Step, Verdict
from harness.core.text import count_rest, one_line
from harness.core.typed import NamedTuple
from harness.report.file_view import WORDS, breaks, crash_of, paths_of_crashes, setup_errors
from harness.report.html import page_names
from harness.report.html.page_names import LogPages, link, part_name
from harness.report.html.templates import PIECES, Markup, Template, escape
from harness.report.report_files import SharedText
from harness.report.tally import Tally

# Not even a mistake in escaping may run a script or load anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
NOTHING = Markup("")

# How a verdict is drawn, as a sign and as a word: f it broke, x as expected, w look here, p all is
# well.
_LOOKS = {
    Verdict.PASSED: ("p", "p"),
    Verdict.UNEXPECTED_PASS: ("u", "w"),
    Verdict.EXPECTED_FAIL: ("x", ""),
    Verdict.FAILED: ("f", "f"),
    Verdict.NOT_RUN: ("x", "w"),
    Verdict.NOT_JUDGED: ("x", "w"),
    Verdict.IGNORED: ("x", ""),
}
# What a filter tells apart; all else is worth a look.
KINDS = {Verdict.FAILED: "f", Verdict.EXPECTED_FAIL: "x", Verdict.PASSED: "p"}
LOOK = "w"


class PageFrame(NamedTuple):
    """Frame of a page's body."""

    # The way here: names and addresses. The last one is the page, and its address is not used.
    crumbs: Sequence[tuple[str, str]] = ()
    status: Markup = NOTHING  # in the bar above, at its right
    aside: Markup = NOTHING  # contents beside the body
    boards: bool = False  # there are cards, which have them
    script: bool = False  # a click can do more
    log: bool = False  # it is a log, which has a script of its own
    style: str = ""


_PLAIN = PageFrame()
_frame = Template("report/html/page.html")


def page(title: str, body: Iterable[str], frame: PageFrame = _PLAIN) -> Iterator[str]:
    """Yield a whole page, in the parts of its ``body``."""
    policy = _POLICY
    if frame.script:  # by its digest
        digest = page_names.LOG_SHA256 if frame.log else page_names.SHA256
        policy += f"; script-src 'sha256-{digest}'"
    yield _frame.head(title, Markup(policy))
    yield _page_start(frame.boards, frame.style)
    yield _frame.top(frame.crumbs or [(title, "")], frame.status, frame.aside)
    yield from map(escape, body)
    yield _page_end(frame.script, frame.log)


# What is alike in many pages is made once, and is then known to anyone who writes it.


@lru_cache(16)
def _page_start(has_boards: bool, style: str) -> SharedText:
    """Return the style, with what a page adds to it, and what follows up to the way here."""
    if not has_boards:
        return SharedText(_frame.start(Markup(page_names.PLAIN + style), NOTHING))
    from harness.report.html.board_drawing import DEFINITIONS

    return SharedText(_frame.start(Markup(page_names.STYLE + style), DEFINITIONS))


@cache
def _page_end(has_script: bool, is_log: bool) -> SharedText:
    script = page_names.LOG_SCRIPT if is_log else page_names.SCRIPT
    return SharedText(_frame.end(Markup(script) if has_script else ""))


# --- Pieces ---


def part_links(name: str, part: int, count: int) -> Markup:
    """Return links to the other parts of a page that is cut into so many."""
    if count == 1:
        return NOTHING
    links = [(one, one != part and link(part_name(name, one))) for one in range(1, count + 1)]
    return PIECES.part_links(links)


@cache
def dot(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as a sign alone; the word stands elsewhere."""
    return PIECES.dot("u" if flaky else _LOOKS[verdict][0])


@cache
def badge(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as sign and word."""
    return PIECES.badge(*WORDS[verdict], flaky)


@cache
def pill(verdict: Verdict, flaky: bool = False) -> Markup:
    """Return a verdict as a word on its tint."""
    return PIECES.pill(_LOOKS[verdict][1], WORDS[verdict][1], flaky)


def in_words(counts: Tally) -> Markup:
    """Return the counts that are not zero as a list, the worst first."""
    return PIECES.in_words(counts)


# --- Times as a small plot: one stroke for each test or command, or for a few neighbours ---------


_STROKES, _HEIGHT = 120, 36  # at most; in units: a stroke takes two
_WIDEST = 12  # pixels of a stroke
_COMMAND_TIME = 40  # characters


def times(file: FileResult, outcomes: Sequence[Outcome]) -> Markup:
    """Return the plot of a file's tests; nothing where no time was measured."""
    known = [
        (file.case.steps[one.step], one.reply.seconds, one.verdict is Verdict.FAILED)
        for one in outcomes
        if one.reply
    ]
    return _plot("Time of each test", known, "tests")


def step_times(file: FileResult, first: int, test: int) -> Markup:
    """Return the plot of what leads to a test and of the test itself, which comes last.

    ``first``, ``test``: steps of the file. Nothing where fewer than two were measured.
    """
    steps, replies = file.case.steps[first : test + 1], file.replies[first : test + 1]
    known = [
        (step, reply.seconds, step is steps[-1])
        for step, reply in zip(steps, replies, strict=True)
        if reply
    ]
    if len(known) < 2:
        return NOTHING
    return _plot("Time of each command, from the setup on", known, "commands")


def _plot(title: str, known: Sequence[tuple[Step, float, bool]], kind: str) -> Markup:
    """Return a plot of steps, their times, and whether they failed; ``kind``: what they are."""
    values = [seconds for _, seconds, _ in known]
    most = max(values, default=0.0)
    if not most:
        return NOTHING
    step, every = known[values.index(most)][0], -(-len(values) // _STROKES)
    strokes: tuple[list[str], list[str]] = ([], [])  # of what did not fail, of what did
    for place in range(0, len(values), every):
        group = known[place : place + every]
        height = max(1.0, (_HEIGHT - 2) * max(seconds for _, seconds, _ in group) / most)
        stroke = f"M{2 * (place // every) + 1} {_HEIGHT}v-{height:.1f}"
        strokes[any(has_failed for _, _, has_failed in group)].append(stroke)
    longest = f"test {step.id}" if step.id >= 0 else f"line {step.line}"
    if kind == "commands":
        longest += f", {one_line(step.command, _COMMAND_TIME)}"
    words = f"{times_in_words(sum(values))} in all, the longest {times_in_words(most)}: {longest}"
    count = -(-len(values) // every)
    label = f"Times of {len(values)} {kind}: {words}"
    paths = map("".join, strokes)
    return PIECES.times(title, _WIDEST * count, 2 * count, _HEIGHT, label, *paths, words)


def times_in_words(value: float) -> str:
    """Return a time in seconds as a reader wants it."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.3g} ms"


# --- Troubles of a whole case file: the engine failed, setup was refused, warnings ---------------

_LISTED = 20  # refused setup commands named one by one
_TAIL = 8  # lines of standard error
_trouble = Template("report/html/trouble.html")


class Crashes:
    """The ways that engines failed in the files of one page; each is told once.

    Attribute ``paths``: by way, all the case files in which it happened.
    """

    def __init__(self, files: Iterable[FileResult]) -> None:
        self.paths = paths_of_crashes(files)
        self._told: dict[object, str] = {}

    def find_first_place(self, failure: Failure, path: str) -> str:
        """Return the case file in which it was told before; "" if it is told now, in ``path``."""
        before = self._told.get(crash_of(failure), "")
        self._told.setdefault(crash_of(failure), path)
        return before


def troubles(
    file: FileResult, log: LogPages | None = None, crashes: Crashes | None = None
) -> tuple[Markup, ...]:
    """Return a framed notice for each kind of trouble that occurred.

    ``log``: the GTP log, which lines are linked to; None if there is none.
    ``crashes``: those of all files on the page; None if there is one file alone.
    """
    known, broken = crashes or Crashes([file]), NOTHING
    if file.failures:
        told = [known.find_first_place(one, file.case.path) for one in file.failures]
        shown = [
            (one, before, known.paths.get(crash_of(one.failure), ()))
            for one, before in zip(breaks(file), told, strict=True)
        ]
        # What it wrote belongs to all of them, and ends with the last.
        tail = "" if told[-1] else "\n".join(file.stderr.rstrip().splitlines()[-_TAIL:])
        broken = _trouble.failures(shown, log, tail)
    errors, refused = NOTHING, setup_errors(file)
    if refused:
        commands = [(file.case.steps[one], file.replies[one]) for one in refused[:_LISTED]]
        rest = count_rest(len(refused) - _LISTED, "and {} more")
        errors = _trouble.refused(len(refused), commands, rest, log)
    return broken, errors, warnings(file)


def warnings(file: FileResult) -> Markup:
    """Return a framed notice of how an engine strays from its protocol, if it does."""
    return _trouble.warnings(file.warnings) if file.warnings else NOTHING
