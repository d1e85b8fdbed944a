"""The summary of a grading on the terminal: a line for each submission, what to look at. Pure."""

from collections.abc import Iterator, Sequence

from harness.core.text import at_most, number_of, one_line, plural
from harness.grading.auditing.audit import FOLDER
from harness.grading.marks.findings import concerns
from harness.grading.records import ClassResult, Graded, decimal
from harness.report.paint import Paint

_WIDTH = 28  # characters of a name
_WORDS = 72  # characters of a remark
_LISTED = 6  # submissions named one by one
_WIDEST = 60  # characters of all names of parts; wider ones become numbers


def lines(result: ClassResult, paint: Paint) -> Iterator[str]:
    """Yield the table of marks, one line each, and below it what the teacher should look at."""
    result = result.as_people_count()
    names = list_parts(result)
    heads = names if sum(map(len, names)) <= _WIDEST else [f"({n + 1})" for n in range(len(names))]
    widths = [max(len(head), 5) for head in heads]
    head = _row("", heads, widths, "late", "mark")
    yield paint("bold", head)
    owners = {one.submission.key: one_line(owner_name(one), _WIDTH) for one in result.graded}
    for graded in result.graded:
        marks, owner = graded.marks, owners[graded.submission.key]
        note = one_line(marks.note, _WORDS)
        if marks.withheld:
            yield f"{owner:{_WIDTH}}  {paint('warn', note)}"
            continue
        points = {part.name: decimal(part.points) for part in marks.parts}
        late = f"-{decimal(marks.deduction)}" if marks.deduction else ""
        cells = [points.get(name, "0") for name in names]
        yield f"{_row(owner, cells, widths, late, decimal(marks.total))}  {note}".rstrip()
    if heads is not names:
        pairs = zip(heads, names, strict=True)
        yield "; ".join(f"{head} {name}" for head, name in pairs)
    withheld = sum(one.marks.withheld for one in result.graded)
    yield ""
    yield f"{number_of(len(result.graded) - withheld, 'mark')}, {withheld} withheld"
    for one in concerns(result):
        listed = at_most((owners[key] for key in one.keys), _LISTED, "{} more")
        about = f": {', '.join(listed)}" if listed else ""
        yield paint("bad", f"look at this first: {one_line(one.text)}{about}")
    for what, found in flags(result):
        if found:
            yield paint("warn", f"{what}: {'; '.join(one_line(one, _WORDS) for one in found)}")


def list_parts(result: ClassResult) -> list[str]:
    """Return the parts of the marks that are worth something in this grading."""
    worth = {part.name for one in result.graded for part in one.marks.parts if part.of}
    return [part.name for part in result.assignment.marks if part.name in worth]


def _row(name: str, cells: Sequence[str], widths: Sequence[int], lateness: str, mark: str) -> str:
    table = "".join(f"{cell:>{width}}  " for cell, width in zip(cells, widths, strict=True))
    return f"{name:{_WIDTH}}  {table}{lateness:>5}  {mark:>5}"


def owner_name(graded: Graded) -> str:
    """Return whose submission it is, as a teacher would say."""
    names = [student.name or student.key for student in graded.submission.students]
    return ", ".join(names) or graded.submission.key


def flags(result: ClassResult) -> Iterator[tuple[str, list[str]]]:
    """Yield what the teacher should look at: a heading, and a phrase for each."""
    names = {one.submission.key: owner_name(one) for one in result.graded}
    rule = result.assignment.late
    handed = [one.submission for one in result.graded if one.submission.sha256]
    timeless = [one for one in handed if one.time is None]
    late = sum(one.late for one in timeless)
    told = f"{len(timeless)} of {len(handed)} submissions, {late} late (a CSV as SOURCE has times)"
    yield (
        "the time of the submission is not known, so only the source's word counts",
        [told] if timeless and (rule.deadline or rule.refused_after) else [],
    )
    kinds, worth = {kind for kind, _, _ in result.cases}, list_parts(result)
    untested = [
        f"{part.name} ({decimal(part.points)} {plural(int(part.points), 'point')})"
        for part in result.assignment.marks
        if result.graded and part.points and part.judged_by in kinds and part.name not in worth
    ]
    yield "worth nothing, because it has no tests", untested
    pairs = [(names[one.submission.key], each) for one in result.graded for each in one.attempts]
    yield "flaky, judged by its last run", [f"{n} in {a.case}" for n, a in pairs if a.flaky]
    yield "near a limit", [f"{n} in {a.case}: {a.near_limit}" for n, a in pairs if a.near_limit]
    faults = [f"{n} in {a.case}: {a.fault}" for n, a in pairs if a.fault]
    yield "harness errors, which cost no marks", faults
    suspected = [
        f"{names[one.submission.key]} (chance {one.suspicion.chance:.2g})"
        for one in result.graded
        if one.suspicion
    ]
    yield "passes public tests, but fails their variants", suspected
    wrong = [
        f"{names[one.submission]}: {FOLDER}/{one.submission}/{one.wrong[0].file}"
        f"{f' and {len(one.wrong) - 1} more' if one.wrong[1:] else ''}"
        for one in result.audits
        if one.wrong
    ]
    yield "audited and still wrong (marks do not change)", wrong
    # The audit could not look, or asked too little.
    vain = [
        f"{names[one.submission]}: {one.trouble}"
        for one in result.audits
        if one.trouble and not one.wrong
    ]
    yield "audited without a result", vain


def has_no_test(result: ClassResult) -> bool:
    """Whether no test counts for any part of the marks that should depend on one."""
    kinds, worth = {kind for kind, _, _ in result.cases}, list_parts(result)
    of_tests = [one for one in result.assignment.marks if one.points and one.judged_by in kinds]
    return bool(result.graded and of_tests) and not any(one.name in worth for one in of_tests)
