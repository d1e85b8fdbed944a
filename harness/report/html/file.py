"""The page about one case file: what went wrong first, with boards; then every test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from harness.reading import expectation
from harness.records import Outcome, Pattern, RunResult, Step, Verdict
from harness.report.file_view import FileView
from harness.report.html.page_names import LogPages, link, part_name
from harness.report.html.parts import (
    KEYS,
    KINDS,
    LOOK,
    PageFrame,
    badge,
    dot,
    filter_tools,
    headline,
    page,
    part_links,
    run_facts,
    times,
)
from harness.report.html.trouble import troubles
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.reporters import Contexts

_CELL = 80  # characters of a command, reply or expectation in the table
_NAMED = 60  # characters of a test in the contents
# In one page: it stays below 1.5 MB, with boards of 19 by 19.
_CARDS, _ROWS = 80, 2_500
_ROW_HEIGHT = 36  # CSS pixels
_OPEN = 5  # cards that are unfolded
_FEW = 20  # tests that need no filter
_AT_ONCE = 200  # rows that are made at once, which is faster
_KNOWN = 2_000  # cells that are kept: those of many tests, and of many files, are the same


def file_pages(
    view: FileView, run: RunResult, name: str, log: LogPages, folder: str | None = None
) -> Iterator[tuple[str, Iterator[Markup]]]:
    """Yield the names and the contents of the pages about one file.

    ``name`` is that of the first, without ``.html``. ``folder``: where they lie; None: no files of
    others are linked to.
    """
    pages = _Pages(view, run, name, log, folder)
    for part in range(1, pages.count + 1):
        heading = view.file.case.path + (f", part {part}" if part > 1 else "")
        yield part_name(name, part), page(heading, pages.body(part), pages.frame(part))


def card_addresses(view: FileView, name: str) -> dict[int, tuple[str, str]]:
    """Return by line where a test's card is, and a class for its verdict."""
    steps = view.file.case.steps
    return {
        steps[one.step].line: (
            f"{link(part_name(name, place // _CARDS + 1))}#T{steps[one.step].line}",
            _kind(one),
        )
        for place, one in enumerate(_sort_failures(view))
    }


def _sort_failures(view: FileView) -> list[Outcome]:
    """Return what is not plainly passed: what broke first, then what was expected to fail."""
    return sorted(view.remarkable, key=lambda one: one.verdict is Verdict.EXPECTED_FAIL)


