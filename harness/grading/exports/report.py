"""The page about a class, for the teacher: what to look at first, then marks, tests, submissions.

It holds everything, private tests too. It runs no script and loads nothing; students' pages are
linked, in the folder ``feedback`` beside it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from statistics import mean, median
from urllib.parse import quote

from harness.grading.attempts.test_results import Tested, own, tests
from harness.grading.auditing.saved import FOLDER
from harness.grading.exports import plots
from harness.grading.exports.feedback import unsafe
from harness.grading.exports.material import Files, Material, as_file
from harness.grading.exports.style import STYLE
from harness.grading.marks.concerns import concerns, likes
from harness.grading.records import (
    IMAGE,
    ClassResult,
    Graded,
    Item,
    Suspicion,
    WrongAnswer,
    decimal,
)
from harness.records import Verdict
from harness.report.html.names import link
from harness.report.html.parts import Frame, box, facts, items, page
from harness.report.markup import NOTHING, Markup, escape, joined
from harness.text import at_most, more, number_of, plural, some
from harness.visible import one_line

_COMMAND = 60  # characters
_LISTED = 25  # things of one kind that are named one by one
_TESTS = 8  # tests with the same remark that are named


def files(material: Material) -> Files:
    """Yield the page."""
    yield "class.html", as_file(report_page(material.result, material.notes))


def report_page(result: ClassResult, notes: Sequence[str]) -> Iterator[Markup]:
    """Yield the page; ``notes``: what is to be said of the sheets that were filled in."""
    return page(f"{result.assignment.title}: the class", _body(result, notes), Frame(style=STYLE))


def _body(result: ClassResult, notes: Sequence[str]) -> Iterator[Markup]:
    yield Markup("<h1>%s: the class</h1>\n") % result.assignment.title
    yield unsafe(result.is_unsafe)
    yield _numbers(result)
    yield from _attention(result, notes)
    yield from _marks(result)
    yield from _matrix(result)
    yield from _items(result)
    yield from _submissions(result)
    yield _grading(result)


# --- at a glance -------------------------------------------------------------------------------


def _numbers(result: ClassResult) -> Markup:
    graded, totals = result.graded, _totals(result)
    students = sum(len(one.submission.students) for one in graded)
    counts = [
        (len(graded), plural(len(graded), "submission"), False),
        (students, plural(students, "student"), False),
        (f"{mean(totals):.2f}" if totals else "–", f"mean of {decimal(result.of)}", False),
        (f"{median(totals):.2f}" if totals else "–", "median", False),
        (sum(one.submission.refused != "" for one in graded), "refused", True),
        (sum(one.marks.deduction_reason != "" for one in graded), "late", False),
        (sum(one.marks.withheld for one in graded), "withheld", True),
        (sum(one.suspicion is not None for one in graded), "suspicions", True),
    ]
    listed = joined(
        Markup('<li class="%s"><b>%s</b>%s</li>')
        % ("hot" if hot and value else "cool", value, words)
        for value, words, hot in counts
    )
    return Markup('<ul class="facts">%s</ul>\n') % listed


def _totals(result: ClassResult) -> list[float]:
    return [float(one.marks.total) for one in result.graded if not one.marks.withheld]


# --- what to look at first ---------------------------------------------------------------------


def _attention(result: ClassResult, notes: Sequence[str]) -> Iterator[Markup]:
    yield Markup("<h2>To look at first</h2>\n")
    sections = (
        _listing("Concerns several submissions", "", _concerns(result)),
        _listing("Marks withheld: there is no number for them anywhere", "", _withheld(result)),
        _suspicions(result.graded),
        _audited(result),
        _listing("Refused, or nothing handed in", "warn", _refused(result)),
        _listing("The harness broke: it costs nobody a mark", "warn", _faults(result)),
        _listing("Flaky tests: their verdict changed between runs", "odd", _flaky(result)),
        _listing("Limits nearly or just hit", "warn", _near(result)),
        _doubts(result.items),
        _listing("Sheets that were filled in", "warn", map(escape, notes)),
    )
    shown = [section for section in sections if section]
    calm = "All went as it should." if result.graded else "No submission was graded."
    yield from shown or [box("Nothing", Markup("<p>%s</p>") % calm, "calm")]


def _listing(title: str, kind: str, lines: Iterable[str | Markup]) -> Markup:
    """Return a notice with a line of markup for each thing, "" if there is none."""
    listed = list(lines)
    if not listed:
        return NOTHING
    shown = joined(Markup("<li>%s</li>") % line for line in at_most(listed, _LISTED))
    return box(f"{title}: {len(listed)}", Markup("<ul>%s</ul>") % shown, kind)


_ATTEMPT = Markup("%s, %s: %s")


def _some(names: Sequence[Markup]) -> Markup:
    """Return the first names in one, and how many others there are."""
    return Markup("; ").join(names[:_LISTED]) + more(len(names) - _LISTED, " and {} more")


def _concerns(result: ClassResult) -> Iterator[Markup]:
    linked = {one.submission.key: _linked(one) for one in result.graded}
    for one in concerns(result):
        names = _some([linked[key] for key in one.keys])
        yield joined((one.text, ": " if names else "", names))


def _withheld(result: ClassResult) -> Iterator[Markup]:
    for one in result.graded:
        if one.marks.withheld:
            yield Markup("%s: %s") % (_linked(one), one.marks.note)


def _refused(result: ClassResult) -> Iterator[Markup]:
    for one in result.graded:
        if one.submission.refused:
            yield Markup("%s: %s") % (_linked(one), one.submission.refused)


def _faults(result: ClassResult) -> Iterator[Markup]:
    for one in result.graded:
        for attempt in one.attempts:
            if attempt.fault:
                yield _ATTEMPT % (_linked(one), attempt.case, attempt.fault)


def _near(result: ClassResult) -> Iterator[Markup]:
    for one in result.graded:
        for attempt in one.attempts:
            if attempt.near_limit:
                yield _ATTEMPT % (_linked(one), attempt.case, attempt.near_limit)


def _flaky(result: ClassResult) -> Iterator[Markup]:
    for one in result.graded:
        for test in tests(own(one.attempts)):
            if test.flaky:
                yield Markup("%s: %s <code>%s</code>") % (
                    _linked(one),
                    _place(test),
                    _command(test.step.command),
                )


def _place(test: Tested) -> Markup:
    return Markup("%s:%s") % (test.attempt.case, test.step.line)


def _doubts(found: Sequence[Item]) -> Markup:
    """Return a notice with each remark on tests, and those that it is made of."""
    remarks: dict[str, list[str]] = {}
    for item in found:
        for remark in item.remarks:
            remarks.setdefault(remark, []).append(f"{item.case}:{item.line}")
    listed = (
        f"{remark.rstrip('.')}: {some(places, _TESTS)}" for remark, places in remarks.items()
    )
    return box("Tests to doubt", items(listed), "odd") if remarks else NOTHING


def _suspicions(graded: Sequence[Graded]) -> Markup:
    rows = joined(_suspicion(one, one.suspicion) for one in graded if one.suspicion)
    if not rows:
        return NOTHING
    return box(
        "Public tests passed, and their images not",
        Markup(
            "<p>An image is the same question in another guise: turned, mirrored, colors "
            "swapped. Who has written the answers down fails it. No mark is changed by this: you "
            "decide.</p>"
            '<table><thead><tr><th>Submission</th><th class="num">Tests</th>'
            '<th class="num">Images failed</th><th class="num">Chance</th><th>Example</th>'
            "</tr></thead><tbody>%s</tbody></table>"
        )
        % rows,
        "odd",
    )


def _suspicion(one: Graded, found: Suspicion) -> Markup:
    return Markup(
        '<tr><td>%s</td><td class="num" data-l="tests">%s</td>'
        '<td class="num" data-l="failed">%s of %s</td><td class="num" data-l="chance">'
        "%s</td><td>%s</td></tr>\n"
    ) % (
        _linked(one),
        found.tests,
        found.failed,
        found.images,
        f"{found.chance:.2g}",
        found.example,
    )


_AUDITED = Markup(
    "<p>The audit asked these programs what no case file asks, and each answer below was "
    "wrong every time that it was asked. No mark is changed by this: the case files let it "
    "pass. %s</p><table><thead><tr><th>Submission</th><th>Command</th><th>Right</th>"
    "<th>Found</th><th>Case file</th></tr></thead><tbody>%s</tbody></table>"
)


def _audited(result: ClassResult) -> Markup:
    """Return the notice about who still answers wrongly: a case file for each cause."""
    linked = {one.submission.key: _linked(one) for one in result.graded}
    rows = joined(
        _wrong_answer(linked[one.submission], one.submission, wrong)
        for one in result.audits
        for wrong in one.wrong
    )
    if not rows:
        return NOTHING
    wrong = sum(bool(one.wrong) for one in result.audits)
    title = f"Nearly full marks, but wrong answers: {wrong} of {len(result.audits)} audited"
    return box(title, _AUDITED % (_more_cases(result), rows), "odd")


def _wrong_answer(name: Markup, key: str, wrong: WrongAnswer) -> Markup:
    file = f"{FOLDER}/{key}/{wrong.file}"
    likely = Markup("<br>%s") % wrong.mistakes[0] if wrong.mistakes else NOTHING
    command = Markup("<code>%s</code>%s") % (_command(wrong.command), likely)
    link = Markup('<a href="%s">%s</a>') % (quote(file), file)
    cells = (name, command, _command(wrong.right), _command(wrong.found), link)
    return Markup("<tr>%s</tr>\n") % joined(Markup("<td>%s</td>") % cell for cell in cells)


def _more_cases(result: ClassResult) -> Markup:
    """Return how cases are made that would have told."""
    paths = {one.path for graded in result.graded for one in own(graded.attempts)}
    words = ["gtp-harness", "generate", "--assignment", str(result.assignment.place), "--kill"]
    command = shlex.join([*words, *sorted(paths), "-o", "more.gtp"])
    return Markup("Cases that catch such mistakes and are new: <code>%s</code>") % command


# --- marks -------------------------------------------------------------------------------------


def _marks(result: ClassResult) -> Iterator[Markup]:
    totals = _totals(result)
    if not totals:
        return
    yield Markup("<h2>Marks</h2>\n")
    yield Markup('<div class="wide" tabindex="0">%s</div>\n') % (
        plots.histogram(totals, float(result.of)),
    )
    yield (
        Markup(
            '<table><thead><tr><th>Part</th><th class="num">of</th><th class="num">'
            'Mean</th><th>Share</th><th class="num">All points</th><th class="num">'
            "None</th></tr></thead><tbody>\n"
        )
    )
    for part in result.assignment.marks:
        yield _part(part.name, result)
    yield Markup("</tbody></table>\n")


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
    return Markup(
        '<tr><td>%s</td><td class="num" data-l="of">%s</td>'
        '<td class="num" data-l="mean">%s</td><td>%s</td><td class="num" data-l="all">'
        '%s</td><td class="num" data-l="none">%s</td></tr>\n'
    ) % (
        name,
        decimal(of),
        decimal(reached),
        plots.share(float(reached / of)),
        sum(part.points == of for part in found),
        sum(not part.points for part in found),
    )


# --- tests -------------------------------------------------------------------------------------


def _matrix(result: ClassResult) -> Iterator[Markup]:
    ordered = sorted(result.graded, key=lambda one: (-one.marks.total, one.submission.key))
    known = [{test.key: test for test in tests(own(one.attempts))} for one in ordered]
    rows = [
        plots.Row(
            f"{item.case}",
            f"{item.case}:{item.line} {one_line(item.command, _COMMAND)}: {_passed(item)}",
            tuple(_cell(of.get((item.kind, item.case, item.line))) for of in known),
        )
        for item in result.items
    ]
    if drawn := plots.matrix(rows, len(ordered)):
        yield Markup(
            '<h2>Tests × submissions</h2>\n%s<div class="wide" tabindex="0">%s</div>\n'
        ) % (
            plots.key(),
            drawn,
        )


def _passed(item: Item) -> str:
    return f"{item.passed} of {item.judged} passed"


def _cell(test: Tested | None) -> str:
    if test is None:
        return ""
    if test.passed is None:
        return plots.UNSURE
    if test.verdict is Verdict.NOT_RUN:
        return plots.LOST
    return plots.PASSED if test.passed else plots.FAILED


def _items(result: ClassResult) -> Iterator[Markup]:
    if not result.items:
        return
    yield (
        Markup(
            '<h2>Tests on trial</h2>\n<p class="sub">How well a test tells strong submissions '
            "from weak ones: the point-biserial correlation of passing it with the share of the "
            "other tests passed, from −1 to 1, with its 95 % interval. A good test is well above "
            "0; one below 0 is passed by the weak and failed by the strong.</p>"
            '\n<table><thead><tr><th>Test</th><th>Command</th><th class="num">Passed</th>'
            '<th>Share</th><th class="num">r</th><th>Interval</th><th>Remarks</th></tr>'
            "</thead><tbody>\n"
        )
    )
    yield from map(_item, result.items)
    yield Markup("</tbody></table>\n")


def _item(item: Item) -> Markup:
    share, r = "", ""
    if item.judged:
        share = plots.share(item.passed / item.judged)
    if item.correlation is not None:
        r = plots.correlation(item.correlation, item.interval)
    value = "" if item.correlation is None else f"{item.correlation:.2f}"
    return Markup(
        '<tr><td class="place">%s:%s</td><td><code>%s</code></td>'
        '<td class="num" data-l="passed">%s/%s</td><td>%s</td>'
        '<td class="num" data-l="r">%s</td><td>%s</td><td>%s</td></tr>\n'
    ) % (
        item.case,
        item.line,
        _command(item.command),
        item.passed,
        item.judged,
        share,
        value,
        r,
        " ".join(item.remarks),
    )


def _command(text: str) -> Markup:
    return escape(one_line(text, _COMMAND))


# --- submissions -------------------------------------------------------------------------------


def _submissions(result: ClassResult) -> Iterator[Markup]:
    parts = [part.name for part in result.assignment.marks]
    heads = joined(Markup('<th class="num">%s</th>') % name for name in parts)
    yield (
        Markup(
            '<h2>Submissions</h2>\n<table><thead><tr><th>Submission</th><th class="num">'
            'Mark</th>%s<th class="num">Late</th><th class="num">Failed</th><th>'
            "Remarks</th></tr></thead><tbody>\n"
        )
        % heads
    )
    same = likes(result)
    linked = {one.submission.key: _linked(one) for one in result.graded}
    for one in result.graded:
        yield _submission(one, parts, [linked[key] for key in same.get(one.submission.key, ())])
    yield Markup("</tbody></table>\n")


def _submission(one: Graded, parts: Sequence[str], same: Sequence[Markup]) -> Markup:
    marks, held = one.marks, one.marks.withheld
    reached = {part.name: decimal(part.points) for part in marks.parts}
    cells = joined(
        Markup('<td class="num" data-l="%s">%s</td>')
        % (name, "" if held else reached.get(name, ""))
        for name in parts
    )
    late = f"−{decimal(marks.deduction)}" if marks.deduction and not held else NOTHING
    total = "–" if held else Markup("<b>%s</b>") % decimal(marks.total)
    failed = sum(test.passed is False for test in tests(own(one.attempts)))
    return Markup(
        '<tr><td>%s</td><td class="num" data-l="mark">%s</td>'
        '%s<td class="num" data-l="late">%s</td><td class="num" data-l="failed">%s</td>'
        "<td>%s</td></tr>\n"
    ) % (_linked(one), total, cells, late, failed or "", _said(one, same))


def _said(one: Graded, same: Sequence[Markup]) -> Markup:
    """What there is to be said of a submission in a few words."""
    broken = sum(bool(a.result and a.result.failure) for a in own(one.attempts))
    said = [
        one.marks.note,
        f"broke in {number_of(broken, 'file')}" if broken else "",
        *one.submission.faults,
        "suspicion" if one.suspicion else "",
        *map(str, one.diagnoses),
    ]
    alike = [Markup("the same program as %s") % Markup(", ").join(same)] if same else []
    return Markup("; ").join([*(text for text in said if text), *alike])


def _linked(one: Graded) -> Markup:
    """Return the names of a submission's students, each linked to the page of feedback."""
    return Markup(", ").join(
        Markup('<a href="feedback/%s">%s</a>') % (link(student.key), one_line(student.name))
        for student in one.submission.students
    ) or escape(one.submission.key)


# --- how it was graded -------------------------------------------------------------------------


def _grading(result: ClassResult) -> Markup:
    rows = joined(
        Markup("<tr><td>%s</td><td>%s</td><td><code>%s</code></td></tr>\n") % (kind, name, digest)
        for kind, name, digest in result.cases
        if kind != IMAGE
    )
    images = sum(kind == IMAGE for kind, _, _ in result.cases)
    known = facts(
        (
            ("Assignment", result.assignment.key),
            ("Started", result.started),
            ("Sandbox", result.sandbox),
            ("Engines' Python", result.python),
            ("gtp-harness", result.version),
            ("Images", f"{images} case files made of the public ones" if images else ""),
        )
    )
    return Markup(
        "<h2>How it was graded</h2>\n%s<details><summary>Case files</summary><table>"
        "<thead><tr><th>Kind</th><th>File</th><th>SHA-256</th></tr></thead><tbody>"
        "%s</tbody></table></details>"
    ) % (known, rows)
