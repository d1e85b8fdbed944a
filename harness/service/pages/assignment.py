"""An assignment of a course: its steps and its class for the staff, for students submitting."""

import datetime
import secrets
from typing import NamedTuple

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.errors import UsageError
from harness.service.courses import deadlines, gradings, making, own_files, standings, submissions
from harness.service.courses.progress import AssignmentCounts, describe_progress
from harness.service.jobs import checklist, previews, private_cases
from harness.service.pages import forms, submission
from harness.service.records import COMMENT, EXTEND, GRADE_CLASS, TEACHER, Grading
from harness.service.storage import courses, uploads
from harness.service.web import access, rendering

ROUTES = access.Routes()
_PATH = "/courses/{course}/assignments/{assignment}"


@ROUTES.at("GET", _PATH, access.MEMBERS)
def show(context: access.Context) -> Response:
    """Show an assignment: to students what is theirs, to the staff what is everybody's."""
    return _to_staff(context) if context.is_staff else _to_student(context)


def _to_student(context: access.Context) -> Response:
    assigned, member, now = context.assigned, context.member, datetime.datetime.now()
    with context.reading() as db:
        history = submissions.history_of(db, assigned, member.submits_as)
        rule = deadlines.load_rule(db, assigned, member.submits_as)
        shown = submission.list_uploads(db, history.seen_by(member.key), [history], rule)
        group = courses.submitting_as(db, context.course.id, member.submits_as)
        extensions = courses.extensions(db, assigned.id)
        closed = submissions.explain_closed(db, assigned, member.submits_as, now)
        recent = history.counting[-1] if history.counting else None
        lines = submission.load_lines(db, context, recent, history, has_mark=True)
        is_released = gradings.are_shown(db, assigned.id, member.key)
    own = deadlines.latest_deadline(extensions, (one.key for one in group))
    return rendering.page(
        context,
        "assignment.html",
        rendering.crumbs(context),
        uploads=shown,
        dates=deadlines.list_dates(assigned, rule, own),
        group=[one.name or one.key for one in group] if len(group) > 1 else [],
        lines=lines,
        counting=submissions.explain_counting(history),
        closed=closed,
        warning=deadlines.warn_late(rule, now.timestamp(), history.last),
        is_before=submissions.is_before(assigned, now),
        is_released=is_released,
        archive=own_files.assignment_of(context.settings, assigned).archive.name,
        once=secrets.token_hex(32),
        preparing=recent is None and bool(own_files.list_missing(context.settings, assigned)),
    )


def _to_staff(context: access.Context) -> Response:
    settings, assigned = context.settings, context.assigned
    view = standings.read_view(context.request.query_params)
    measured = private_cases.load_measured(settings, assigned)
    doubts = previews.find(settings, assigned, measured)
    with context.reading() as db:
        everybody = standings.standings_of_all(db, assigned)
        setup = checklist.load(db, settings, assigned, measured)
        begun = [_grading_line(db, one) for one in uploads.gradings(db, assigned.id)]
        in_force = uploads.in_force(db, assigned.id)
        is_open = bool(deadlines.list_open_dates(db, assigned, datetime.datetime.now()))
    counts = AssignmentCounts(
        students=len(everybody),
        submitted=sum(one.upload is not None for one in everybody),
        attention=sum(standings.ATTENTION in one.kinds for one in everybody),
        ungraded=sum(standings.UNGRADED in one.kinds for one in everybody),
        missing=next(iter(own_files.list_missing(settings, assigned)), ""),
        lacks_folder=own_files.lacks_overlay(settings, assigned),
        wrong_tests=len(doubts),
        is_open=is_open or not (assigned.deadline or assigned.closes),
        marks=("released" if in_force.released else "made") if in_force else "",
        is_grading=any(one.state == "running" for one in begun),
        faults=begun[-1].faults if begun else 0,
        changes=begun[-1].changes if begun else 0,
    )
    progress = describe_progress(counts)
    kind, is_teacher = progress.action.kind, context.member.role == TEACHER
    may_act = kind not in ("set up", "add students", "release") or is_teacher
    if kind == "grade":
        may_act = context.member.has(GRADE_CLASS)
    return rendering.page(
        context,
        "assignment_staff.html",
        rendering.crumbs(context),
        dates=deadlines.list_dates_for_staff(assigned, making.late(assigned, {})),
        progress=progress,
        counts=counts,
        may_act=may_act,
        first=next((one.key for one in everybody if standings.ATTENTION in one.kinds), ""),
        in_force=in_force,
        standings=view.select(everybody),
        view=view,
        choices=standings.list_choices(everybody),
        marked=in_force is not None,
        gradings=begun,
        doubts=doubts,
        unchecked=previews.explain_unchecked(context.service.database, measured),
        lacks_private=private_cases.lack_some(settings, assigned),
        still_left_out=previews.still_left_out(settings, assigned),
        is_uploaded=assigned.source == own_files.OWN,
        editions=own_files.editions(settings, assigned),
        setup=setup,
    )


