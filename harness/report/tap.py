"""A run in the Test Anything Protocol, version 14: a subtest for each case file.

An expected failure is ``# TODO``, a test that was not run, not judged or is ignored ``# SKIP``; a
broken engine is a test point of its own, ``engine``, that is not ok, and so is a fault in a case
file.

Source: TAP 14 specification, https://testanything.org/tap-version-14-specification.html
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from harness.core.records import FileResult, Outcome, RunResult, Step, Verdict
from harness.core.text import one_line, without_surrogates
from harness.report import report_files
from harness.report.file_view import FileView
from harness.report.reporters import Contexts, Finished, of_run
from harness.report.tally import troubles

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
    report_files.write(path, (f"{line}\n" for line in lines(finished.result, finished.views)))


def lines(run: RunResult, views: Sequence[FileView] = ()) -> Iterator[str]:
    """Yield the document; ``views``: of the files, for more details of failed tests."""
    yield "TAP version 14"
    files = zip(run.files, of_run(run, views), strict=True)
    for number, (file, context) in enumerate(files, 1):
        yield from _subtest(file, number, context)
    others = troubles(run)
    for number, (kind, message) in enumerate(others, len(run.files) + 1):
        yield f"not ok {number} - {kind}"
        yield from _diagnostics({"message": message})
    yield f"1..{len(run.files) + len(others)}"


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
    is_ok, reply = outcome.verdict not in _NOT_OK, outcome.reply
    directive = _DIRECTIVES.get(outcome.verdict, "")
    yield f"    {'ok' if is_ok else 'not ok'} {place} - {_description(step.text)}{directive}"
    if is_ok and not outcome.flaky:
        return
    details: dict[str, object] = {
        "line": step.line,
        "expected": step.pattern.text if step.pattern else None,
        "got": reply.text if reply else None,
        "error": not reply.ok if reply else None,
        "flaky": outcome.flaky,
    }
    if outcome.verdict is Verdict.FAILED:
        details |= context(outcome.step).known
    yield from (f"    {line}" for line in _diagnostics(details))


def _diagnostics(details: Mapping[str, object]) -> Iterator[str]:
    """Yield a YAML block; JSON's scalars are YAML, whatever is in them."""
    yield "  ---"
    for name, value in details.items():
        told = without_surrogates(value) if isinstance(value, str) else value
        yield f"  {name}: {without_surrogates(json.dumps(told))}"
    yield "  ..."


def _description(text: str) -> str:
    """Return text for after the dash, where ``#`` would begin a directive."""
    return one_line(text).replace("\\", "\\\\").replace("#", "\\#")
