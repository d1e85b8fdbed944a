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
from harness.report.html.parts import box, facts, items, page
from harness.report.markup import escape
from harness.text import at_most, number_of, plural, some
from harness.visible import one_line

_COMMAND = 60  # characters
_LISTED = 25  # things of one kind that are named one by one
_TESTS = 8  # tests with the same remark that are named


def files(material: Material) -> Files:
    """Yield the page."""
    yield "class.html", as_file(report_page(material.result, material.notes))


def report_page(result: ClassResult, notes: Sequence[str]) -> Iterator[str]:
    """Yield the page; ``notes``: what is to be said of the sheets that were filled in."""
    return page(f"{result.assignment.title}: the class", _body(result, notes), STYLE)


def _body(result: ClassResult, notes: Sequence[str]) -> Iterator[str]:
    yield f"<h1>{escape(result.assignment.title)}: the class</h1>\n"
    yield unsafe(result.is_unsafe)
    yield _numbers(result)
    yield from _attention(result, notes)
    yield from _marks(result)
    yield from _matrix(result)
    yield from _items(result)
    yield from _submissions(result)
    yield _grading(result)


# --- at a glance -------------------------------------------------------------------------------


def _numbers(result: ClassResult) -> str:
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
    listed = "".join(
        f'<li class="{"hot" if hot and value else "cool"}"><b>{value}</b>{words}</li>'
        for value, words, hot in counts
    )
    return f'<ul class="facts">{listed}</ul>\n'


def _totals(result: ClassResult) -> list[float]:
    return [float(one.marks.total) for one in result.graded if not one.marks.withheld]


# --- what to look at first ---------------------------------------------------------------------


def _attention(result: ClassResult, notes: Sequence[str]) -> Iterator[str]:
    yield "<h2>To look at first</h2>\n"
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
    yield from shown or [box("Nothing", f"<p>{calm}</p>", "calm")]


def _listing(title: str, kind: str, lines: Iterable[str]) -> str:
    """Return a notice with a line of markup for each thing, "" if there is none."""
    listed = list(lines)
    if not listed:
        return ""
    shown = "".join(f"<li>{line}</li>" for line in at_most(listed, _LISTED))
    return box(f"{title}: {len(listed)}", f"<ul>{shown}</ul>", kind)


def _concerns(result: ClassResult) -> Iterator[str]:
    linked = {one.submission.key: _linked(one) for one in result.graded}
    for one in concerns(result):
        names = some((linked[key] for key in one.keys), _LISTED, "; ")
        yield f"{escape(one.text)}{': ' if names else ''}{names}"


def _withheld(result: ClassResult) -> Iterator[str]:
    for one in result.graded:
        if one.marks.withheld:
            yield f"{_linked(one)}: {escape(one.marks.note)}"


def _refused(result: ClassResult) -> Iterator[str]:
    for one in result.graded:
        if one.submission.refused:
            yield f"{_linked(one)}: {escape(one.submission.refused)}"


def _faults(result: ClassResult) -> Iterator[str]:
    for one in result.graded:
        for attempt in one.attempts:
            if attempt.fault:
                yield f"{_linked(one)}, {escape(attempt.case)}: {escape(attempt.fault)}"


def _near(result: ClassResult) -> Iterator[str]:
    for one in result.graded:
        for attempt in one.attempts:
            if attempt.near_limit:
                yield f"{_linked(one)}, {escape(attempt.case)}: {escape(attempt.near_limit)}"


def _flaky(result: ClassResult) -> Iterator[str]:
    for one in result.graded:
        for test in tests(own(one.attempts)):
            if test.flaky:
                yield f"{_linked(one)}: {_place(test)} <code>{_command(test.step.command)}</code>"


def _place(test: Tested) -> str:
    return f"{escape(test.attempt.case)}:{test.step.line}"


def _doubts(found: Sequence[Item]) -> str:
    """Return a notice with each remark on tests, and those that it is made of."""
    remarks: dict[str, list[str]] = {}
    for item in found:
        for remark in item.remarks:
            remarks.setdefault(remark, []).append(f"{item.case}:{item.line}")
    listed = (
        f"{remark.rstrip('.')}: {some(places, _TESTS)}" for remark, places in remarks.items()
    )
    return box("Tests to doubt", items(listed), "odd") if remarks else ""