class GradingLine(NamedTuple):
    """A grading in the list of an assignment."""

    grading: Grading
    state: gradings.State
    faults: int  # jobs in which the service failed
    changes: int  # marks that would change
    decision: str  # that it waits for, as a phrase; "" for none


def _grading_line(db: Connection, grading: Grading) -> GradingLine:
    state, waits = gradings.state(db, grading), gradings.find_decisions(db, grading)
    faults = waits.faults or int(state == "failed")
    return GradingLine(grading, state, faults, waits.changes, ", ".join(gradings.phrase(waits)))


# --- Actions on several students or groups at once: the same as on the page of each --------------

_MOST = 20_000  # fields of a form: a key for each student, and what is done


def _read_chosen(context: access.Context, db: Connection) -> list[str]:
    """Return the keys that are ticked in the table, or all that it shows."""
    if context.is_ticked("all"):
        view = standings.read_view(context.request.query_params)
        return [one.key for one in view.select(standings.standings_of_all(db, context.assigned))]
    chosen = dict.fromkeys(one for one in context.form.getlist("chosen") if isinstance(one, str))
    if not chosen:
        raise UsageError("students: choose some in the table first")
    known = {one.submits_as for one in courses.students(db, context.course.id)}
    if strangers := [one for one in chosen if one not in known]:
        raise UsageError(f"students: {strangers[0]!r} is not in the course: load the page again")
    return [*chosen]


def _back_to_list(context: access.Context) -> Response:
    view = standings.read_view(context.request.query_params)
    return RedirectResponse(f"{context.assignment_page}{view.query()}#class", 303)


@ROUTES.form(f"{_PATH}/class/extension", access.require_permission(EXTEND), show, fields=_MOST)
def extend_chosen(context: access.Context) -> Response:
    if not context.field("deadline"):
        raise UsageError("deadline: choose one first")
    with context.acting() as act:
        for key in _read_chosen(context, act.db):
            deadlines.extend(act, context.assigned, key, context.field("deadline"))
    return _back_to_list(context)


@ROUTES.form(f"{_PATH}/class/comment", access.require_permission(COMMENT), show, fields=_MOST)
def comment_on_chosen(context: access.Context) -> Response:
    with context.acting() as act:
        for key in _read_chosen(context, act.db):
            gradings.comment(act, context.assigned, key, context.field("text"))
    return _back_to_list(context)


@ROUTES.form(f"{_PATH}/class/check", access.STAFF_ONLY, show, fields=_MOST)
def check_chosen(context: access.Context) -> Response:
    """Check those submissions of some students or groups again in which the service failed."""
    with context.acting() as act:
        chosen = _read_chosen(context, act.db)
        histories = submissions.all_histories(act.db, context.assigned)
        failed = [
            one.id for key in chosen for one in histories[key].counting
            if one.id in histories[key].unread
        ]  # fmt: skip
        if not failed:
            raise UsageError("students: every submission of these was checked")
        for upload in failed:
            submission.check_again(act, upload)
    return _back_to_list(context)


@ROUTES.form(f"{_PATH}/uploads", access.STUDENTS, show, files=forms.MOST)
def hand_in(context: access.Context) -> Response:
    """Take in a submission: an archive, or a folder that is packed here."""
    service = context.service
    archive = own_files.assignment_of(service.settings, context.assigned).archive
    with forms.receive_files(context, archive.folder) as found:
        name = archive.name if found.is_packed else found.name
        kept = submissions.keep(service.store, found.path, name, service.settings.largest)
    with service.database.acting(context.by) as act:
        upload = submissions.take_once(
            act,
            context.field("once"),
            (context.assigned.id, kept.name, kept.sha256),
            lambda: submissions.take(
                act, context.assigned, context.member, kept, service.settings
            ),
        )
    return RedirectResponse(f"{context.assignment_page}/uploads/{upload.id}", 303)


@ROUTES.form(f"{_PATH}/source", access.TEACHERS, show, files=forms.MOST)
def replace(context: access.Context) -> Response:
    """Take a newer upload of an assignment in the place of the one before."""
    settings = context.settings
    with (
        forms.receive_files(context) as found,
        own_files.unpack(settings, found.path, found.name) as (place, _),
        context.acting() as act,
    ):
        made = own_files.replace(act, settings, context.assigned, place)
        private_cases.let_measure(act, settings, made)
    return RedirectResponse(context.assignment_page, 303)


@ROUTES.form(f"{_PATH}/overlay", access.TEACHERS, show, files=forms.MOST)
def take_overlay(context: access.Context) -> Response:
    """Take the folder that submissions get beside them, in the place of the one before."""
    service = context.service
    with forms.receive_files(context) as found, service.database.acting(context.by) as act:
        own_files.take_overlay(act, service.settings, context.assigned, found.path, found.name)
    return RedirectResponse(context.assignment_page, 303)