class _Pages:
    """The pages about one file; the first has what is about the file as a whole."""

    def __init__(
        self, view: FileView, run: RunResult, name: str, log: LogPages, folder: str | None
    ) -> None:
        self._view, self._run, self._name, self._log = view, run, name, log
        self._folder = folder
        self._shown = _sort_failures(view)
        self.count = max(_parts(self._shown, _CARDS), _parts(view.file.outcomes, _ROWS))
        self._places = {one.step: place for place, one in enumerate(self._shown)}
        self._contexts: Contexts | None = None
        self._has_script = bool(self._shown) or len(view.file.outcomes) > _FEW

    def frame(self, part: int) -> PageFrame:
        """Return what stands around a page."""
        crumbs = (("All files", "index.html"), (self._view.file.case.path, ""))
        return PageFrame(
            crumbs,
            status=self._status(),
            aside=self._contents(part),
            boards=bool(self._cards_of(part)),
            script=self._has_script,
        )

    def body(self, part: int) -> Iterator[Markup]:
        """Yield what a page shows."""
        yield Markup("<h1>%s</h1>") % self._view.file.case.path
        yield from self._whole() if part == 1 else ()
        yield part_links(self._name, part, self.count)
        yield from self._cards(part)
        yield from self._tests(part)
        yield part_links(self._name, part, self.count)

    def _whole(self) -> Iterator[Markup]:
        file = self._view.file
        yield from (run_facts(self._run, file), headline(self._view.tally))
        yield from troubles(file, self._log)

    def _status(self) -> Markup:
        links = Markup('<a class="btn" href="%s">GTP log</a>') % self._log.first
        if self._view.tally.failed:
            links += _NEXT
        return Markup('<span class="btns noprint">%s</span>') % links

    # --- contents ---

    def _contents(self, part: int) -> Iterator[Markup]:
        shown = self._cards_of(part)
        if shown:
            named = join_markup(self._render_title(one) for one in shown)
            yield _CONTENTS % (len(shown), named)
        outcomes = self._rows_of(part)
        if outcomes:
            yield _ALL % (len(outcomes), join_markup(self._signs(part, outcomes)))
            yield times(self._view.file, outcomes)

    def _render_title(self, outcome: Outcome) -> Markup:
        from harness.report.html.card import title

        step = self._view.file.case.steps[outcome.step]
        told = title(self._view, outcome.step, self._context()(outcome.step).comment)
        command = one_line(step.text, _NAMED)
        small = (
            Markup('<small class="mono">%s</small>') % command if told != step.text else NOTHING
        )
        sign = dot(outcome.verdict, outcome.flaky)
        return _ENTRY % (step.line, sign, one_line(told, _NAMED), small)

    def _signs(self, part: int, outcomes: Sequence[Outcome]) -> Iterator[Markup]:
        for outcome in outcomes:
            place = self._places.get(outcome.step)
            if place is None:
                yield _PASSED if outcome.verdict is Verdict.PASSED else _LOST
            else:
                kind = _kind(outcome)
                step = self._view.file.case.steps[outcome.step]
                yield _SIGN % (
                    self._address(part, place, step),
                    kind,
                    step.text[:40],
                    _SIGNS[kind],
                )

    def _address(self, part: int, place: int, step: Step) -> str:
        there = place // _CARDS + 1
        address = "" if there == part else link(part_name(self._name, there))
        return f"{address}#T{step.line}"

    def _context(self) -> Contexts:
        if self._contexts is None:
            from harness.report.reporters import contexts

            self._contexts = contexts(self._view, self._run.repeat)
        return self._contexts

    # --- results that are not plainly passed ---

    def _cards_of(self, part: int) -> list[Outcome]:
        return self._shown[(part - 1) * _CARDS : part * _CARDS]

    def _cards(self, part: int) -> Iterator[Markup]:
        shown = self._cards_of(part)
        if not shown:
            return
        from harness.report.html.card import card, legend_on_paper

        yield _LOOK_AT % (KEYS if self._view.tally.failed else NOTHING)
        yield legend_on_paper([self._view])
        for place, outcome in enumerate(shown):
            yield card(
                self._view,
                outcome,
                self._log,
                context=self._context()(outcome.step),
                folder=self._folder,
                is_open=place < _OPEN and outcome.verdict is not Verdict.EXPECTED_FAIL,
            )
        yield Markup("</section>\n")

    # --- all tests ---

    def _rows_of(self, part: int) -> tuple[Outcome, ...]:
        return self._view.file.outcomes[(part - 1) * _ROWS : part * _ROWS]

    def _tests(self, part: int) -> Iterator[Markup]:
        shown = self._rows_of(part)
        if shown:
            filters = self._filters(shown) if self._has_script else NOTHING
            yield _TABLE % (filters, _FAR % (len(shown) * _ROW_HEIGHT))
            yield from self._rows(part, shown)
            yield Markup("</tbody></table></div></section>")
        elif not self._view.file.outcomes:
            yield Markup("<p>The file has no tests.</p>")

    @staticmethod
    def _filters(shown: Sequence[Outcome]) -> Markup:
        others = [one for one in shown if one.verdict is not Verdict.PASSED or one.flaky]
        counts = Counter(map(_kind, others))
        counts["p"] = len(shown) - len(others)
        kinds = [("all", "All", len(shown))]
        kinds += [(kind, words, counts[kind]) for kind, words in _KINDS if counts[kind]]
        return filter_tools("Filter tests", len(shown), kinds)

    def _rows(self, part: int, outcomes: Sequence[Outcome]) -> Iterator[Markup]:
        for start in range(0, len(outcomes), _AT_ONCE):
            some = outcomes[start : start + _AT_ONCE]
            yield Markup(_ROW * len(some)) % tuple(self._cells(part, some))

    def _cells(self, part: int, outcomes: Sequence[Outcome]) -> Iterator[object]:
        """Yield what fills the rows of some tests."""
        steps, log = self._view.file.case.steps, self._log
        passed = badge(Verdict.PASSED)
        for outcome in outcomes:
            index, verdict, reply, flaky = outcome
            step = steps[index]
            shown, kind = passed, "p"
            if verdict is not Verdict.PASSED or flaky:
                shown, kind = self._link_to_card(part, step, outcome), _kind(outcome)
            yield kind
            yield log.at(step.line)
            yield _name(step)
            yield shown
            yield _cell(step.command)
            yield _cell(reply.text) if reply else NOTHING
            yield _render_expected(step.pattern) if step.pattern else NOTHING

    def _link_to_card(self, part: int, step: Step, outcome: Outcome) -> Markup:
        drawn = badge(outcome.verdict, outcome.flaky)
        place = self._places.get(outcome.step)
        if place is None:
            return drawn
        return Markup('<a href="%s">%s</a>') % (self._address(part, place, step), drawn)


