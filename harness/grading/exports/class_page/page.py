"""The page about a class, for the teacher: what to look at first, then marks and errors.

It has everything, private tests too. It loads nothing, and shows everything without the one script
of all pages. The evidence about each submission is on a page of its own, in the folder
``evidence`` beside it; the pages for students are in the folder ``feedback``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.grading.exports.class_page import (
    attention,
    class_errors,
    marks,
    matrix,
    submission_table,
    suspect_tests,
)
from harness.grading.exports.class_page.parts import CLASS, PAGE, ClassOverview
from harness.grading.exports.export_material import CaseSummary, Files, Material, as_file
from harness.grading.exports.feedback import unsafe
from harness.grading.records import IMAGE, ClassResult
from harness.report.html.parts import PageFrame, facts, page
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import number_of

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
) -> Iterator[Markup]:
    """Yield the page.

    ``notes``: what is to be said of the sheets that were filled in. ``seen``: the result of the
    case files, by submission.
    """
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
        ("marks", "Marks", marks.section(result)),
        ("wrong", "What went wrong", class_errors.section(known)),
        ("subs", "Submissions", submission_table.section(known)),
        ("m", "Tests × submissions", matrix.section(known)),
        ("trial", "Tests on trial", suspect_tests.section(known)),
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
    return " · ".join([*told, f"graded {result.started}", result.sandbox])


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
            ("Started", result.started),
            ("Sandbox", result.sandbox),
            ("Engines' Python", result.python),
            ("gtp-harness", result.version),
            ("Variants", f"{variants} case files made of the public ones" if variants else ""),
        )
    )
    return _GRADED % (known, number_of(len(asked), "file"), rows)
