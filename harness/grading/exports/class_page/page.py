"""The page about a class: what to look at first, then marks, tests and submissions."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from statistics import mean, median
from types import SimpleNamespace

from harness.core.records import Verdict
from harness.core.text import number_of, one_line, show_utc
from harness.grading.exports.class_page import attention, class_errors, parts
from harness.grading.exports.exporters import Files, Material, Summaries, as_file
from harness.grading.exports.feedback import unsafe
from harness.grading.marks.marking import TestResult
from harness.grading.records import IMAGE, ClassResult, Graded, decimal
from harness.report.html.parts import PageFrame, page
from harness.report.html.templates import Markup, Template

_FOLDER = "grading/exports/class_page"
_marks, _matrix = Template(f"{_FOLDER}/marks.html"), Template(f"{_FOLDER}/matrix.html")
_class = Template(f"{_FOLDER}/class.html")
_BARS = 10
_TOP = 86  # percent of the height that the highest bar takes; its number stands above it


def marks_section(result: ClassResult) -> Markup | str:
    """Return the section; nothing where no mark is known."""
    totals = [float(one.marks.total) for one in result.graded if not one.marks.withheld]
    if not totals or not result.of:
        return ""
    of = float(result.of)
    found = counts(totals, of)
    ends = [f"{of * place / _BARS:.3g}" for place in range(_BARS + 1)]
    told = "; ".join(
        f"{ends[place]} to {ends[place + 1]}: {count}"
        for place, count in enumerate(found)
        if count
    )
    shares = (_part(part.name, result) for part in result.assignment.marks)
    return _marks.section(
        of=decimal(result.of),
        numbers=(
            (f"{mean(totals):.2f}", "mean"),
            (f"{median(totals):.2f}", "median"),
            (sum(total >= of for total in totals), "have all points"),
        ),
        label=f"Histogram of {len(totals)} marks. {told}. Median {median(totals):.3g}.",
        bars=[(count, f"{_TOP * count / max(found):.0f}") for count in found],
        median=100 * median(totals) / of,
        ends=ends,
        marked_parts=[one for one in shares if one],
    )


def counts(totals: Sequence[float], of: float) -> list[int]:
    """Return how many marks are in each tenth of what can be reached; all are in the last."""
    found = [0] * _BARS
    for total in totals:
        found[min(int(total / of * _BARS + 1e-9), _BARS - 1)] += 1
    return found


def _part(name: str, result: ClassResult) -> SimpleNamespace | None:
    found = [
        part
        for one in result.graded
        if not one.marks.withheld
        for part in one.marks.parts
        if part.name == name
    ]
    of = max((part.of for part in found), default=Fraction(0))
    if not of:
        return None
    reached = sum((part.points for part in found), start=Fraction(0)) / len(found)
    return SimpleNamespace(
        name=name,
        reached=decimal(reached),
        mean=f"{float(reached):.2f}",
        of=decimal(of),
        share=f"{float(100 * reached / of):.0f}",
        all=sum(part.points == of for part in found),
        none=sum(not part.points for part in found),
    )


# --- Tests × submissions as a table, the worst submission first, failures linked to their evidence
# A class of 200 has 30,000 cells. So a passed cell is a bare ``<td>`` and a failed one has no
# class: the heads of its column and row name the submission and the test. Without a script all
# links can be reached by the tab key; with it the table is one stop, and the arrow keys go from
# link to link.


_NAME, _COMMAND = 18, 40  # characters
# About how many pixels the names above, a test and a file's name take: the table is drawn when it
# comes into sight.
_HEADS, _LINE, _FILE = 144, 26, 36
_MANY = 45  # submissions from which on columns are as narrow as can be

# How a cell looks: a sign or none, so that no verdict hangs on its color alone.
PASSED, FAILED, LOST, UNSURE, NONE = "p", "f", "n", "u", "o"
WORDS = {PASSED: "passed", FAILED: "failed", LOST: "not reached", UNSURE: "not judged"}


def matrix_section(overview: parts.ClassOverview) -> Markup | str:
    """Return the section; nothing where no test was run."""
    items = overview.result.items
    if not items:
        return ""
    columns = [
        (one, {test.key: test for test in overview.tests[one.submission.key]})
        for one in reversed(overview.ordered)
    ]
    rows = (
        (
            item,
            overview.places.test(key),
            one_line(item.command, _COMMAND),
            [_cell(one, tests.get(key)) for one, tests in columns],
        )
        for item in items
        for key in [(item.kind, item.case, item.line)]
    )
    return _matrix.section(
        key=WORDS,
        height=_HEADS + _LINE * len(items) + _FILE * len({(one.kind, one.case) for one in items}),
        is_narrow=len(columns) > _MANY,
        heads=[
            (parts.evidence_address(one), one_line(parts.format_students(one), _NAME))
            for one, _ in columns
        ],
        groups=(  # the kind, the name and the rows of each case file
            (kind, case, some)
            for (kind, case), some in groupby(rows, lambda row: (row[0].kind, row[0].case))
        ),
    )


def _cell(graded: Graded, test: TestResult | None) -> tuple[str, str]:
    """Return what happened to a test, and the address of the evidence if it did not pass."""
    kind = kind_of(test) if test else NONE
    if test is None or kind == PASSED:
        return kind, ""
    anchor = parts.test_anchor(graded, test.key, test.verdict)
    return kind, parts.evidence_address(graded, anchor)


def kind_of(test: TestResult) -> str:
    """Return how a test's cell looks."""
    if test.passed is None:
        return UNSURE
    if test.verdict is Verdict.NOT_RUN:
        return LOST
    return PASSED if test.passed else FAILED


