"""Marks: of a grading for the staff, and the released one for whom it belongs to.

Which mark counts is said by :func:`harness.grading.records.counting`, as everywhere.
"""

from __future__ import annotations

from pydantic import BaseModel

from harness.grading.records import Marks, counting, decimal
from harness.service.api.paging import Asked, Page, find
from harness.service.courses.remarks import as_given
from harness.service.records import Override
from harness.service.storage import remarks, uploads
from harness.service.web.access import STAFF_ONLY, STUDENTS, Now, Refused, Routes
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
    """The mark of a student. Points are texts of decimal digits; null: there is no mark yet."""

    student: str
    group: str  # what was graded is of this group; empty: of the student alone
    points: str | None  # those that count
    of: str  # what could be reached
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
        found = find(db, uploads.RECEIVED_BY, ("student",), asked, grading=here.grading.id)
        keys = {one.key for one in found.rows}
        marked = {one.key: one for one in uploads.MARKS.all(db, grading=here.grading.id)}
        own = remarks.overrides(db, here.grading.assignment)
    read = {key: canonical_json.loads(Marks, marked[key].marks) for key in keys}
    items = [
        shown(one.student, one.key, read[one.key], own.get(one.student)) for one in found.rows
    ]
    return Page(items=items, next=found.next)


@ROUTES.at("GET", f"{_ALL}/mark", STUDENTS, response_model=MarkShown)
def own_mark(here: Now) -> MarkShown:
    """Show the student's mark in the grading that was released last."""
    known = here.sure()
    with here.service.database.reading() as db:
        released = uploads.released(db, known.assigned.id)
        found = uploads.mark_of(db, released.id, known.member.key) if released else None
        own = remarks.overrides(db, known.assigned.id).get(known.member.key)
    if found is None:
        raise Refused(404, "there is no mark of yours yet")
    return shown(known.member.key, found.key, canonical_json.loads(Marks, found.shown), own)


def shown(student: str, key: str, computed: Marks, own: Override | None) -> MarkShown:
    """Return a mark as the API tells it; ``key``: under which it was graded."""
    counts = counting(computed, as_given(own) if own else None)
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
