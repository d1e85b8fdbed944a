"""Tests × submissions as a table, the worst submission first, failures linked to their evidence.

A class of 200 has 30,000 cells. So a passed cell is a bare ``<td>`` and a failed one has no class:
the heads of its column and row name the submission and the test. Without a script all links can be
reached by the tab key; with it the table is one stop, and the arrow keys go from link to link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from harness.escaping import one_line
from harness.grading.attempts.units import TestResult
from harness.grading.exports.class_page.parts import (
    ClassOverview,
    evidence,
    format_students,
    test_anchor,
)
from harness.grading.records import PUBLIC, Graded, Item
from harness.records import Verdict
from harness.report.markup import NOTHING, Markup, join_markup

_NAME, _COMMAND = 18, 40  # characters
_HEADS, _LINE, _FILE = 144, 26, 36  # pixels of the names above, of a test, of a file's name
_MANY = 45  # submissions from which on columns are as narrow as can be

# How a cell looks: a sign or none, so that no verdict hangs on its color alone.
PASSED, FAILED, LOST, UNSURE = "p", "f", "n", "u"
WORDS = {PASSED: "passed", FAILED: "failed", LOST: "not reached", UNSURE: "not judged"}

_SECTION = Markup(
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


def section(known: ClassOverview) -> Markup:
    """Return the section; nothing where no test was run."""
    if not known.result.items:
        return NOTHING
    columns = [_Column(one, known.tests[one.submission.key]) for one in reversed(known.ordered)]
    heads = join_markup(column.head for column in columns)
    narrow = " nar" if len(columns) > _MANY else ""
    key = join_markup(_KEY % one for one in WORDS.items())
    return _SECTION % (
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
