"""An assignment of a course: its submissions, submitting, and where each student stands."""

from __future__ import annotations

import datetime
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.grading.records import StudentSubmissions
from harness.report.html.parts import choices
from harness.service.courses import gradings, making, own_files, roster, submissions
from harness.service.courses.deadlines import (
    describe_late,
    latest_deadline,
    list_dates,
    list_dates_for_staff,
    load_rule,
    warn_late,
)
from harness.service.courses.submissions import MAY_COUNT, SubmissionHistory, refusal
from harness.service.jobs import checklist, previews, private_cases, wrong_expectations
from harness.service.pages import forms
from harness.service.pages.forms import receive_files, upload_state
from harness.service.records import FAULT, CourseAssignment, Job, Upload
from harness.service.storage import courses, queue, uploads
from harness.service.web import rendering
from harness.service.web.access import Context, Form, Routes
from harness.service.web.request_context import MEMBERS, STUDENTS, TEACHERS, RequestContext

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}"


class UploadLine(NamedTuple):
    """An upload in a list."""

    upload: Upload
    state: str  # in words
    place: str  # what a grading would do with it; "" if it is withdrawn
    refused: str  # why
    late: str = ""  # how late, and what that costs; empty if in time


@ROUTES.at("GET", _PATH, MEMBERS)
def show(context: Context) -> Response:
    """Show an assignment: to students what is theirs, to the staff what is everybody's."""
    return _to_staff(context) if context.is_staff else _to_student(context)


def _to_student(context: RequestContext) -> Response:
    known = context.require()
    with context.service.database.reading() as db:
        history = submissions.history_of(db, known.assigned, known.member.submits_as)
        rule = load_rule(db, known.assigned, known.member.submits_as)
        shown = list_uploads(db, history.seen_by(known.member.key), [history], rule)
        group = courses.submitting_as(db, known.course.id, known.member.submits_as)
        extensions = courses.extensions(db, known.assigned.id)
        key = known.member.submits_as
        now = datetime.datetime.now()
        closed = submissions.explain_closed(db, known.assigned, key, now)
        is_released = uploads.find_released(db, known.assigned.id) is not None
    return rendering.page(
        context,
        "assignment.html",
        crumbs(context),
        uploads=shown,
        dates=list_dates(
            known.assigned, rule, latest_deadline(extensions, (one.key for one in group))
        ),
        group=[one.name or one.key for one in group] if len(group) > 1 else [],
        closed=closed,
        warning=warn_late(rule, now.timestamp(), history.last),
        is_before=submissions.is_before(known.assigned, now),
        is_released=is_released,
        archive=own_files.assignment_of(context.service.settings, known.assigned).archive.name,
        once=secrets.token_hex(32),
        preparing=bool(own_files.list_missing(context.service.settings, known.assigned)),
    )


def _to_staff(context: RequestContext) -> Response:
    known, settings = context.require(), context.service.settings
    with context.service.database.reading() as db:
        standings = standings_of_all(db, known.assigned)
        setup = checklist.load(db, settings, known.assigned)
        begun = uploads.gradings(db, known.assigned.id)
        states = {one.id: gradings.state(db, one) for one in begun}
        decisions = {one.id: gradings.list_decisions(db, one) for one in begun}
    measured = private_cases.load_measured(settings, known.assigned)
    return rendering.page(
        context,
        "assignment_staff.html",
        crumbs(context),
        dates=list_dates_for_staff(known.assigned, making.late(known.assigned, {})),
        standings=standings,
        choices=choices(list_choices(standings)),
        gradings=begun,
        doubts=wrong_expectations.find(settings, known.assigned, measured),
        unchecked=wrong_expectations.explain_unchecked(context.service.database, measured),
        still_left_out=previews.still_left_out(settings, known.assigned),
        states=states,
        decisions=decisions,
        is_uploaded=known.assigned.source == own_files.OWN,
        editions=own_files.editions(settings, known.assigned),
        overlay=own_files.assignment_of(settings, known.assigned).engine.overlay,
        has_overlay=own_files.has_overlay(settings, known.assigned),
        setup=setup,
    )


def list_uploads(
    db: Connection, found: list[Upload], histories: Iterable[SubmissionHistory], rule: Late
) -> list[UploadLine]:
    """Return uploads as a list has them; of each student or group one counts at most.

    ``rule``: the dates of whose uploads they are.
    """
    places = submissions.places(histories)
    jobs = queue.checks(db, about=[one.id for one in found])
    return [
        UploadLine(
            one,
            upload_state(one, jobs.get(one.id)),
            places.get(one.id, ""),
            refusal(one),
            describe_late(rule, one.at),
        )
        for one in found
    ]


def crumbs(context: RequestContext, last: str = "") -> list[tuple[str, str]]:
    """Return the way to a page of an assignment."""
    known = context.require()
    course = f"/courses/{known.course.id}"
    own = f"{course}/assignments/{known.assigned.id}"
    more = [(last, "")] if last else []
    return [(known.course.title, course), (known.assigned.title, own), *more]


