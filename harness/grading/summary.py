"""The end of a grading on the terminal: a line for each submission, what needs a look. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.grading.records import ClassResult, Graded, decimal
from harness.report.paint import Paint
from harness.report.tally import plural
from harness.report.visible import one_line

_WIDTH = 28  # characters of a name
_WORDS = 72  # characters of a remark


def lines(result: ClassResult, paint: Paint) -> Iterator[str]:
    """Yield the table of marks, one line each, and below it what the teacher should look at."""
    names = [part.name for part in result.assignment.marks]
    widths = [max(len(name), 5) for name in names]
    head = "  ".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))
    yield paint("bold", f"{'':{_WIDTH}}  {head}  {'late':>5}  {'mark':>5}")
    for graded in result.graded:
        yield _line(graded, names, widths, paint)
    yield from _remarks(result, paint)


def _line(graded: Graded, names: Sequence[str], widths: Sequence[int], paint: Paint) -> str:
    marks = graded.marks
    name = f"{one_line(shown(graded), _WIDTH):{_WIDTH}}"
    if marks.withheld:
        return f"{name}  {paint('warn', one_line(marks.note, _WORDS))}"
    points = {part.name: decimal(part.points) for part in marks.parts}
    cells = [f"{points.get(one, '0'):>{width}}" for one, width in zip(names, widths, strict=True)]
    late = f"-{decimal(marks.deduction)}" if marks.deduction else ""
    note = f"  {one_line(marks.note, _WORDS)}" if marks.note else ""
    return f"{name}  {'  '.join(cells)}  {late:>5}  {decimal(marks.total):>5}{note}"


def shown(graded: Graded) -> str:
    """Return whose submission it is, as a teacher would say."""
    names = [student.name or student.key for student in graded.submission.students]
    return ", ".join(names) or graded.submission.key


def _remarks(result: ClassResult, paint: Paint) -> Iterator[str]:
    withheld = [one for one in result.graded if one.marks.withheld]
    counted = len(result.graded) - len(withheld)
    yield ""
    yield f"{counted} {plural(counted, 'mark')}, {len(withheld)} withheld"
    for what, found in flags(result):
        if found:
            yield paint("warn", f"{what}: {'; '.join(one_line(one, _WORDS) for one in found)}")


def flags(result: ClassResult) -> Iterator[tuple[str, list[str]]]:
    """Yield what the teacher should look at: a heading, and a phrase for each."""
    pairs = [(shown(one), attempt) for one in result.graded for attempt in one.attempts]
    yield "flaky, judged by its last run", [f"{n} in {a.case}" for n, a in pairs if a.flaky]
    yield "near a limit", [f"{n} in {a.case} {a.near_limit}" for n, a in pairs if a.near_limit]
    faults = [f"{n} in {a.case}: {a.fault.splitlines()[0]}" for n, a in pairs if a.fault]
    yield "the harness broke", faults
    yield (
        "passes public tests but not their images",
        [
            f"{shown(one)} (chance {one.suspicion.chance:.2g})"
            for one in result.graded
            if one.suspicion
        ],
    )