# --- The page about a class, for the teacher: what to look at first, then marks and errors -------
# It has everything, private tests too. It loads nothing, and shows everything without the one
# script of all pages. The evidence about each submission is on a page of its own, in the folder
# ``evidence`` beside it; the pages for students are in the folder ``feedback``.


def files(material: Material) -> Files:
    """Yield the page."""
    yield parts.PAGE, as_file(class_page(material.result, material.notes, material.summaries))


def class_page(result: ClassResult, notes: Sequence[str], summaries: Summaries) -> Iterator[str]:
    """Yield the page; ``notes``: what is to be said of the sheets that were filled in."""
    result = result.as_people_count()
    known = parts.ClassOverview(result, summaries)
    look_first, status = attention.section(known, notes)
    sections = (
        ("look", "Look first", look_first),
        ("marks", "Marks", marks_section(result)),
        ("wrong", "What went wrong", class_errors.section(known)),
        ("subs", "Submissions", parts.section(known)),
        ("m", "Tests × submissions", matrix_section(known)),
        ("trial", "Tests on trial", attention.suspects_section(known)),
    )
    cases = [case for case in result.cases if case[0] != IMAGE]
    variants = len(result.cases) - len(cases)
    body = _class.body(
        result=result,
        told=_counts(result),
        unsafe=unsafe(result.is_unsafe),
        sections=[one for one in sections if one[2]],
        facts=(
            ("Assignment", result.assignment.key),
            ("Started", show_utc(result.started)),
            ("Sandbox", result.sandbox),
            ("Engines' Python", result.python),
            ("gtp-harness", result.version),
            ("Variants", f"{variants} case files made of the public ones" if variants else ""),
        ),
        cases=cases,
    )
    frame = PageFrame(
        status=status,
        boards=any(one.view.boards for listed in summaries.values() for one in listed),
        script=bool(result.graded),
        style=parts.CLASS,
    )
    return page(f"{result.assignment.title}: the class", [body], frame)


def _counts(result: ClassResult) -> str:
    graded = result.graded
    students = sum(len(one.submission.students) for one in graded)
    counts = (
        ("refused", sum(one.submission.refused != "" for one in graded)),
        ("late", sum(one.marks.deduction_reason != "" for one in graded)),
        ("withheld", sum(one.marks.withheld for one in graded)),
    )
    told = [f"{number_of(len(graded), 'submission')} of {number_of(students, 'student')}"]
    told += [f"{count} {words}" for words, count in counts if count]
    return " · ".join([*told, f"graded {show_utc(result.started)}", result.sandbox])
