"""The table of submissions: sorted by mark, with flags, and with a filter by name and flag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from harness.grading.attempts.units import own
from harness.grading.exports.class_page.parts import ClassOverview, link_names
from harness.grading.marks.findings import likes
from harness.grading.records import ClassResult, Graded, decimal
from harness.report.html.page_names import link
from harness.report.html.parts import choices
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import number_of, one_line

_REMARK = 160  # characters

_SECTION = Markup(
    '<section aria-labelledby="subs"><h2 id="subs">Submissions</h2>%s<div class="card">'
    '<table class="st"><thead><tr>%s</tr></thead><tbody>\n%s</tbody></table></div></section>\n'
)
_FILTER = Markup(
    '<div class="tools js-only" role="search"><input class="inp" type="search" data-filter '
    'aria-label="Filter submissions" placeholder="Filter by name, flag, mistake">'
    '<span class="btns" role="group" aria-label="Show">%s</span>'
    '<span class="sub" id="shown" role="status">%s of %s</span></div>'
)
_HEAD = Markup('<th scope="col"%s%s><button type="button">%s</button></th>')
_ROW = Markup(
    '<tr id="%s" data-v="%s"><th scope="row" class="nmc">%s</th>'
    '<td class="num" data-l="mark" data-k="%s"><b>%s</b>%s</td>%s'
    '<td class="num" data-l="failed">%s</td><td data-k="%s">%s</td>'
    '<td data-l="feedback">%s</td></tr>\n'
)
_MARK_BAR = Markup('<i class="sh" style="--v:%s"></i>')


def section(known: ClassOverview) -> Markup:
    """Return the section; nothing of a class without submissions."""
    if not known.graded:
        return NOTHING
    table = _Table(known)
    rows = [(one, table.kinds(one)) for one in known.ordered]
    body = join_markup(table.row(one, kinds) for one, kinds in rows)
    return _SECTION % (_filter([kinds for _, kinds in rows]), table.heads(), body)


def _filter(rows: Sequence[Sequence[str]]) -> Markup:
    names = (("all", "All"), ("flag", "Flagged"), ("lost", "Without all points"))
    counts = (sum(name == "all" or name in kinds for kinds in rows) for name, _ in names)
    buttons = choices((*one, count) for one, count in zip(names, counts, strict=True))
    return _FILTER % (buttons, len(rows), len(rows))


class _Table:
    def __init__(self, known: ClassOverview) -> None:
        result = known.result
        worth = {part.name for one in result.graded for part in one.marks.parts if part.of}
        self._parts = [part.name for part in result.assignment.marks if part.name in worth]
        self._known, self._of, self._likes = known, result.of, likes(result)

    def heads(self) -> Markup:
        """Return the heads of the columns."""
        number, by = Markup(' class="num"'), Markup(' aria-sort="descending"')
        heads = (
            _HEAD % (NOTHING, NOTHING, "Submission"),
            _HEAD % (number, by, "Mark"),
            *(_HEAD % (number, NOTHING, name) for name in self._parts),
            _HEAD % (number, NOTHING, "Failed tests"),
            _HEAD % (NOTHING, NOTHING, "Flags and mistakes"),
            Markup('<th scope="col">Feedback</th>'),
        )
        return join_markup(heads)

    def kinds(self, one: Graded) -> list[str]:
        """Return what a filter tells of a submission."""
        lost = one.marks.withheld or one.marks.total < self._of
        return ["flag"] * bool(self._flags(one)) + ["lost"] * lost

    def _flags(self, one: Graded) -> list[tuple[str, str]]:
        return [*_list_overrides(one, self._known.result), *_flags(one, self._others(one))]

    def _others(self, one: Graded) -> Sequence[str]:
        return self._likes.get(one.submission.key, ())

    def row(self, one: Graded, kinds: Sequence[str]) -> Markup:
        """Return the row of a submission."""
        marks, held = one.marks, one.marks.withheld
        tests = self._known.tests[one.submission.key]
        failed = sum(test.passed is False for test in tests)
        share = float(100 * marks.total / self._of) if self._of else 0
        flags = self._flags(one)
        return _ROW % (
            self._known.places.submission(one.submission.key),
            " ".join(kinds),
            link_names(one),
            -1 if held else f"{float(marks.total):.4f}",
            "–" if held else _two_places(marks.total),
            NOTHING if held else _MARK_BAR % f"{share:.0f}",
            join_markup(self._points(one)),
            failed or "",
            len(flags),
            self._render_note(one, flags),
            _pages(one),
        )

    def _points(self, one: Graded) -> Iterator[Markup]:
        reached = {part.name: part.points for part in one.marks.parts}
        for name in self._parts:
            points = None if one.marks.withheld else reached.get(name)
            shown = "" if points is None else _two_places(points)
            yield Markup('<td class="num" data-l="%s">%s</td>') % (name, shown)

    def _render_note(self, one: Graded, flags: Sequence[tuple[str, str]]) -> Markup:
        pills = Markup(" ").join(Markup('<span class="pill %s">%s</span>') % one for one in flags)
        said = "; ".join(
            one_line(text, _REMARK) for text in (one.marks.note, *_mistakes(one)) if text
        )
        same = Markup(", ").join(link_names(self._known.graded[key]) for key in self._others(one))
        told = [Markup(' <span class="sub">%s</span>') % said] if said else []
        told += [Markup(' <span class="sub">the same program as %s</span>') % same] if same else []
        return pills + join_markup(told)


def _two_places(points: Fraction) -> str:
    """Return points as a column has them, one point below the other."""
    whole, _, rest = decimal(points).partition(".")
    return f"{whole}.{rest:0<2}"


def _mistakes(one: Graded) -> Iterator[str]:
    yield from one.submission.faults
    for found in one.diagnoses:
        rest = found.total - found.failures
        yield found.reasons + (f" ({rest} failures are not explained)" if rest else "")


def _list_overrides(one: Graded, result: ClassResult) -> Iterator[tuple[str, str]]:
    """Yield the marks that people gave the students of a submission, each once."""
    found = filter(None, map(result.get_given_mark, one.submission.students))
    for points in sorted({given.points for given in found}):
        yield "w", f"given {decimal(points)} by a person"


def _flags(one: Graded, same: Sequence[str]) -> list[tuple[str, str]]:
    """Return what is to be seen at once: a class and a few words each."""
    broken = sum(bool(each.result and each.result.failure) for each in own(one.attempts))
    build = one.build
    late = f"late, −{decimal(one.marks.deduction)}" if one.marks.deduction else "late"
    known = (
        (one.marks.withheld, "w", "withheld"),
        (one.submission.refused, "f", "refused"),
        (build and not build.ok, "f", "does not build"),
        (broken, "f", f"engine failure in {number_of(broken, 'file')}"),
        (one.suspicion, "w", "variants fail"),
        (same, "w", "same program"),
        (any(each.flaky for each in one.attempts), "w", "flaky"),
        (any(each.near_limit for each in one.attempts), "w", "near a limit"),
        (one.marks.deduction_reason, "w", late),
    )
    return [(kind, words) for is_so, kind, words in known if is_so]


def _pages(one: Graded) -> Markup:
    """Return links to what each student is shown."""
    shown = (
        Markup('<a href="feedback/%s" aria-label="What %s is shown">%s</a>')
        % (link(student.key), one_line(student.name, _REMARK), student.key)
        for student in one.submission.students
    )
    return Markup(", ").join(shown)
