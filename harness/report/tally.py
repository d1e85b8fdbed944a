"""The counts of a file or a run, the exit status they mean, and a run's last lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.core.errors import ExitCode
from harness.core.records import FileResult, RunResult, Verdict
from harness.core.text import escape_controls, number_of, plural
from harness.core.typed import NamedTuple
from harness.report.paint import VERDICTS, Paint


class Tally(NamedTuple):
    """Counts of one file, or of several together; the first eight are gogui's columns."""

    tests: int = 0  # all except the ignored ones
    failed: int = 0  # FAIL: unexpectedly
    expected_fails: int = 0  # fail
    unexpected_passes: int = 0  # PASS
    passed: int = 0  # pass
    errors: int = 0  # setup commands answered with ?
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    not_run: int = 0
    ignored: int = 0
    flaky: int = 0
    not_judged: int = 0

    @property
    def passes(self) -> int:
        """Tests that passed, expected or not."""
        return self.passed + self.unexpected_passes


def tally(file: FileResult) -> Tally:
    """Count one file's verdicts."""
    verdicts = [outcome.verdict for outcome in file.outcomes]
    ignored = verdicts.count(Verdict.IGNORED)
    return Tally(
        tests=len(verdicts) - ignored,
        failed=verdicts.count(Verdict.FAILED),
        expected_fails=verdicts.count(Verdict.EXPECTED_FAIL),
        unexpected_passes=verdicts.count(Verdict.UNEXPECTED_PASS),
        passed=verdicts.count(Verdict.PASSED),
        errors=file.errors,
        seconds=file.seconds,
        cpu_seconds=file.cpu_seconds,
        not_run=verdicts.count(Verdict.NOT_RUN),
        ignored=ignored,
        flaky=sum(outcome.flaky for outcome in file.outcomes),
        not_judged=verdicts.count(Verdict.NOT_JUDGED),
    )


def total(tallies: Iterable[Tally]) -> Tally:
    """Add tallies up, column by column."""
    return Tally(*(sum(column) for column in zip(*tallies, strict=True)))


def phrases(counts: Tally) -> list[tuple[str, str, str]]:
    """Return the tests, then all counts that are not zero, as (kind, sign, words).

    Behind the tests the worst comes first.
    """
    named = (
        ("FAILED", "✗", counts.failed, "FAILED"),
        ("not run", "–", counts.not_run, "not run"),
        ("not judged", "?", counts.not_judged, "not judged"),
        ("errors", "!", counts.errors, plural(counts.errors, "setup command") + " refused"),
        ("flaky", "~", counts.flaky, "flaky"),
        ("PASSED", "↑", counts.unexpected_passes, "PASSED unexpectedly"),
        ("failed", "·", counts.expected_fails, "failed as expected"),
        ("ignored", "○", counts.ignored, "ignored"),
        ("passed", "✓", counts.passed, "passed"),
    )
    tests = ("tests", "", number_of(counts.tests, "test"))
    return [tests, *((k, sign, f"{n} {words}") for k, sign, n, words in named if n)]


def troubles(run: RunResult) -> list[tuple[str, str]]:
    """Return (kind, sentence) of whatever is not a result of a file."""
    return [
        *(("case file", error) for error in run.errors),
        *(("harness", fault) for fault in run.faults),
        *(("interrupted", f"{path} was not run, or not to its end") for path in run.unfinished),
    ]


def exit_code(run: RunResult, *, needs_answers: bool = True) -> ExitCode:
    """Return the exit status of a run that is compared with nothing.

    ``needs_answers``: whether an error fails the run where no pattern is expected.
    """
    if run.unfinished:
        return ExitCode.INTERRUPTED
    if run.faults:
        return ExitCode.FAULT
    if run.errors or any(file.failure for file in run.files):
        return ExitCode.BROKEN
    failed = (
        needs_answers or file.case.steps[outcome.step].pattern is not None
        for file in run.files
        for outcome in file.outcomes
        if outcome.verdict is Verdict.FAILED
    )
    return ExitCode.FAILED if any(failed) else ExitCode.OK


# --- the end of a run in a few lines -----------------------------------------------------------


def summary(run: RunResult, tallies: Sequence[Tally], paint: Paint) -> str:
    """Return what is wrong with case files, the harness's own faults, which files were not run
    to their end, and a line of counts.

    Before the counts stands what explains the failures, where something does.
    """
    lines = [paint("bad", f"✗ case file  {escape_controls(error)}") for error in run.errors]
    for fault in run.faults:  # where in the harness it arose is in the other reports
        first = escape_controls(fault).partition("\n")[0]
        lines.append(paint("bad", f"✗ THE HARNESS FAILED, not the engine: {first}"))
    lines += [paint("bad", f"✗ interrupted  {escape_controls(path)}") for path in run.unfinished]
    for one in run.diagnoses:
        first, *others = map(escape_controls, one.lines)
        lines.append(f"{paint('bold', 'diagnosis')}  {first}")
        lines += [f"{'':11}- {other}" for other in others]
    files = number_of(len(run.files), "file")
    broken = sum(file.failure is not None for file in run.files)
    if broken:
        files += paint("bad", f" ({broken} broken off)")
    counts = (
        paint(VERDICTS[kind], words) if kind in VERDICTS else words
        for kind, _, words in phrases(total(tallies))
    )
    return "\n".join([*lines, f"{files}: {', '.join(counts)}"])
