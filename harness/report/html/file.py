"""The page about one case file: what went wrong first, with boards; then every test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from harness.reading import expectation
from harness.records import Outcome, RunResult, Step, Verdict
from harness.report.html.names import Log, link, part_name
from harness.report.html.parts import badge, in_words, page, part_links, run_facts
from harness.report.html.trouble import troubles
from harness.report.markup import escape
from harness.report.view import FileView
from harness.visible import one_line

_CELL = 80  # characters of a command, reply or expectation in the table
# In one page: browsers take their time for more than some megabytes.
_CARDS, _ROWS = 400, 8_000


def file_pages(
    view: FileView, run: RunResult, name: str, log: Log, folder: str | None = None
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the names and the contents of the pages about one file.

    ``name`` is that of the first, without ``.html``. ``folder``: where they lie; None: no files of
    others are linked to.
    """
    pages = _Pages(view, run, name, log, folder)
    for part in range(1, pages.count + 1):
        heading = view.file.case.path + (f", part {part}" if part > 1 else "")
        yield part_name(name, part), page(heading, pages.body(part))


class _Pages:
    """The pages about one file; the first has what is about the file as a whole."""

    def __init__(
        self, view: FileView, run: RunResult, name: str, log: Log, folder: str | None
    ) -> None:
        self._view, self._run, self._name, self._log = view, run, name, log
        self._folder = folder
        self.count = max(_parts(view.remarkable, _CARDS), _parts(view.file.outcomes, _ROWS))
        self._places = {one.step: place for place, one in enumerate(view.remarkable)}

    def body(self, part: int) -> Iterator[str]:
        """Yield what a page shows."""
        file, log = self._view.file, self._log
        yield f'<nav><a href="index.html">Summary</a><a href="{log.first}">GTP log</a></nav>'
        yield f"<h1>{escape(file.case.path)}</h1>"
        yield from self._whole() if part == 1 else ()
        yield part_links(self._name, part, self.count)
        yield from self._cards(part)
        yield from self._tests(part)
        yield part_links(self._name, part, self.count)

    def _whole(self) -> Iterator[str]:
        file = self._view.file
        yield from (in_words(self._view.tally), run_facts(self._run, file))
        yield from troubles(file, self._log)

    # --- results that are not plainly passed ---

    def _cards(self, part: int) -> Iterator[str]:
        shown = self._view.remarkable[(part - 1) * _CARDS : part * _CARDS]
        if not shown:
            return
        from harness.report.context import contexts
        from harness.report.html.card import card

        yield "<h2>To look at</h2>\n"
        context = contexts(self._view, self._run.repeat)
        for outcome in shown:
            told = context(outcome.step)
            yield card(self._view, outcome, self._log, context=told, folder=self._folder)

    # --- all tests ---

    def _tests(self, part: int) -> Iterator[str]:
        outcomes = self._view.file.outcomes
        shown = outcomes[(part - 1) * _ROWS : part * _ROWS]
        if shown:
            yield "<h2>All tests</h2>\n"
            yield (
                '<table class="t"><thead><tr><th>ID</th><th>Result</th><th>Command</th>'
                "<th>Reply</th><th>Expected</th></tr></thead><tbody>\n"
            )
            yield from self._rows(part, shown)
            yield "</tbody></table>"
        elif not outcomes:
            yield "<p>The file has no tests.</p>"

    def _rows(self, part: int, outcomes: Sequence[Outcome]) -> Iterator[str]:
        steps, log = self._view.file.case.steps, self._log
        passed = badge(Verdict.PASSED)
        told, cell = cache(expectation.in_words), cache(_cell)  # of many tests the same
        for outcome in outcomes:
            step = steps[outcome.step]
            expected = told(step.pattern) if step.pattern else ""
            verdict = passed
            if outcome.verdict is not Verdict.PASSED or outcome.flaky:
                verdict = self._link_to_card(part, step, outcome)
            reply = outcome.reply
            yield (
                f'<tr><td><a href="{log.at(step.line)}">{step.id}</a></td><td>{verdict}</td>'
                f"<td>{cell(step.command)}</td>"
                f'<td data-l="got">{cell(reply.text) if reply else ""}</td>'
                f'<td data-l="expected">{cell(expected)}</td></tr>\n'
            )

    def _link_to_card(self, part: int, step: Step, outcome: Outcome) -> str:
        drawn = badge(outcome.verdict, outcome.flaky)
        place = self._places.get(outcome.step)
        if place is None:
            return drawn
        there = place // _CARDS + 1
        address = "" if there == part else link(part_name(self._name, there))
        return f'<a href="{address}#T{step.line}">{drawn}</a>'


def _parts(things: Sequence[object], most: int) -> int:
    return max(1, -(-len(things) // most))


def _cell(text: str) -> str:
    if len(text) > _CELL or "\n" in text:
        text = one_line(text, _CELL)
    return f"<code>{escape(text)}</code>" if text else ""