def _suspicions(graded: Sequence[Graded]) -> str:
    rows = "".join(_suspicion(one, one.suspicion) for one in graded if one.suspicion)
    if not rows:
        return ""
    return box(
        "Public tests passed, and their images not",
        "<p>An image is the same question in another guise: turned, mirrored, colors swapped. "
        "Who has written the answers down fails it. No mark is changed by this: you decide.</p>"
        '<table><thead><tr><th>Submission</th><th class="num">Tests</th>'
        '<th class="num">Images failed</th><th class="num">Chance</th><th>Example</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>",
        "odd",
    )


def _suspicion(one: Graded, found: Suspicion) -> str:
    return (
        f'<tr><td>{_linked(one)}</td><td class="num" data-l="tests">{found.tests}</td>'
        f'<td class="num" data-l="failed">{found.failed} of {found.images}</td>'
        f'<td class="num" data-l="chance">{found.chance:.2g}</td>'
        f"<td>{escape(found.example)}</td></tr>\n"
    )


def _audited(result: ClassResult) -> str:
    """Return the notice about who answers wrongly all the same: a case file for each cause."""
    linked = {one.submission.key: _linked(one) for one in result.graded}
    rows = "".join(
        _wrong_answer(linked[one.submission], one.submission, wrong)
        for one in result.audits
        for wrong in one.wrong
    )
    if not rows:
        return ""
    wrong = sum(bool(one.wrong) for one in result.audits)
    return box(
        f"Nearly full marks, and wrong all the same: {wrong} of {len(result.audits)} audited",
        "<p>The audit asked these programs what no case file asks, and each answer below was "
        "wrong every time that it was asked. No mark is changed by this: the case files let it "
        f"pass. {_more_cases(result)}</p><table><thead><tr><th>Submission</th><th>Command</th>"
        "<th>Right</th><th>Found</th><th>Case file</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>",
        "odd",
    )


def _wrong_answer(name: str, key: str, wrong: WrongAnswer) -> str:
    file = f"{FOLDER}/{key}/{wrong.file}"
    likely = f"<br>{escape(wrong.mistakes[0])}" if wrong.mistakes else ""
    return (
        f"<tr><td>{name}</td><td><code>{_command(wrong.command)}</code>{likely}</td>"
        f"<td>{_command(wrong.right)}</td><td>{_command(wrong.found)}</td>"
        f'<td><a href="{quote(file)}">{escape(file)}</a></td></tr>\n'
    )


def _more_cases(result: ClassResult) -> str:
    """Return how cases are made that would have told."""
    paths = {one.path for graded in result.graded for one in own(graded.attempts)}
    words = ["gtp-harness", "generate", "--assignment", str(result.assignment.place), "--kill"]
    command = shlex.join([*words, *sorted(paths), "-o", "more.gtp"])
    return f"Cases that catch such mistakes and are new: <code>{escape(command)}</code>"


# --- marks -------------------------------------------------------------------------------------


def _marks(result: ClassResult) -> Iterator[str]:
    totals = _totals(result)
    if not totals:
        return
    yield "<h2>Marks</h2>\n"
    yield f'<div class="wide">{plots.histogram(totals, float(result.of))}</div>\n'
    yield (
        '<table><thead><tr><th>Part</th><th class="num">of</th><th class="num">Mean</th>'
        '<th>Share</th><th class="num">All points</th><th class="num">None</th></tr></thead>'
        "<tbody>\n"
    )
    for part in result.assignment.marks:
        yield _part(part.name, result)
    yield "</tbody></table>\n"


def _part(name: str, result: ClassResult) -> str:
    found = [
        part
        for one in result.graded
        if not one.marks.withheld
        for part in one.marks.parts
        if part.name == name
    ]
    of = max((part.of for part in found), default=Fraction(0))
    if not of:
        return ""
    reached = sum((part.points for part in found), start=Fraction(0)) / len(found)
    return (
        f'<tr><td>{escape(name)}</td><td class="num" data-l="of">{decimal(of)}</td>'
        f'<td class="num" data-l="mean">{decimal(reached)}</td>'
        f"<td>{plots.share(float(reached / of))}</td>"
        f'<td class="num" data-l="all">{sum(part.points == of for part in found)}</td>'
        f'<td class="num" data-l="none">{sum(not part.points for part in found)}</td></tr>\n'
    )


# --- tests -------------------------------------------------------------------------------------


def _matrix(result: ClassResult) -> Iterator[str]:
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
        yield f'<h2>Tests × submissions</h2>\n{plots.key()}<div class="wide">{drawn}</div>\n'


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


