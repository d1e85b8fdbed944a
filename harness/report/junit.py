"""A run as JUnit XML, as Jenkins, GitLab and others read it: a suite for each case file.

An expected failure is *skipped*, as a test that was not run or not judged is; the reason is in the
message. A broken engine is a test case of its own, ``(engine)``, with an *error*, and so is what
is wrong with case files, and harness errors. An unexpected pass is a pass.
"""

import html
from collections.abc import Iterator, Sequence

from harness.core.records import FileResult, Outcome, Step, Verdict
from harness.reading.expectation import in_a_sentence
from harness.report import report_files
from harness.report.reporters import Context, Contexts, Finished, of_run
from harness.report.tally import Tally, total, troubles


def report(path: str, finished: Finished) -> None:
    """Write a run as JUnit XML; see :class:`~harness.report.reporters.Reporter`."""
    run = finished.result
    surroundings = list(of_run(run, finished.views))
    report_files.write(path, document(run.files, finished.tallies, troubles(run), surroundings))


def document(
    files: Sequence[FileResult],
    tallies: Sequence[Tally],
    broken: Sequence[tuple[str, str]],
    surroundings: Sequence[Contexts] = (),
) -> Iterator[str]:
    """Yield the document about some files, to be written with control characters escaped.

    ``broken``: what else went wrong, (kind, sentence). ``surroundings``: tell of each file's tests
    what surrounds them.
    """
    trouble = [
        test_case(f"({kind})", "gtp-harness", _element("error", kind, message))
        for kind, message in broken
    ]
    counts = total(tallies)
    errors = sum(len(file.failures) for file in files) + len(trouble)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="gtp-harness" {_numbers(counts, errors)}>\n'
    known = surroundings or [lambda _: Context()] * len(files)
    for file, tally, context in zip(files, tallies, known, strict=True):
        yield from _suite(file, tally, context)
    if trouble:
        numbers = _numbers(Tally(), len(trouble))
        yield f'<testsuite name="gtp-harness" {numbers}>\n{"".join(trouble)}</testsuite>\n'
    yield "</testsuites>\n"


def _numbers(counts: Tally, broken: int) -> str:
    """The attributes that count; what broke has a test case of its own."""
    skipped = counts.expected_fails + counts.not_run + counts.not_judged + counts.ignored
    return (
        f'tests="{counts.tests + counts.ignored + broken}" failures="{counts.failed}" '
        f'errors="{broken}" skipped="{skipped}" time="{counts.seconds:.3f}"'
    )


def _suite(file: FileResult, counts: Tally, context: Contexts) -> Iterator[str]:
    numbers = _numbers(counts, len(file.failures))
    yield f'<testsuite name="{attribute(file.case.path)}" {numbers}>\n'
    for outcome in file.outcomes:
        step, reply = file.case.steps[outcome.step], outcome.reply
        found, name = _result(step, outcome, context), f"{step.text} (line {step.line})"
        yield test_case(name, file.case.path, found, reply.seconds if reply else 0.0)
    for failure in file.failures:
        error = _element("error", failure.kind.value, failure.message)
        yield test_case("(engine)", file.case.path, error)
    if file.stderr:
        yield f"<system-err>{escape(file.stderr)}</system-err>\n"
    yield "</testsuite>\n"


def test_case(name: str, classname: str, content: str, seconds: float = 0.0) -> str:
    """A test case; times have three decimals, as JUnit itself writes them."""
    start = f'<testcase name="{attribute(name)}" classname="{attribute(classname)}"'
    start += f' time="{seconds:.3f}"'
    return f"{start}>{content}</testcase>\n" if content else f"{start}/>\n"


def _result(step: Step, outcome: Outcome, context: Contexts) -> str:
    match outcome.verdict:
        case Verdict.FAILED:
            told = [f"{name}: {text}" for name, text in context(outcome.step).known.items()]
            found = _element("failure", "FAILED", mismatch(step, outcome), "\n".join(told))
        case Verdict.EXPECTED_FAIL:
            found = _element("skipped", "", f"expected failure: {mismatch(step, outcome)}")
        case Verdict.NOT_RUN | Verdict.NOT_JUDGED | Verdict.IGNORED:
            found = _element("skipped", "", outcome.verdict.value)
        case Verdict.UNEXPECTED_PASS:
            found = "<system-out>PASSED unexpectedly</system-out>"
        case _:
            found = ""
    return found + ("<system-out>flaky</system-out>" if outcome.flaky else "")


def mismatch(step: Step, outcome: Outcome) -> str:
    """Return expectation and reply in one sentence."""
    reply, got = outcome.reply, "no reply"
    if reply:
        got = f"'{reply.text}'" if reply.ok or reply.status else f"? '{reply.text}'"
    return f"expected {in_a_sentence(step.pattern)}, got {got}"


def _element(name: str, kind: str, message: str, text: str = "") -> str:
    typed = f' type="{kind}"' if kind else ""
    start = f'<{name}{typed} message="{attribute(message)}"'
    return f"{start}>{escape(text)}</{name}>" if text else f"{start}/>"


def escape(text: str) -> str:
    """Return a text as XML, fit for an attribute in double quotes too."""
    return html.escape(text, quote=False).replace('"', "&quot;")


def attribute(text: str) -> str:
    """Escape for an attribute, where a bare line end would be read as a blank."""
    return escape(text).replace("\n", "&#10;").replace("\t", "&#9;")
