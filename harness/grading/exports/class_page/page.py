"""The page about a class: what to look at first, then marks, tests and submissions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from statistics import mean, median

from harness.grading.exports.class_page import attention, class_errors, parts
from harness.grading.exports.class_page.parts import (
    CLASS,
    PAGE,
    ClassOverview,
    evidence,
    format_students,
    test_anchor,
)
from harness.grading.exports.feedback import unsafe
from harness.grading.exports.showing import CaseSummary, Files, Material, as_file
from harness.grading.marks.marking import TestResult
from harness.grading.records import IMAGE, PUBLIC, ClassResult, Graded, Item, decimal
from harness.records import Verdict
from harness.report.html.parts import PageFrame, facts, page
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import number_of, one_line, show_utc

_BARS = 10
_TOP = 86  # percent of the height that the highest bar takes; its number stands above it

_MARKS_SECTION = Markup(
    '<section aria-labelledby="marks"><div class="sec-h"><h2 id="marks">Marks</h2>'
    '<p class="sub">of %s</p></div><div class="two">%s'
    '<div class="card pad pts"><h3>Parts</h3>%s</div></div></section>\n'
)
_FIGURE = Markup(
    '<figure class="card pad"><div class="stat">%s</div>'
    '<div class="hist" role="img" aria-label="%s"><div class="hbs">%s'
    '<span class="med" style="left:%s%%"><em%s>median</em></span></div>'
    '<div class="hax">%s</div></div></figure>'
)
_NUMBER = Markup('<p><b>%s</b><span class="sub">%s</span></p>')
_BAR = Markup('<div class="hb"><span>%s</span><i style="height:%s%%"></i></div>')
_PART = Markup(
    '<div class="pt"><span>%s</span><div class="bar" role="img" aria-label="mean %s of %s">'
    '<i class="a" style="width:%s%%"></i></div><span class="num"><b>%s</b> '
    '<span class="sub">of %s</span></span><span class="sub">%s have all, %s have nothing</span>'
    "</div>\n"
)


def marks_section(result: ClassResult) -> Markup:
    """Return the section; nothing where no mark is known."""
    of = result.of
    totals = [float(one.marks.total) for one in result.graded if not one.marks.withheld]
    if not totals or not of:
        return NOTHING
    parts = join_markup(_part(part.name, result) for part in result.assignment.marks)
    return _MARKS_SECTION % (decimal(of), _figure(totals, float(of)), parts)


def counts(totals: Sequence[float], of: float) -> list[int]:
    """Return how many marks are in each tenth of what can be reached; all are in the last."""
    found = [0] * _BARS
    for total in totals:
        found[min(int(total / of * _BARS + 1e-9), _BARS - 1)] += 1
    return found


def _figure(totals: Sequence[float], of: float) -> Markup:
    numbers = (
        (f"{mean(totals):.2f}", "mean"),
        (f"{median(totals):.2f}", "median"),
        (sum(total >= of for total in totals), "have all points"),
    )
    found = counts(totals, of)
    bars = join_markup(_BAR % (count or "", f"{_TOP * count / max(found):.0f}") for count in found)
    ends = [f"{of * place / _BARS:.3g}" for place in range(_BARS + 1)]
    axis = join_markup(Markup("<span>%s</span>") % end for end in ends)
    told = "; ".join(
        f"{ends[place]} to {ends[place + 1]}: {count}"
        for place, count in enumerate(found)
        if count
    )
    middle = 100 * median(totals) / of
    side = Markup(' class="l"') if middle > 70 else NOTHING
    shown = join_markup(_NUMBER % one for one in numbers)
    label = f"Histogram of {len(totals)} marks. {told}. Median {median(totals):.3g}."
    return _FIGURE % (shown, label, bars, f"{middle:.1f}", side, axis)


def _part(name: str, result: ClassResult) -> Markup:
    found = [
        part
        for one in result.graded
        if not one.marks.withheld
        for part in one.marks.parts
        if part.name == name
    ]
    of = max((part.of for part in found), default=Fraction(0))
    if not of:
        return NOTHING
    reached = sum((part.points for part in found), start=Fraction(0)) / len(found)
    return _PART % (
        name,
        decimal(reached),
        decimal(of),
        f"{float(100 * reached / of):.0f}",
        f"{float(reached):.2f}",
        decimal(of),
        sum(part.points == of for part in found),
        sum(not part.points for part in found),
    )


# --- Tests × submissions as a table, the worst submission first, failures linked to their evidence
# A class of 200 has 30,000 cells. So a passed cell is a bare ``<td>`` and a failed one has no
# class: the heads of its column and row name the submission and the test. Without a script all
# links can be reached by the tab key; with it the table is one stop, and the arrow keys go from
# link to link.


_NAME, _COMMAND = 18, 40  # characters
_HEADS, _LINE, _FILE = 144, 26, 36  # pixels of the names above, of a test, of a file's name
_MANY = 45  # submissions from which on columns are as narrow as can be

# How a cell looks: a sign or none, so that no verdict hangs on its color alone.
PASSED, FAILED, LOST, UNSURE = "p", "f", "n", "u"
WORDS = {PASSED: "passed", FAILED: "failed", LOST: "not reached", UNSURE: "not judged"}

_MATRIX_SECTION = Markup(
    '<section aria-labelledby="m"><div class="sec-h"><h2 id="m">Tests × submissions</h2>'
    '<p class="sub">lowest mark at the left; what failed leads to its evidence</p></div>'
    '<ul class="leg">%s</ul><div class="card scroll far" style="--h:%spx" tabindex="0" '
    'role="region" aria-label="Matrix, scrolls sideways"><table class="mx ts%s"><thead><tr>'
    '<td class="c0"></td>%s</tr></thead>%s</table></div></section>\n'
)
_KEY = Markup('<li><span class="k %s" aria-hidden="true"></span>%s</li>')
_HEAD = Markup('<th scope="col"><a href="%s"><span>%s</span></a></th>')
_GROUP = Markup(
    '<tbody><tr class="gh"><th scope="rowgroup" class="c0">%s%s</th><td colspan="%s"></td></tr>\n'
)
_ROW = Markup(
    '<tr><th scope="row" class="c0"><a href="#%s"><span>%s <b>%s</b></span>'
    '<small aria-label="%s of %s passed">%s/%s</small></a></th>%s</tr>\n'
)
_CELL = Markup('<td%s><a href="%s">%s</a>')
_CLASSES = {FAILED: NOTHING, LOST: Markup(' class="n"'), UNSURE: Markup(' class="u"')}
_PASSED, _NONE = Markup("<td>"), Markup('<td class="o">')


def matrix_section(known: ClassOverview) -> Markup:
    """Return the section; nothing where no test was run."""
    if not known.result.items:
        return NOTHING
    columns = [_Column(one, known.tests[one.submission.key]) for one in reversed(known.ordered)]
    heads = join_markup(column.head for column in columns)
    narrow = " nar" if len(columns) > _MANY else ""
    key = join_markup(_KEY % one for one in WORDS.items())
    return _MATRIX_SECTION % (
        key,
        _height(known.result.items),
        narrow,
        heads,
        join_markup(_groups(known, columns)),
    )


def _height(items: Sequence[Item]) -> int:
    """Return about how many pixels the table takes, which is drawn when it comes into sight."""
    files = len({(item.kind, item.case) for item in items})
    return _HEADS + _LINE * len(items) + _FILE * files


class _Column:
    """One submission, with its tests."""

    def __init__(self, one: Graded, tests: Sequence[TestResult]) -> None:
        self._one = one
        self._tests: Mapping[object, TestResult] = {test.key: test for test in tests}
        self.head = _HEAD % (evidence(one), one_line(format_students(one), _NAME))

    def cell(self, item: Item) -> Markup:
        """Return what happened to a test."""
        test = self._tests.get((item.kind, item.case, item.line))
        if test is None:
            return _NONE
        kind = kind_of(test)
        if kind == PASSED:
            return _PASSED
        address = evidence(self._one, test_anchor(self._one, test.key, test.verdict))
        return _CELL % (_CLASSES[kind], address, WORDS[kind])


def kind_of(test: TestResult) -> str:
    """Return how a test's cell looks."""
    if test.passed is None:
        return UNSURE
    if test.verdict is Verdict.NOT_RUN:
        return LOST
    return PASSED if test.passed else FAILED