@ROUTES.at("POST", f"{_PATH}/uploads", STUDENTS, most=Form(files=forms.MOST, page=show))
def hand_in(context: Context) -> Response:
    """Take in a submission: an archive, or a folder that is packed here."""
    known, service = context.require(), context.service
    archive = own_files.assignment_of(service.settings, known.assigned).archive
    with receive_files(context, archive.folder) as found:
        name = archive.name if found.is_packed else found.name
        kept = submissions.keep(service.store, found.path, name, service.settings.largest)
    with service.database.acting(context.by) as act:
        quota = submissions.quota(service.settings)
        upload = submissions.take_once(
            act,
            context.field("once"),
            (known.assigned.id, kept.name, kept.sha256),
            lambda: submissions.take(act, known.assigned, known.member, kept, quota),
        )
    return RedirectResponse(
        f"/courses/{known.course.id}/assignments/{known.assigned.id}/uploads/{upload.id}", 303
    )


@ROUTES.at("POST", f"{_PATH}/source", TEACHERS, most=Form(files=forms.MOST, page=show))
def replace(context: Context) -> Response:
    """Take a newer upload of an assignment in the place of the one before."""
    known, settings = context.require(), context.service.settings
    with (
        receive_files(context) as found,
        own_files.unpack(settings, found.path, found.name) as (place, _),
        context.service.database.acting(context.by) as act,
    ):
        private_cases.let_measure(
            act, settings, own_files.replace(act, settings, known.assigned, place)
        )
    return RedirectResponse(f"/courses/{known.course.id}/assignments/{known.assigned.id}", 303)


@ROUTES.at("POST", f"{_PATH}/overlay", TEACHERS, most=Form(files=forms.MOST, page=show))
def take_overlay(context: Context) -> Response:
    """Take the folder that submissions get beside them, in the place of the one before."""
    known, service = context.require(), context.service
    with receive_files(context) as found, service.database.acting(context.by) as act:
        own_files.take_overlay(act, service.settings, known.assigned, found.path, found.name)
    return RedirectResponse(f"/courses/{known.course.id}/assignments/{known.assigned.id}", 303)


# --- Where each student or group stands with an assignment: what the staff has before it ---------


SUBMITTED, NOTHING, REFUSED, FAULTY = "submitted", "nothing", "refused", "fault"
_CHOICES = {
    SUBMITTED: "Submitted",
    NOTHING: "Nothing submitted",
    REFUSED: "Refused",
    FAULTY: "Not checked",
}


class StudentStanding(NamedTuple):
    """What there is of a student or a group."""

    key: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    state: str  # of the submission that counts, in words
    upload: Upload | None  # that submission
    number: int  # of all submissions
    extension: str
    late: str  # of that submission: how late, and what that costs; empty if in time
    place: str  # what a grading would do with it; empty if there is none


def standings_of_all(db: Connection, assigned: CourseAssignment) -> list[StudentStanding]:
    """Return where each student or group of a course stands, sorted by key."""
    entries = roster.students(courses.students(db, assigned.course))
    histories = submissions.all_histories(db, assigned)
    jobs = queue.checks(db, assignment=assigned.id)
    extensions = courses.extensions(db, assigned.id)
    rule = making.late(assigned, extensions)
    return [_standing(entry, histories[entry.key], jobs, rule) for entry in entries]


def standing_of(db: Connection, assigned: CourseAssignment, key: str) -> StudentStanding:
    """Return where a student or group of a course stands."""
    group = courses.submitting_as(db, assigned.course, key)
    history = submissions.history_of(db, assigned, key)
    jobs = queue.checks(db, about=[one.id for one in history.counting])
    rule = making.late(assigned, courses.extensions(db, assigned.id))
    return _standing(roster.entry(key, group), history, jobs, rule)


def list_choices(standings: Sequence[StudentStanding]) -> list[tuple[str, str, int]]:
    """Return by what a list can be filtered: the kind, its words, how many are of it."""
    counts = Counter(kind for one in standings for kind in one.kinds)
    found = [(kind, words, counts[kind]) for kind, words in _CHOICES.items() if counts[kind]]
    return [("all", "All", len(standings)), *found]


def _standing(
    entry: StudentSubmissions,
    history: SubmissionHistory,
    jobs: Mapping[str, Job],
    rule: Late,
) -> StudentStanding:
    keys = [one.key for one in entry.students]
    extensions = {key: time.isoformat() for key, time in rule.own}
    own, last = latest_deadline(extensions, keys), history.last
    late = describe_late(rule.of(keys), last.at) if last else ""
    names = tuple(one.name for one in entry.students if one.name)
    kinds, words = _how_far(history, jobs)
    place = history.places[last.id] if last else ""
    return StudentStanding(
        entry.key, names, kinds, words, last, len(history.all), own, late, place
    )


def _how_far(history: SubmissionHistory, jobs: Mapping[str, Job]) -> tuple[tuple[str, ...], str]:
    """Return of which kinds a student or group is, and how far the submission that counts is."""
    upload = history.last
    if upload is None:
        if not history.counting:
            return (NOTHING,), "nothing submitted"
        return (SUBMITTED, REFUSED), "refused: nothing counts"
    job = jobs.get(upload.id)
    if job and job.state == FAULT:
        return (SUBMITTED, FAULTY), "could not be checked"
    return (SUBMITTED,), f"{upload_state(upload, job)}{_tell_later(history, upload)}"


def _tell_later(history: SubmissionHistory, upload: Upload) -> str:
    """Return what became of the last submission, if it is not the one that counts."""
    last = history.counting[-1]
    if last == upload:
        return ""
    is_waiting = history.places[last.id] == MAY_COUNT
    return f"; a later one {'waits for its check' if is_waiting else 'is refused'}"
