"""The page about one case file: what went wrong first, with boards; then every test."""

from __future__ import annotations

from collections.abc import Iterator

from harness.reading import expectation
from harness.records import FileResult, Outcome, RunResult, Step, Verdict
from harness.report.html.names import link, log_name
from harness.report.html.parts import badge, in_words, page, run_facts
from harness.report.html.trouble import troubles
from harness.report.markup import escape
from harness.report.view import FileView
from harness.visible import one_line

_CELL = 80  # characters of a command, reply or expectation in the table


def file_page(view: FileView, run: RunResult, name: str) -> Iterator[str]:
    """Yield the page of one file; ``name`` is the page's, without ``.html``."""
    return page(view.file.case.path, _body(view, run, link(log_name(name))))


def _body(view: FileView, run: RunResult, log: str) -> Iterator[str]:
    file = view.file
    yield from (
        f'<nav><a href="index.html">Summary</a><a href="{log}">GTP log</a></nav>',
        f"<h1>{escape(file.case.path)}</h1>",
        in_words(view.tally),
        run_facts(run, file),
        *troubles(file, log),
    )
    yield from _cards(view, log)
    yield "<h2>All tests</h2>\n" if file.outcomes else "<p>The file has no tests.</p>"
    yield from _table(file, log)


# --- results that are not plainly passed -------------------------------------------------------


def _cards(view: FileView, log: str) -> Iterator[str]:
    if not view.remarkable:
        return
    from harness.report.html.card import card

    yield "<h2>To look at</h2>\n"
    for outcome in view.remarkable:
        yield card(view, outcome, log)


# --- all tests ---------------------------------------------------------------------------------


def _table(file: FileResult, log: str) -> Iterator[str]:
    if not file.outcomes:
        return
    yield (
        '<table class="t"><thead><tr><th>ID</th><th>Result</th><th>Command</th>'
        "<th>Reply</th><th>Expected</th></tr></thead><tbody>\n"
    )
    badges = {verdict: badge(verdict) for verdict in Verdict}
    steps = file.case.steps
    for outcome in file.outcomes:
        step = steps[outcome.step]
        expected = expectation.in_words(step.pattern) if step.pattern else ""
        verdict = badges[outcome.verdict]
        if outcome.verdict is not Verdict.PASSED or outcome.flaky:
            verdict = _link_to_card(step, outcome)
        reply = outcome.reply
        yield (
            f'<tr><td><a href="{log}#L{step.line}">{step.id}</a></td><td>{verdict}</td>'
            f"<td>{_cell(step.command)}</td>"
            f'<td data-l="got">{_cell(reply.text) if reply else ""}</td>'
            f'<td data-l="expected">{_cell(expected)}</td></tr>\n'
        )
    yield "</tbody></table>"


def _link_to_card(step: Step, outcome: Outcome) -> str:
    drawn = badge(outcome.verdict, outcome.flaky)
    if outcome.verdict is Verdict.NOT_RUN:
        return drawn
    return f'<a href="#T{step.line}">{drawn}</a>'


def _cell(text: str) -> str:
    if len(text) > _CELL or "\n" in text:
        text = one_line(text, _CELL)
    return f"<code>{escape(text)}</code>" if text else ""