def _groups(known: ClassOverview, columns: Sequence[_Column]) -> Iterator[Markup]:
    for (kind, case), items in groupby(known.result.items, lambda item: (item.kind, item.case)):
        private = NOTHING if kind == PUBLIC else Markup(' <span class="sub">%s</span>') % kind
        yield _GROUP % (case, private, len(columns))
        for item in items:
            yield _row(item, known.places.test((kind, case, item.line)), columns)
        yield Markup("</tbody>")


def _row(item: Item, place: str, columns: Sequence[_Column]) -> Markup:
    counts = (item.passed, item.judged)
    command = one_line(item.command, _COMMAND)
    cells = join_markup([column.cell(item) for column in columns])
    return _ROW % (place, item.line, command, *counts, *counts, cells)


# --- The page about a class, for the teacher: what to look at first, then marks and errors -------
# It has everything, private tests too. It loads nothing, and shows everything without the one
# script of all pages. The evidence about each submission is on a page of its own, in the folder
# ``evidence`` beside it; the pages for students are in the folder ``feedback``.


_HERO = Markup(
    '<div class="hero cl"><div><h1>%s: the class</h1><p class="sub">%s</p></div>'
    '<p class="btns noprint"><a class="btn" href="marks.csv">marks.csv</a>'
    '<a class="btn" href="class.json">class.json</a></p></div>\n'
)
_JUMP = Markup(
    '<nav class="sub jump noprint" aria-label="On this page">%s<a href="#graded">How it was '
    "graded</a></nav>\n"
)
_GRADED = Markup(
    '<section aria-labelledby="graded"><h2 id="graded">How it was graded</h2>%s'
    '<details class="card"><summary>Case files <span class="sub">%s</span></summary><table>'
    '<thead><tr><th scope="col">Kind</th><th scope="col">File</th><th scope="col">SHA-256</th>'
    "</tr></thead><tbody>%s</tbody></table></details></section>\n"
)
_STATUS = Markup('<a class="pill w noprint" href="#look">%s to look at</a>')


