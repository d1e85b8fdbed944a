"""The end of a run in a few lines; each kind of trouble in lines of its own."""

from __future__ import annotations

from collections.abc import Sequence

from harness.records import RunResult
from harness.report.paint import VERDICTS, Paint
from harness.report.tally import Tally, phrases, total
from harness.text import number_of
from harness.visible import visible


def summary(run: RunResult, tallies: Sequence[Tally], paint: Paint) -> str:
    """Return what is wrong with case files, the harness's own faults, which files were not run
    to their end, and a line of counts.

    Before the counts stands what explains the failures, where something does.
    """
    lines = [paint("bad", f"✗ case file  {visible(error)}") for error in run.errors]
    lines += [paint("bad", _fault(fault)) for fault in run.faults]
    lines += [paint("bad", f"✗ interrupted  {visible(path)}") for path in run.unfinished]
    lines += [f"{paint('bold', 'diagnosis')}  {visible(str(one))}" for one in run.diagnoses]
    files = number_of(len(run.files), "file")
    broken = sum(file.failure is not None for file in run.files)
    if broken:
        files += paint("bad", f" ({broken} broken off)")
    return "\n".join([*lines, f"{files}: {_counts(total(tallies), paint)}"])


def _fault(fault: str) -> str:
    """Return a fault's first line; where in the harness it arose is in the other reports."""
    first, _, _rest = visible(fault).partition("\n")
    return f"✗ THE HARNESS FAILED, not the engine: {first}"


def _counts(counts: Tally, paint: Paint) -> str:
    return ", ".join(
        paint(VERDICTS[kind], words) if kind in VERDICTS else words
        for kind, _, words in phrases(counts)
    )
