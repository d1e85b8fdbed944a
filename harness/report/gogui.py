"""The lines and the data file of gogui-regress, to the letter, so that scripts keep working.

Plain lines are those of GNU Go's ``regress.sh``, long ones those of its ``eval.sh``. A test that
was not reached, or not judged, has no line there; here it has one: ``12 not run``.

Source: gogui-regress's manual page and its output; GNU Go's ``regression/regress.awk``.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.records import CaseFile, FileResult, Outcome, Verdict
from harness.core.text import escape_controls
from harness.report.tally import Tally, tally

# By verdict: the plain line and the long line; None prints nothing.
_MISMATCH = "Correct '{expected}', got '{got}'"
_LINES: dict[Verdict, tuple[str | None, str | None]] = {
    Verdict.FAILED: ("unexpected FAIL: " + _MISMATCH, "FAILED: " + _MISMATCH),
    Verdict.EXPECTED_FAIL: (None, "failed: " + _MISMATCH),
    Verdict.UNEXPECTED_PASS: ("unexpected PASS!", "PASSED"),
    Verdict.PASSED: (None, "passed"),
    Verdict.NOT_RUN: ("not run", "not run"),
    Verdict.NOT_JUDGED: ("not judged", "not judged"),
    Verdict.IGNORED: (None, "{got}"),
}


def lines(file: FileResult, *, prefix: bool, long: bool = False, first: int = 0) -> Iterator[str]:
    """Yield the lines for one file, from the test at step ``first`` on.

    ``prefix``: whether lines begin with the file's name; gogui does so with several files.
    ``long``: the format of ``--long``, with its summary line.
    """
    for outcome in file.outcomes:
        # Most tests have no line.
        if outcome.step >= first and (long or outcome.verdict is not Verdict.PASSED):
            yield from line(file.case, outcome, prefix=prefix, long=long)
    if long:
        yield summary(tally(file))


def line(case: CaseFile, outcome: Outcome, *, prefix: bool, long: bool) -> Iterator[str]:
    """Yield the line for one test, if it has one."""
    step, reply = case.steps[outcome.step], outcome.reply
    found = _LINES[outcome.verdict][long]
    if step.pattern is None and reply is not None:
        # Without a pattern there is a line only for an error, the same in both formats. gogui
        # quotes it untrimmed.
        _, blank, text = reply.raw.partition(" ")
        got = text if blank else reply.raw[1:]
        is_error = outcome.verdict is Verdict.FAILED
        found = ("unexpected FAIL" + (f": '{got}'" if got else "")) if is_error else None
    elif found is not None:
        expected = step.pattern.text if step.pattern else ""
        found = found.format(expected=expected, got=reply.text if reply else "")
    if found is not None:
        start = f"{case.path} " if prefix else ""
        yield escape_controls(f"{start}{step.id} {found}")


def summary(counts: Tally) -> str:
    """Return the line that ends a file in the long format; gogui gives it no prefix."""
    return (
        f"Summary: {counts.passes}/{counts.tests} passes. "
        f"{counts.unexpected_passes} unexpected passes, {counts.failed} unexpected failures"
    )


def summary_dat(counts: Tally) -> str:
    """Return the text of ``summary.dat``; the row ends in a tab, as gogui's does."""
    row = (*counts[:6], *(at_most_one_decimal(seconds) for seconds in counts[6:8]))
    header = "#Tests\tFAIL\tfail\tPASS\tpass\tError\tTime\tCpuTime\n"
    return header + "".join(f"{value}\t" for value in row) + "\n"


def at_most_one_decimal(number: float) -> str:
    """Return a number as gogui writes it: ``2``, ``0.3``."""
    return f"{number:.1f}".removesuffix(".0")
