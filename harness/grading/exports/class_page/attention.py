"""Sections for the teacher: shared problems, withheld marks, and suspicious tests."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from types import SimpleNamespace
from urllib import parse

from harness.core.records import CaseFile
from harness.core.text import count_rest, number_of, one_line, some
from harness.grading import records
from harness.grading.auditing.audit import FOLDER
from harness.grading.exports.class_page.parts import ClassOverview, file_anchor, link_names
from harness.grading.marks import findings
from harness.grading.marks.marking import own, quote
from harness.reading.expectation import in_words
from harness.report.html.parts import NOTHING
from harness.report.html.templates import Markup, Template

_EXPECTED, _ANSWER = 60, 40  # characters
_ANSWERS = 3  # wrong ones that are named, of a test
_template = Template("grading/exports/class_page/attention.html")
_trial = Template("grading/exports/class_page/trial.html")

Key = tuple[str, str, int]  # kind, case file, line


def suspects_section(overview: ClassOverview) -> Markup | str:
    """Return the section, folded, with the case files; nothing where no test was run."""
    items, places = overview.result.items, overview.places
    if not items:
        return ""
    keys = [(item.kind, item.case, item.line) for item in items]
    cases: dict[tuple[str, str], CaseFile] = {}
    expected: dict[Key, str] = {}
    wrong: dict[Key, Counter[str]] = {key: Counter() for key in keys}
    for test in chain.from_iterable(overview.tests.values()):
        key = test.key
        if key not in expected:
            assert test.attempt.result is not None
            cases.setdefault(key[:2], test.attempt.result.case)
            expected[key] = in_words(test.step.pattern)
        if test.passed is False and key in wrong:
            wrong[key][one_line(quote(test.reply), _ANSWER)] += 1
    rows = [
        SimpleNamespace(
            item=item,
            place=places.test(key),
            address=places.line(*key),
            expected=one_line(expected.get(key, ""), _EXPECTED),
            answers=some((f"{a} × {n}" for a, n in wrong[key].most_common()), _ANSWERS),
        )
        for item, key in zip(items, keys, strict=True)
    ]
    tests = {key: (places.line(*key), places.test(key)) for key in keys}
    texts = [
        SimpleNamespace(
            kind=kind,
            case=case,
            count=sum(key[:2] == (kind, case) for key in keys),
            lines=[  # with the names of the line and of the test's row, if it is a test
                (line, *tests.get((kind, case, number), ("", "")))
                for number, line in enumerate(file.lines, 1)
            ],
        )
        for (kind, case), file in cases.items()
    ]
    return _trial.section(rows, texts)


# --- The first section for the teacher: shared problems, withheld marks, doubts ------------------


_COMMAND = 60  # characters
_LISTED = 25  # things of one kind that are named one by one
_TESTS = 8  # tests with the same remark that are named

_EVERYBODY = "What happens to everybody is rarely everybody's fault."


def section(overview: ClassOverview, notes: Sequence[str]) -> tuple[Markup, Markup]:
    """Return the section, with a point for each thing to look at, and a link with their number.

    ``notes``: of the sheets. The link is empty without points.
    """
    result = overview.result
    withheld = ((one, one.marks.note) for one in result.graded if one.marks.withheld)
    refused = ((one, one.submission.refused) for one in result.graded if one.submission.refused)
    overrides = _list_overrides(result)
    # They know the answers by heart.
    suspected = [(link_names(one), one.suspicion) for one in result.graded if one.suspicion]
    found = (
        *_concerns(overview),
        _listing("w", "withheld: it is nowhere written as a number", "mark", _lines(withheld)),
        _listing("w", "without a mark yet", "student", map(str, result.unmarked)),
        _listing("w", "given by a person instead of the computed one", "mark", overrides),
        _listing("w", "of the harness, which cost no marks", "error", _attempts(result, "fault")),
        _template.suspicions(suspected) if suspected else NOTHING,
        _audit_point(overview),
        _listing("f", "refused, or without a file", "submission", _lines(refused)),
        _listing("w", "whose verdict changed between runs", "flaky test", _flaky(overview)),
        _listing("w", "nearly or just hit", "limit", _attempts(result, "near_limit")),
        _listing("x", "on tests to doubt", "remark", _doubts(overview)),
        _listing("w", "on sheets that were filled in", "note", notes),
    )
    points = [one for one in found if one]
    calm = "All went as it should." if result.graded else "No submission was graded."
    status = _template.status(len(points)) if points else NOTHING
    return _template.section(points, calm), status


def _listing(kind: str, rest: str, noun: str, lines: Iterable[str]) -> Markup:
    """Return a point with a line for each thing, or "" without things."""
    listed = list(lines)
    if not listed:
        return NOTHING
    title = f"{number_of(len(listed), noun)} {rest}"
    left = count_rest(len(listed) - _LISTED)
    return _template.listing(kind, title, listed[:_LISTED], left)


def _concerns(overview: ClassOverview) -> Iterator[Markup]:
    for one in findings.concerns(overview.result):
        kind = "f" if one.kind in (findings.DEAD_ALIKE, findings.FOREIGN_OVERLAY) else "w"
        title = one.text[:1].upper() + one.text[1:]
        about = [link_names(overview.graded[key]) for key in one.keys[:_LISTED]]
        rest = count_rest(len(one.keys) - _LISTED, " and {} more")
        hint = _EVERYBODY if one.kind in (findings.NO_POINTS, findings.FOREIGN_OVERLAY) else ""
        yield _template.concern(kind, title, about, rest, hint)


def _lines(remarks: Iterable[tuple[records.Graded, str]]) -> Iterator[Markup]:
    return (_template.line(link_names(one), told) for one, told in remarks)


def _list_overrides(result: records.ClassResult) -> Iterator[Markup]:
    for one in result.graded:
        was = "no mark" if one.marks.withheld else str(one.marks)
        for student in one.submission.students:
            if given := result.get_given_mark(student):
                points = records.decimal(given.points)
                told = f"{student.name}: {points} instead of {was}: {given.reason}"
                yield _template.line(link_names(one), told)


def _attempts(result: records.ClassResult, field: str) -> Iterator[Markup]:
    """Yield what attempts have in a field, with a link to each."""
    for one in result.graded:
        for attempt in one.attempts:
            if told := getattr(attempt, field):
                place = file_anchor(one, attempt.kind, attempt.case)
                yield _template.file_line(link_names(one, place), attempt.case, told)


def _flaky(overview: ClassOverview) -> Iterator[Markup]:
    for key, one in overview.graded.items():
        for test in overview.tests[key]:
            if test.flaky:
                kind, case, line = test.key
                names = link_names(one, file_anchor(one, kind, case))
                command = one_line(test.step.command, _COMMAND)
                yield _template.test_line(names, f"{case}:{line}", command)


def _doubts(overview: ClassOverview) -> Iterator[Markup]:
    """Yield each remark on tests, and those that it is made of."""
    remarks: dict[str, list[records.Item]] = {}
    for item in overview.result.items:
        for remark in item.remarks:
            remarks.setdefault(remark, []).append(item)
    for remark, found in remarks.items():
        tests = [
            (overview.places.test((one.kind, one.case, one.line)), f"{one.case}:{one.line}")
            for one in found[:_TESTS]
        ]
        rest = count_rest(len(found) - _TESTS, " and {} more")
        yield _template.doubt(remark.rstrip("."), tests, rest)


def _audit_point(overview: ClassOverview) -> Markup:
    """Return the point about who still answers wrongly: a case file for each cause."""
    result = overview.result
    wrong = [
        (link_names(overview.graded[one.submission]), answer, file, parse.quote(file))
        for one in result.audits
        for answer in one.wrong
        for file in [f"{FOLDER}/{one.submission}/{answer.file}"]
    ]
    if not wrong:
        return NOTHING
    count = sum(bool(one.wrong) for one in result.audits)
    title = f"Nearly full marks, but wrong answers: {count} of {len(result.audits)} audited"
    paths = {one.path for graded in result.graded for one in own(graded.attempts)}
    words = ["gtp-harness", "generate", "--assignment", str(result.assignment.place), "--kill"]
    command = shlex.join([*words, *sorted(paths), "-o", "more.gtp"])
    return _template.audit(title, command, wrong)
