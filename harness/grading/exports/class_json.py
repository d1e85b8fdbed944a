"""A grading as JSON, for programs of the teacher: it has everything.

The document is an object with these members (version 1; members may be added, and then the
version stays; whatever else changes makes it 2). *Points* are ``{"exact": "10/3", "rounded":
3.33}``::

    schema      "gtp-harness/class", and version: 1
    assignment  {key, title, of (points)}
    harness     its version; sandbox, in words; started (ISO 8601, UTC)
    python      that ran the engines, or the adapter, in words; "" if none did
    cases       [{kind, name, sha256}]; kind is "public", "private" or "image"
    items       [{kind, case, line, command, judged, passed, correlation, interval, remarks}]; of
                each test: on how many submissions it was judged and passed; the point-biserial
                correlation with the share of the other tests passed and its 95 % interval, or
                null
    concerns    [{kind, text, submissions (keys)}]: what concerns several submissions; kind is
                "no points", "nobody passes", "dead alike", "foreign overlay" or
                "same"
    audits      [{submission (key), seconds, conversations, unsure, trouble, wrong}]; of each that
                was audited; wrong is [{file, command, kind, right, found, mistakes}]
    given       [{student (key), total, reason}]: marks that people gave instead of computed ones
    submissions in the order of their keys:
      key, students [{key, name, ids {kind: number}}]
      file      {name, sha256, time (local, ISO 8601, or null), late}
      refused   why there is nothing to grade, or ""; faults, remarks, forbidden (files)
      log       {present, transcript, unpacked, ran, receipt, remarks}
      marks     {withheld, note, total, of, deduction, deduction_reason, parts}; the first two
                of the points are null while a mark is withheld
        parts     [{name, points, of, reason, complete}]
      build     null, or {ok, message, output}
      suspicion null, or {tests, images, failed, chance, example}
      diagnoses [{failures (explained), total, text}]
      attempts  in the order of the case files:
        kind, case, near_limit, fault; flaky: lines of commands whose verdict changed
        result    null, or what ``run --json`` says of a file
"""

from collections.abc import Iterator
from fractions import Fraction

from harness.core.text import encode_without_surrogates
from harness.grading.exports.exporters import Files, Material
from harness.grading.marks.findings import concerns
from harness.grading.records import Attempt, ClassResult, Graded, decimal
from harness.report.json import file_parts, open_object, with_list
from harness.report.tally import tally

SCHEMA, VERSION = "gtp-harness/class", 1


def files(material: Material) -> Files:
    """Yield the document."""
    yield "class.json", encode_without_surrogates("".join(parts(material.result)))


def parts(result: ClassResult) -> Iterator[str]:
    """Yield the document, for :func:`~harness.core.text.encode_without_surrogates`."""
    yield from with_list(_head(result), "submissions", map(_submission, result.graded))
    yield "\n"


def _head(result: ClassResult) -> dict[str, object]:
    kinds = ("kind", "name", "sha256")
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "assignment": {
            "key": result.assignment.key,
            "title": result.assignment.title,
            "of": _points(result.of),
        },
        "harness": result.version,
        "sandbox": result.sandbox,
        "python": result.python,
        "started": result.started,
        "cases": [dict(zip(kinds, case, strict=True)) for case in result.cases],
        "items": [item._asdict() for item in result.items],
        "audits": [
            {
                "submission": one.submission,
                "seconds": one.seconds,
                "conversations": one.conversations,
                "unsure": one.unsure,
                "trouble": one.trouble,
                "wrong": [wrong._asdict() for wrong in one.wrong],
            }
            for one in result.audits
        ],
        "given": [
            {"student": one.student, "total": _points(one.points), "reason": one.reason}
            for one in result.given
        ],
        "concerns": [
            {"kind": one.kind, "text": one.text, "submissions": one.keys}
            for one in concerns(result)
        ],
    }


def _points(value: Fraction) -> dict[str, object]:
    return {"exact": str(value), "rounded": float(decimal(value))}


def _submission(graded: Graded) -> Iterator[str]:
    one, marks = graded.submission, graded.marks
    members: dict[str, object] = {
        "key": one.key,
        "students": [s._asdict() | {"ids": dict(s.ids)} for s in one.students],
        "file": {
            "name": one.name,
            "sha256": one.sha256,
            "time": one.time.isoformat() if one.time else None,
            "late": one.late,
        },
        "refused": one.refused,
        "faults": one.faults,
        "remarks": one.remarks,
        "forbidden": one.forbidden,
        "log": one.log._asdict(),
        "marks": {
            "withheld": marks.withheld,
            "note": marks.note,
            "total": None if marks.withheld else _points(marks.total),
            "of": _points(marks.of),
            "deduction": None if marks.withheld else _points(marks.deduction),
            "deduction_reason": marks.deduction_reason,
            "parts": [
                part._asdict() | {"points": _points(part.points), "of": _points(part.of)}
                for part in (() if marks.withheld else marks.parts)
            ],
        },
        "build": graded.build._asdict() if graded.build else None,
        "suspicion": graded.suspicion._asdict() if graded.suspicion else None,
        "diagnoses": [
            {"failures": one.failures, "total": one.total, "text": str(one)}
            for one in graded.diagnoses
        ],
    }
    yield from with_list(members, "attempts", map(_attempt, graded.attempts))


def _attempt(attempt: Attempt) -> Iterator[str]:
    result = attempt.result
    steps = result.case.steps if result else ()
    members: dict[str, object] = {
        "kind": attempt.kind,
        "case": attempt.case,
        "near_limit": attempt.near_limit,
        "fault": attempt.fault,
        "flaky": [steps[step].line for step in attempt.flaky],
    }
    yield f'{open_object(members)},\n"result": '
    yield from file_parts(result, tally(result)) if result else ("null",)
    yield "}"