_NEXT = Markup(
    '<button type="button" class="btn js-only" data-go="-1" aria-label="Previous failure">'
    '&lsaquo;</button><span class="sub js-only" id="at" role="status"></span>'
    '<button type="button" class="btn js-only" data-go="1" aria-label="Next failure">'
    "&rsaquo;</button>"
)
_LOOK_AT = Markup(
    '<section aria-label="To look at"><div class="sec-h"><h2>To look at</h2>%s</div>'
)
_CONTENTS = Markup(
    '<nav aria-label="To look at"><p class="lab">To look at: %s</p><ul>%s</ul></nav>\n'
)
_ENTRY = Markup('<li><a href="#T%s">%s<span><b>%s</b>%s</span></a></li>\n')
_ALL = Markup(
    '<nav aria-label="All tests"><p class="lab">%s tests, in the file\'s order</p>'
    '<div class="grid">%s</div></nav>\n'
)
_SIGN = Markup('<a href="%s" class="%s" title="%s">%s</a>')
_SIGNS = {"f": Markup("&#10005;"), "x": Markup("&middot;"), "w": Markup("!")}
_PASSED, _LOST = Markup("<i>&#10003;</i>"), Markup('<i class="w">&ndash;</i>')
_ROW = Markup(
    '<tr data-v="%s"><td><a href="%s">%s</a></td><td>%s</td><td>%s</td>'
    '<td data-l="got">%s</td><td data-l="expected">%s</td></tr>\n'
)
_KINDS = (("f", "FAILED"), ("x", "Expected"), ("w", "Other"), ("p", "Passed"))
_FAR = Markup("--h:%spx")  # about how high it is: it is laid out when it is scrolled to
_TABLE = Markup(
    '<section aria-label="All tests"><h2>All tests</h2>%s<div class="card far" style="%s">'
    '<table class="t"><thead><tr><th scope="col">ID</th>'
    '<th scope="col">Result</th><th scope="col">Command</th>'
    '<th scope="col">Reply</th><th scope="col">Expected</th></tr>'
    "</thead><tbody>\n"
)


def _name(step: Step) -> object:
    return step.id if step.id >= 0 else f"line {step.line}"


def _kind(outcome: Outcome) -> str:
    return LOOK if outcome.flaky else KINDS.get(outcome.verdict, LOOK)


def _parts(things: Sequence[object], most: int) -> int:
    return max(1, -(-len(things) // most))


@lru_cache(_KNOWN)
def _render_expected(pattern: Pattern) -> Markup:
    return _cell(expectation.in_words(pattern))


def _cell(text: str) -> Markup:
    return _code(one_line(text, _CELL) if len(text) > _CELL or "\n" in text else text)


@lru_cache(_KNOWN)
def _code(text: str) -> Markup:
    return Markup("<code>%s</code>") % text if text else NOTHING