def files(material: Material) -> Files:
    """Yield the page."""
    yield PAGE, as_file(class_page(material.result, material.notes, material.seen))


def class_page(
    result: ClassResult, notes: Sequence[str], seen: Mapping[str, Sequence[CaseSummary]]
) -> Iterator[str]:
    """Yield the page.

    ``notes``: what is to be said of the sheets that were filled in. ``seen``: the result of the
    case files, by submission.
    """
    result = result.as_people_count()
    known = ClassOverview(result, seen)
    points = attention.points(known, notes)
    frame = PageFrame(
        status=_STATUS % len(points) if points else NOTHING,
        boards=class_errors.has_boards(known),
        script=bool(result.graded),
        style=CLASS,
    )
    body = _body(known, attention.section(points, result))
    return page(f"{result.assignment.title}: the class", body, frame)


def _body(known: ClassOverview, look: Markup) -> Iterator[Markup]:
    result = known.result
    sections = (
        ("look", "Look first", look),
        ("marks", "Marks", marks_section(result)),
        ("wrong", "What went wrong", class_errors.section(known)),
        ("subs", "Submissions", parts.section(known)),
        ("m", "Tests × submissions", matrix_section(known)),
        ("trial", "Tests on trial", attention.suspects_section(known)),
    )
    shown = [one for one in sections if one[2]]
    yield _HERO % (result.assignment.title, _counts(result))
    yield unsafe(result.is_unsafe)
    yield _JUMP % join_markup(Markup('<a href="#%s">%s</a>') % one[:2] for one in shown)
    yield from (text for *_, text in shown)
    yield _render_run_facts(result)


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


def _render_run_facts(result: ClassResult) -> Markup:
    asked = [case for case in result.cases if case[0] != IMAGE]
    rows = join_markup(
        Markup("<tr><td>%s</td><td>%s</td><td><code>%s</code></td></tr>\n") % case
        for case in asked
    )
    variants = len(result.cases) - len(asked)
    known = facts(
        (
            ("Assignment", result.assignment.key),
            ("Started", show_utc(result.started)),
            ("Sandbox", result.sandbox),
            ("Engines' Python", result.python),
            ("gtp-harness", result.version),
            ("Variants", f"{variants} case files made of the public ones" if variants else ""),
        )
    )
    return _GRADED % (known, number_of(len(asked), "file"), rows)
