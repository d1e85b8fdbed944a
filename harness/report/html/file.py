"""The page about one case file: what went wrong first, with boards; then every test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markupsafe import Markup

from harness.reading import expectation
from harness.records import Outcome, Pattern, RunResult, Step, Verdict
from harness.report.file_view import FileView
from harness.report.html.page_names import LogPages, link, part_name
from harness.report.html.parts import (
    KINDS,
    LOOK,
    NOTHING,
    PageFrame,
    anchor,
    badge,
    dot,
    page,
    part_links,
    times,
)
from harness.report.html.templates import macro, render
from harness.report.html.trouble import troubles
from harness.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.reporters import Contexts

_CELL = 80  # characters of a command, reply or expectation in the table
_NAMED = 60  # characters of a test in the contents
# In one page: it stays below 1.5 MB, with boards of 19 by 19.
_CARDS, _ROWS = 80, 2_500
_OPEN = 5  # cards that are unfolded
_FEW = 20  # tests that need no filter
_KNOWN = 2_000  # cells that are kept: those of many tests, and of many files, are the same


def file_pages(
    view: FileView, run: RunResult, name: str, log: LogPages, folder: str | None = None
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the names and the contents of the pages about one file.

    ``name`` is that of the first, without ``.html``. ``folder``: where they lie; None: no files of
    others are linked to.
    """
    pages = _Pages(view, run, name, log, folder)
    for part in range(1, pages.count + 1):
        heading = view.file.case.path + (f", part {part}" if part > 1 else "")
        yield part_name(name, part), page(heading, [pages.body(part)], pages.frame(part))


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

    def body(self, part: int) -> Markup:
        """Return what a page shows."""
        outcomes = self._rows_of(part)
        return render(
            "report/html/file.html",
            run=self._run,
            file=self._view.file,
            tally=self._view.tally,
            is_first=part == 1,
            troubles=troubles(self._view.file, self._log) if part == 1 else (),
            links=part_links(self._name, part, self.count),
            legend=self._legend(part),
            cards=self._cards(part),
            kinds=self._kinds(outcomes) if self._has_script else (),
            rows=list(self._rows(part, outcomes)),
        )

    def _status(self) -> Markup:
        return _draw("status", self._log, self._view.tally.failed)

    # --- contents ---

    def _contents(self, part: int) -> Markup:
        outcomes = self._rows_of(part)
        return _draw(
            "contents",
            [self._entry(one) for one in self._cards_of(part)],
            [self._sign(part, one) for one in outcomes],
            times(self._view.file, outcomes),
        )

    def _entry(self, outcome: Outcome) -> tuple[object, ...]:
        from harness.report.html.card import title

        step = self._view.file.case.steps[outcome.step]
        told = title(self._view, outcome.step, self._context()(outcome.step).comment)
        command = one_line(step.text, _NAMED) if told != step.text else ""
        return step.line, dot(outcome.verdict, outcome.flaky), one_line(told, _NAMED), command

    def _sign(self, part: int, outcome: Outcome) -> tuple[str, str, str]:
        """Return the class of a test, and the address and the name of one that has a card."""
        place = self._places.get(outcome.step)
        if place is None:
            return "p" if outcome.verdict is Verdict.PASSED else "w", "", ""
        step = self._view.file.case.steps[outcome.step]
        return _kind(outcome), self._address(part, place, step), step.text[:40]

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

    def _legend(self, part: int) -> Markup:
        if not self._cards_of(part):
            return NOTHING
        from harness.report.html.card import legend_on_paper

        return legend_on_paper([self._view])

    def _cards(self, part: int) -> list[Markup]:
        shown = self._cards_of(part)
        if not shown:
            return []
        from harness.report.html.card import card

        return [
            card(
                self._view,
                outcome,
                self._log,
                context=self._context()(outcome.step),
                folder=self._folder,
                is_open=place < _OPEN and outcome.verdict is not Verdict.EXPECTED_FAIL,
            )
            for place, outcome in enumerate(shown)
        ]

    # --- all tests ---

    def _rows_of(self, part: int) -> tuple[Outcome, ...]:
        return self._view.file.outcomes[(part - 1) * _ROWS : part * _ROWS]

    @staticmethod
    def _kinds(outcomes: Sequence[Outcome]) -> list[tuple[str, str, int]]:
        """Return what a filter of the tests tells apart."""
        others = [one for one in outcomes if one.verdict is not Verdict.PASSED or one.flaky]
        counts = Counter(map(_kind, others))
        counts["p"] = len(outcomes) - len(others)
        kinds = [("all", "All", len(outcomes))]
        return kinds + [(kind, words, counts[kind]) for kind, words in _KINDS if counts[kind]]

    def _rows(self, part: int, outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
        """Yield what the rows of some tests show."""
        steps, log = self._view.file.case.steps, self._log
        passed = badge(Verdict.PASSED)
        for outcome in outcomes:
            index, verdict, reply, flaky = outcome
            step = steps[index]
            shown, kind = passed, "p"
            if verdict is not Verdict.PASSED or flaky:
                shown, kind = self._link_to_card(part, step, outcome), _kind(outcome)
            yield (
                kind,
                log.at(step.line),
                step.id if step.id >= 0 else f"line {step.line}",
                shown,
                _cell(step.command),
                _cell(reply.text) if reply else "",
                _expected(step.pattern) if step.pattern else "",
            )

    def _link_to_card(self, part: int, step: Step, outcome: Outcome) -> Markup:
        drawn = badge(outcome.verdict, outcome.flaky)
        place = self._places.get(outcome.step)
        if place is None:
            return drawn
        return anchor(self._address(part, place, step), drawn)


_KINDS = (("f", "FAILED"), ("x", "Expected"), ("w", "Other"), ("p", "Passed"))


def _draw(piece: str, *values: object) -> Markup:
    return macro("report/html/file_frame.html", piece)(*values)


def _kind(outcome: Outcome) -> str:
    return LOOK if outcome.flaky else KINDS.get(outcome.verdict, LOOK)


def _parts(items: Sequence[object], size: int) -> int:
    return max(1, -(-len(items) // size))


@lru_cache(_KNOWN)
def _expected(pattern: Pattern) -> str:
    return _cell(expectation.in_words(pattern))


def _cell(text: str) -> str:
    return one_line(text, _CELL) if len(text) > _CELL or "\n" in text else text
