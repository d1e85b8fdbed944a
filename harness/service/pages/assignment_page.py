"""An assignment of a course: its submissions, and submitting."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import NamedTuple

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.service.courses import own_files, roster
from harness.service.courses.extending import latest
from harness.service.handing_in import belonging, packing, taking
from harness.service.handing_in.belonging import Heap
from harness.service.pages.sent import sent
from harness.service.records import CHECK, DONE, FAULT, Job, Upload
from harness.service.storage import courses, queue, uploads
from harness.service.web import rendering
from harness.service.web.access import MEMBERS, STUDENTS, TEACHERS, Here, Now, Routes

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}"
_STATES = {"": "received", DONE: "checked", FAULT: "could not be checked: ask your teacher"}


class UploadLine(NamedTuple):
    """An upload in a list."""

    upload: Upload
    state: str  # in words
    counts: bool


@ROUTES.at("GET", _PATH, MEMBERS)
def show(here: Now) -> Response:
    """Show an assignment: to students what is theirs, to the staff what is everybody's."""
    known = here.sure()
    with here.service.database.reading() as db:
        shown = _everybodys(db, here) if here.is_staff else _own(db, here)
        key = known.member.submits_as
        given = courses.extensions(db, known.assigned.id)
        closed = taking.closed(db, known.assigned, key, datetime.datetime.now())
        is_released = uploads.released(db, known.assigned.id) is not None
        gradings = uploads.gradings(db, known.assigned.id) if here.is_staff else []
        entries = roster.students(courses.MEMBERS.all(db, course=known.course.id))
    extensions = {one.key: latest(given, (s.key for s in one.students)) for one in entries}
    own = own_files.assignment_of(here.service.settings, known.assigned)
    group = next((one.students for one in entries if one.key == key), ())
    return rendering.page(
        here,
        "assignment.html",
        crumbs(here),
        uploads=shown,
        extension=extensions.get(key, ""),
        extensions=extensions,
        students=entries if here.is_staff else [],
        group=[one.name or one.key for one in group] if len(group) > 1 else [],
        closed=closed,
        is_released=is_released,
        gradings=gradings,
        overlay=own.engine.overlay,
        has_overlay=own_files.has_overlay(here.service.settings, known.assigned),
        archive=own.archive.name,
    )


def _everybodys(db: Connection, here: Here) -> list[UploadLine]:
    assigned = here.sure().assigned
    found = uploads.UPLOADS.all(db, "key", "at", assignment=assigned.id)
    return listed(db, found, belonging.of_all(db, assigned).values())


def _own(db: Connection, here: Here) -> list[UploadLine]:
    known = here.sure()
    heap = belonging.of(db, known.assigned, known.member.submits_as)
    return listed(db, heap.seen_by(known.member.key), [heap])


def listed(db: Connection, found: list[Upload], heaps: Iterable[Heap]) -> list[UploadLine]:
    """Return uploads as a list has them; of each student or group one counts."""
    counting = belonging.counting(heaps)
    jobs = {one.id: job_of(queue.of(db, one.id)) for one in found}
    return [UploadLine(one, state(one, jobs[one.id]), one.id in counting) for one in found]


def job_of(jobs: list[Job]) -> Job | None:
    """Return the job that checks an upload."""
    return next((one for one in jobs if one.kind == CHECK), None)


def state(upload: Upload, job: Job | None) -> str:
    """Return how far an upload is, in words."""
    if upload.withdrawn:
        return "withdrawn"
    if job is None:
        return _STATES[""]
    waiting = "being checked" if upload.record else "waiting to be checked"
    return _STATES.get(job.state, waiting)


def crumbs(here: Here, last: str = "") -> list[tuple[str, str]]:
    """Return the way to a page of an assignment."""
    known = here.sure()
    course = f"/courses/{known.course.id}"
    own = f"{course}/assignments/{known.assigned.id}"
    more = [(last, "")] if last else []
    return [(known.course.title, course), (known.assigned.title, own), *more]


@ROUTES.at("POST", f"{_PATH}/uploads", STUDENTS, files=packing.MOST)
def hand_in(here: Now) -> Response:
    """Take in a submission: an archive, or a folder that is packed here."""
    known, service = here.sure(), here.service
    archive = own_files.assignment_of(service.settings, known.assigned).archive
    with sent(here, archive.folder) as found:
        name = archive.name if found.is_packed else found.name
        kept = taking.keep(service.store, found.path, name, service.settings.largest)
    with service.database.acting(here.by) as act:
        upload = taking.take(act, known.assigned, known.member, kept)
    return RedirectResponse(
        f"/courses/{known.course.id}/assignments/{known.assigned.id}/uploads/{upload.id}", 303
    )


@ROUTES.at("POST", f"{_PATH}/overlay", TEACHERS, files=packing.MOST)
def take_overlay(here: Now) -> Response:
    """Take the folder that submissions get beside them, in the place of the one before."""
    known, service = here.sure(), here.service
    with sent(here) as found, service.database.acting(here.by) as act:
        own_files.take_overlay(service.settings, known.assigned, found.path)
        act.note("course's own folder taken", known.assigned.id, name=found.name)
    return RedirectResponse(f"/courses/{known.course.id}/assignments/{known.assigned.id}", 303)
