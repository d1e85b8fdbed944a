"""The page about one case file: what went wrong first, with boards; then every test."""

from __future__ import annotations

from collections.abc import Iterator

from harness.records import FileResult, Outcome, RunResult, Step, Verdict
from harness.report.html.names import link, log_name
from harness.report.html.parts import (
    badge,
    box,
    in_words,
    items,
    page,
    run_facts,
)
from harness.report.markup import escape
from harness.report.view import FileView, failing_step, setup_errors
from harness.report.visible import one_line

_CELL = 80  # characters of a command, reply or expectation in the table
_LISTED = 20  # refused setup commands named one by one


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
        _failure(file, log),
        _setup_errors(file, log),
        _warnings(file),
    )
    yield from _cards(view, log)
    yield "<h2>All tests</h2>\n" if file.outcomes else "<p>The file has no tests.</p>"
    yield from _table(file, log)


# --- what went wrong with the file as a whole --------------------------------------------------


def _failure(file: FileResult, log: str) -> str:
    if file.failure is None:
        return ""
    failure = file.failure
    where = ""
    if step := failing_step(file):
        where = f'<p>At line {step.line}: <a href="{log}#L{step.line}"><code>'
        where += f"{escape(one_line(step.text, 4 * _CELL))}</code></a></p>"
    not_run = sum(outcome.verdict is Verdict.NOT_RUN for outcome in file.outcomes)
    rest = f"<p>{not_run} tests were not run.</p>" if not_run else ""
    tail = "\n".join(file.stderr.rstrip().splitlines()[-8:])
    if tail:
        rest += f'<h4>Standard error ended with (<a href="{log}#stderr">all</a>)</h4>'
        rest += f"<pre>{escape(tail)}</pre>"
    title = f"The engine broke: {failure.kind.value}"
    return box(title, f"<p>{escape(failure.message)}</p>{where}{rest}")


def _setup_errors(file: FileResult, log: str) -> str:
    refused = setup_errors(file)
    if not refused:
        return ""
    listed = "".join(_refused(file, index, log) for index in refused[:_LISTED])
    more = f"<li>and {len(refused) - _LISTED} more</li>" if len(refused) > _LISTED else ""
    title = f"Commands between the tests that the engine refused: {len(refused)}"
    return box(title, f"<ul>{listed}{more}</ul>", "warn")


def _refused(file: FileResult, index: int, log: str) -> str:
    step, reply = file.case.steps[index], file.replies[index]
    answer = one_line(reply.raw, _CELL) if reply else ""
    return (
        f'<li><a href="{log}#L{step.line}">line {step.line}</a>: '
        f"<code>{escape(one_line(step.text, _CELL))}</code> → <code>{escape(answer)}</code></li>"
    )


def _warnings(file: FileResult) -> str:
    return box("Protocol warnings", items(file.warnings), "warn") if file.warnings else ""


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
        verdict = badges[outcome.verdict]
        if outcome.verdict is not Verdict.PASSED or outcome.flaky:
            verdict = _link_to_card(step, outcome)
        reply, pattern = outcome.reply, step.pattern
        yield (
            f'<tr><td><a href="{log}#L{step.line}">{step.id}</a></td><td>{verdict}</td>'
            f"<td>{_cell(step.command)}</td>"
            f'<td data-l="got">{_cell(reply.text) if reply else ""}</td>'
            f'<td data-l="expected">{_cell(pattern.text) if pattern else ""}</td></tr>\n'
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
