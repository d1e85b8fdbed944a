"""The page about one case file: what went wrong first, with boards; then every test."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from harness.core.records import Outcome, Pattern, Repeat, RunResult, Step, Verdict
from harness.core.text import one_line
from harness.reading import expectation
from harness.report.file_view import FileView
from harness.report.html import parts
from harness.report.html.page_names import LogPages, link, part_name
from harness.report.html.templates import PIECES, Markup, Template
from harness.report.reporters import contexts

_CELL = 80  # characters of a command, reply or expectation in the table
_NAMED = 60  # characters of a test in the contents
# In one page: it stays below 1.5 MB, with boards of 19 by 19.
_CARDS, _ROWS = 80, 2_500
_OPEN = 5  # cards that are unfolded
_FEW = 20  # tests that need no filter
_KNOWN = 2_000  # cells that are kept: those of many tests, and of many files, are the same
_template = Template("report/html/file.html")


def file_pages(
    view: FileView, run: RunResult, name: str, log: LogPages, folder: str | None = None
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the names and the contents of the pages about one file.

    ``name`` is that of the first, without ``.html``. ``folder``: where they lie; None: no files of
    others are linked to.
    """
    pages = _Pages(view, run, name, log, folder)
    for part in range(1, pages.count + 1):
        yield part_name(name, part), pages.page(part)


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
        self.count = max(1, -(-len(self._shown) // _CARDS), -(-len(view.file.outcomes) // _ROWS))
        self._addresses = card_addresses(view, name)
        self._context = contexts(view, run.repeat if self._shown else Repeat())

    def page(self, part: int) -> Iterator[str]:
        """Return a page, the first one being 1."""
        file = self._view.file
        shown = self._shown[(part - 1) * _CARDS : part * _CARDS]
        outcomes = file.outcomes[(part - 1) * _ROWS : part * _ROWS]
        has_script = bool(self._shown) or len(file.outcomes) > _FEW
        entries, legend, cards = self._cards(shown) if shown else ([], parts.NOTHING, [])
        signs = list(self._signs(part, outcomes))
        body = _template.body(
            run=self._run,
            file=file,
            tally=self._view.tally,
            is_first=part == 1,
            troubles=parts.troubles(file, self._log) if part == 1 else (),
            links=parts.part_links(self._name, part, self.count),
            legend=legend,
            cards=cards,
            kinds=_kinds(outcomes) if has_script else (),
            rows=list(self._rows(part, outcomes)),
        )
        frame = parts.PageFrame(
            (("All files", "index.html"), (file.case.path, "")),
            status=_template.status(self._log, self._view.tally.failed),
            aside=_template.contents(entries, signs, parts.times(file, outcomes)),
            boards=bool(shown),
            script=has_script,
        )
        return parts.page(file.case.path + (f", part {part}" if part > 1 else ""), [body], frame)

    def _cards(
        self, outcomes: Sequence[Outcome]
    ) -> tuple[list[tuple[object, ...]], Markup, list[Markup]]:
        """Return entries of the contents, what is said once of all boards, and the cards."""
        from harness.report.html.card import card, legend_on_paper, title

        view, entries, cards = self._view, list[tuple[object, ...]](), []
        for place, one in enumerate(outcomes):
            step, context = view.file.case.steps[one.step], self._context(one.step)
            told = title(view, one.step, context.comment)
            command = one_line(step.text, _NAMED) if told != step.text else ""
            sign = parts.dot(one.verdict, one.flaky)
            entries.append((step.line, sign, one_line(told, _NAMED), command))
            is_open = place < _OPEN and one.verdict is not Verdict.EXPECTED_FAIL
            cards.append(
                card(view, one, self._log, context=context, folder=self._folder, is_open=is_open)
            )
        return entries, legend_on_paper([view]), cards

    def _signs(self, part: int, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, str, str]]:
        """Yield the classes of tests, and the address and the name of each that has a card."""
        for one in outcomes:
            step = self._view.file.case.steps[one.step]
            if address := self._address(part, step):
                yield _kind(one), address, step.text[:40]
            else:
                yield "p" if one.verdict is Verdict.PASSED else "w", "", ""

    def _address(self, part: int, step: Step) -> str:
        """Return where the card of a test is, from a part of the page; "" if it has none."""
        address, _ = self._addresses.get(step.line, ("", ""))
        return address and address.removeprefix(link(part_name(self._name, part)))

    def _rows(self, part: int, outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
        steps, log = self._view.file.case.steps, self._log
        passed = parts.badge(Verdict.PASSED)
        for outcome in outcomes:
            index, verdict, reply, flaky = outcome
            step = steps[index]
            shown, kind = passed, "p"
            if verdict is not Verdict.PASSED or flaky:
                shown, kind = parts.badge(verdict, flaky), _kind(outcome)
                if address := self._address(part, step):
                    shown = PIECES.anchor(address, shown)
            name = step.id if step.id >= 0 else f"line {step.line}"
            expected = _expected(step.pattern) if step.pattern else ""
            got = _cell(reply.text) if reply else ""
            yield kind, log.at(step.line), name, shown, _cell(step.command), got, expected


_KINDS = (("f", "FAILED"), ("x", "Expected"), ("w", "Other"), ("p", "Passed"))


def _kinds(outcomes: Sequence[Outcome]) -> list[tuple[str, str, int]]:
    """Return what a filter of the tests tells apart."""
    others = (one for one in outcomes if one.flaky or one.verdict is not Verdict.PASSED)
    counts = Counter(map(_kind, others))  # one that passed is counted by what is left
    counts["p"] = len(outcomes) - counts.total()
    kinds = [("all", "All", len(outcomes))]
    return kinds + [(kind, words, counts[kind]) for kind, words in _KINDS if counts[kind]]


def _kind(outcome: Outcome) -> str:
    return parts.LOOK if outcome.flaky else parts.KINDS.get(outcome.verdict, parts.LOOK)


@lru_cache(_KNOWN)
def _expected(pattern: Pattern) -> str:
    return _cell(expectation.in_words(pattern))


def _cell(text: str) -> str:
    return one_line(text, _CELL) if len(text) > _CELL or "\n" in text else text
