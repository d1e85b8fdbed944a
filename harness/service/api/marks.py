"""Marks: of a grading for the staff, and the released one for whom it belongs to.

Which mark counts is said by :func:`harness.grading.records.counting_mark`, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel
from sqlalchemy import Connection

from harness.grading.records import Marks, counting_mark, decimal
from harness.service.api.paging import Asked, Page, cut
from harness.service.courses import gradings
from harness.service.courses.gradings import as_given
from harness.service.records import Grading, Override
from harness.service.storage import uploads
from harness.service.web.access import Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rules import STAFF_ONLY, STUDENTS
from harness.work import canonical_json

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["marks"])
_ALL = "/courses/{course}/assignments/{assignment}"


class PartShown(BaseModel):
    """A part of a computed mark."""

    name: str
    points: str  # decimal digits
    of: str
    reason: str
    is_complete: bool  # false: something could not be judged, and does not count


class MarkShown(BaseModel):
    """The mark of a student. Points are texts of decimal digits; null: there is no mark yet.

    A student who joined the course or a group since has none: the reason says so.
    """

    student: str
    group: str  # whose work was graded; empty for a student alone
    points: str | None  # those that count
    of: str | None  # what could be reached
    computed: str | None
    is_given: bool  # a person gave a mark instead of the computed one
    reason: str  # of that person, or what the harness says of the computed mark
    deduction: str  # of the computed mark, for being late
    parts: list[PartShown]  # of the computed mark


@ROUTES.at("GET", f"{_ALL}/gradings/{{grading}}/marks", STAFF_ONLY, response_model=Page[MarkShown])
def listed(here: Now, asked: Asked) -> Page[MarkShown]:
    """List the marks of a grading by the keys of students, with those that count now."""
    assert here.grading
    with here.service.database.reading() as db:
        found = [*_list_marked(db, here.grading), *_list_unmarked(db, here)]
    return cut(sorted(found, key=lambda one: one.student), lambda one: one.student, asked)


def _list_marked(db: Connection, one: Grading) -> Iterator[MarkShown]:
    got = uploads.RECEIVED_BY.all(db, grading=one.id)
    rows = uploads.MARKS.all(db, grading=one.id)
    computed = {row.key: canonical_json.loads(Marks, row.marks) for row in rows}
    own = uploads.overrides(db, one.assignment)
    for each in got:
        yield describe_mark(each.student, each.key, computed[each.key], own.get(each.student))


def _list_unmarked(db: Connection, here: Here) -> Iterator[MarkShown]:
    assert here.grading
    for each in gradings.list_unmarked(db, here.grading, here.sure().course.id):
        yield MarkShown(
            student=each.member.key,
            group=each.member.team,
            points=None,
            of=None,
            computed=None,
            is_given=False,
            reason=each.why,
            deduction="0",
            parts=[],
        )


@ROUTES.at("GET", f"{_ALL}/mark", STUDENTS, response_model=MarkShown)
def own_mark(here: Now) -> MarkShown:
    """Show the student's mark in the grading that was released last."""
    known = here.sure()
    with here.service.database.reading() as db:
        released = uploads.find_released(db, known.assigned.id)
        found = uploads.mark_of(db, released.id, known.member.key) if released else None
        own = uploads.overrides(db, known.assigned.id).get(known.member.key)
    if found is None:
        raise Refused(404, "there is no mark of yours yet")
    return describe_mark(
        known.member.key, found.key, canonical_json.loads(Marks, found.shown), own
    )


def describe_mark(student: str, key: str, computed: Marks, own: Override | None) -> MarkShown:
    """Return a mark as the API tells it; ``key``: under which it was graded."""
    counts = counting_mark(computed, as_given(own) if own else None)
    return MarkShown(
        student=student,
        group=key if key != student else "",
        points=_points(counts),
        of=decimal(computed.of),
        computed=_points(computed),
        is_given=own is not None,
        reason=own.reason if own else computed.note,
        deduction=decimal(computed.deduction),
        parts=[
            PartShown(
                name=one.name,
                points=decimal(one.points),
                of=decimal(one.of),
                reason=one.reason,
                is_complete=one.complete,
            )
            for one in ([] if computed.withheld else computed.parts)
        ],
    )


def _points(marks: Marks) -> str | None:
    return None if marks.withheld else decimal(marks.total)