def _items(result: ClassResult) -> Iterator[str]:
    if not result.items:
        return
    yield (
        '<h2>Tests on trial</h2>\n<p class="dim">How well a test tells strong submissions from '
        "weak ones: the point-biserial correlation of passing it with the share of the other "
        "tests passed, from −1 to 1, with its 95 % interval. A good test is well above 0; one "
        "below 0 is passed by the weak and failed by the strong.</p>\n<table><thead><tr>"
        '<th>Test</th><th>Command</th><th class="num">Passed</th><th>Share</th>'
        '<th class="num">r</th><th>Interval</th><th>Remarks</th></tr></thead><tbody>\n'
    )
    yield from map(_item, result.items)
    yield "</tbody></table>\n"


def _item(item: Item) -> str:
    share, r = "", ""
    if item.judged:
        share = plots.share(item.passed / item.judged)
    if item.correlation is not None:
        r = plots.correlation(item.correlation, item.interval)
    value = "" if item.correlation is None else f"{item.correlation:.2f}"
    return (
        f'<tr><td class="place">{escape(item.case)}:{item.line}</td>'
        f"<td><code>{_command(item.command)}</code>"
        f'</td><td class="num" data-l="passed">{item.passed}/{item.judged}</td><td>{share}</td>'
        f'<td class="num" data-l="r">{value}</td><td>{r}</td>'
        f"<td>{escape(' '.join(item.remarks))}</td></tr>\n"
    )


def _command(text: str) -> str:
    return escape(one_line(text, _COMMAND))


# --- submissions -------------------------------------------------------------------------------


def _submissions(result: ClassResult) -> Iterator[str]:
    parts = [part.name for part in result.assignment.marks]
    heads = "".join(f'<th class="num">{escape(name)}</th>' for name in parts)
    yield (
        '<h2>Submissions</h2>\n<table><thead><tr><th>Submission</th><th class="num">Mark</th>'
        f'{heads}<th class="num">Late</th><th class="num">Failed</th><th>Remarks</th></tr>'
        "</thead><tbody>\n"
    )
    same = likes(result)
    linked = {one.submission.key: _linked(one) for one in result.graded}
    for one in result.graded:
        yield _submission(one, parts, [linked[key] for key in same.get(one.submission.key, ())])
    yield "</tbody></table>\n"


def _submission(one: Graded, parts: Sequence[str], same: Sequence[str]) -> str:
    marks, held = one.marks, one.marks.withheld
    reached = {part.name: decimal(part.points) for part in marks.parts}
    cells = "".join(
        f'<td class="num" data-l="{escape(name)}">{"" if held else reached.get(name, "")}</td>'
        for name in parts
    )
    late = f"−{decimal(marks.deduction)}" if marks.deduction and not held else ""
    total = "–" if held else f"<b>{decimal(marks.total)}</b>"
    failed = sum(test.passed is False for test in tests(own(one.attempts)))
    return (
        f'<tr><td>{_linked(one)}</td><td class="num" data-l="mark">{total}</td>{cells}'
        f'<td class="num" data-l="late">{late}</td><td class="num" data-l="failed">{failed or ""}'
        f"</td><td>{_said(one, same)}</td></tr>\n"
    )


def _said(one: Graded, same: Sequence[str]) -> str:
    """What there is to be said of a submission in a few words."""
    broken = sum(bool(a.result and a.result.failure) for a in own(one.attempts))
    said = [
        one.marks.note,
        f"broke in {number_of(broken, 'file')}" if broken else "",
        *one.submission.faults,
        "suspicion" if one.suspicion else "",
        *map(str, one.diagnoses),
    ]
    alike = [f"the same program as {', '.join(same)}"] if same else []
    return "; ".join([*(escape(text) for text in said if text), *alike])


def _linked(one: Graded) -> str:
    """Return the names of a submission's students, each linked to the page of feedback."""
    return ", ".join(
        f'<a href="feedback/{link(student.key)}">{escape(one_line(student.name))}</a>'
        for student in one.submission.students
    ) or escape(one.submission.key)


# --- how it was graded -------------------------------------------------------------------------


def _grading(result: ClassResult) -> str:
    rows = "".join(
        f"<tr><td>{escape(kind)}</td><td>{escape(name)}</td><td><code>{digest}</code></td></tr>\n"
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
    return (
        f"<h2>How it was graded</h2>\n{known}<details><summary>Case files</summary><table><thead>"
        f"<tr><th>Kind</th><th>File</th><th>SHA-256</th></tr></thead><tbody>{rows}</tbody>"
        "</table></details>"
    )
