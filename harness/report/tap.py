"""A run in the Test Anything Protocol, version 14: a subtest for each case file.

An expected failure is ``# TODO``, a test that was not run, not judged or is ignored ``# SKIP``; a
broken engine is a test point of its own, ``engine``, that is not ok, and so is a fault in a case
file.

Source: TAP 14 specification, https://testanything.org/tap-version-14-specification.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from harness.records import FileResult, Outcome, RunResult, Step, Verdict
from harness.report import report_files
from harness.report.file_view import FileView
from harness.report.reporters import Contexts, Finished, of_run
from harness.report.tally import troubles
from harness.text import one_line, without_surrogates

_DIRECTIVES = {
    Verdict.EXPECTED_FAIL: " # TODO expected to fail",
    Verdict.UNEXPECTED_PASS: " # TODO expected to fail",
    Verdict.NOT_RUN: " # SKIP not run",
    Verdict.NOT_JUDGED: " # SKIP not judged",
    Verdict.IGNORED: " # SKIP ignored",
}
_NOT_OK = (Verdict.FAILED, Verdict.EXPECTED_FAIL)


def report(path: str, finished: Finished) -> None:
    """Write a run as TAP; see :class:`~harness.report.reporters.Reporter`."""
    report_files.write(path, parts(finished.result, finished.views))


def parts(run: RunResult, views: Sequence[FileView] = ()) -> Iterator[str]:
    """Yield the document, a line at a time.

    ``views``: of the files, for more details of failed tests.
    """
    return (f"{line}\n" for line in _lines(run, views))


def _lines(run: RunResult, views: Sequence[FileView]) -> Iterator[str]:
    yield "TAP version 14"
    number = 0
    files = zip(run.files, of_run(run, views), strict=True)
    for number, (file, context) in enumerate(files, 1):
        yield from _subtest(file, number, context)
    for kind, message in troubles(run):
        number += 1
        yield f"not ok {number} - {kind}"
        yield from _diagnostics({"message": message})
    yield f"1..{number}"


def _subtest(file: FileResult, number: int, context: Contexts) -> Iterator[str]:
    path = _description(file.case.path)
    points = len(file.outcomes) + len(file.failures)
    yield f"# Subtest: {path}"
    yield f"    1..{points}"
    for place, outcome in enumerate(file.outcomes, 1):
        yield from _point(file.case.steps[outcome.step], outcome, place, context)
    for place, failure in enumerate(file.failures, len(file.outcomes) + 1):
        yield f"    not ok {place} - engine"
        details = {"message": failure.message, "kind": failure.kind.value}
        yield from (f"    {line}" for line in _diagnostics(details))
    failed = any(outcome.verdict is Verdict.FAILED for outcome in file.outcomes)
    ok = "not ok" if failed or file.failures else "ok"
    yield f"{ok} {number} - {path}" + ("" if points else " # SKIP no tests")


def _point(step: Step, outcome: Outcome, place: int, context: Contexts) -> Iterator[str]:
    ok = "not ok" if outcome.verdict in _NOT_OK else "ok"
    directive = _DIRECTIVES.get(outcome.verdict, "")
    yield f"    {ok} {place} - {_description(step.text)}{directive}"
    if outcome.verdict in _NOT_OK or outcome.flaky:
        yield from (f"    {line}" for line in _diagnostics(_details(step, outcome, context)))


def _details(step: Step, outcome: Outcome, context: Contexts) -> dict[str, object]:
    reply = outcome.reply
    is_failed = outcome.verdict is Verdict.FAILED
    told = context(outcome.step)._asdict() if is_failed else {}
    return {
        "line": step.line,
        "expected": step.pattern.text if step.pattern else None,
        "got": reply.text if reply else None,
        "error": not reply.ok if reply else None,
        "flaky": outcome.flaky,
        **{name: text for name, text in told.items() if text},
    }


def _diagnostics(details: Mapping[str, object]) -> Iterator[str]:
    """Yield a YAML block; JSON's scalars are YAML, whatever is in them."""
    yield "  ---"
    for name, value in details.items():
        yield f"  {name}: {without_surrogates(json.dumps(_decode(value)))}"
    yield "  ..."


def _decode(value: object) -> object:
    return without_surrogates(value) if isinstance(value, str) else value


def _description(text: str) -> str:
    """Return text for after the dash, where ``#`` would begin a directive."""
    return one_line(text).replace("\\", "\\\\").replace("#", "\\#")
