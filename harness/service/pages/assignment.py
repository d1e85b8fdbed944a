"""An assignment of a course: its steps and its class, each student for the staff, the own mark.

Students submit here, and read the mark that counts once marks are released.
"""

import datetime
import secrets
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.core.errors import UsageError
from harness.grading.exports.feedback import put_mark
from harness.grading.records import Marks, counting_mark, decimal
from harness.service import records
from harness.service.courses import deadlines, gradings, making, own_files, standings, submissions
from harness.service.courses.progress import AssignmentCounts, describe_progress
from harness.service.jobs import checklist, previews, private_cases, result_files, tournaments
from harness.service.local_times import describe_time, keep_same
from harness.service.pages import forms, submission
from harness.service.storage import audit, courses, people, uploads
from harness.service.web import access, rendering
from harness.service.web.request_context import RequestContext, require_found
from harness.work import canonical_json

ROUTES = access.Routes()
_PATH = "/courses/{course}/assignments/{assignment}"
_MAY_EXTEND = access.require_permission(records.EXTEND)
_MAY_COMMENT = access.require_permission(records.COMMENT)


@ROUTES.at("GET", _PATH, access.MEMBERS)
def show(context: access.Context) -> Response:
    """Show an assignment: to students what is theirs, to the staff what is everybody's."""
    if context.is_staff:
        return _show_to_staff(context)
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
        is_released = uploads.find_released_mark(db, assigned.id, member.key) is not None
    own = deadlines.latest_deadline(extensions, (one.key for one in group))
    return rendering.page(
        context,
        "assignment.html",
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


def _show_to_staff(context: access.Context) -> Response:
    settings, assigned = context.settings, context.assigned
    view = standings.read_view(context.request.query_params)
    measured = private_cases.load_measured(settings, assigned)
    doubts = previews.find(settings, assigned, measured)
    with context.reading() as db:
        everybody = standings.standings_of_all(db, assigned)
        setup = checklist.load(db, settings, assigned, measured)
        begun = []
        for one in uploads.gradings(db, assigned.id):
            state, waits = gradings.state(db, one), gradings.find_decisions(db, one)
            faults = waits.faults or int(state == "failed")
            decision = ", ".join(gradings.phrase(waits))
            begun.append(GradingLine(one, state, faults, waits.changes, decision))
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
    return rendering.page(
        context,
        "assignment_staff.html",
        dates=deadlines.list_dates_for_staff(assigned, making.late(assigned, {})),
        progress=describe_progress(counts),
        counts=counts,
        first=next((one.key for one in everybody if standings.ATTENTION in one.kinds), ""),
        in_force=in_force,
        standings=view.select(everybody),
        view=view,
        choices=standings.list_choices(everybody),
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

    grading: records.Grading
    state: gradings.State
    faults: int  # jobs in which the service failed
    changes: int  # marks that would change
    decision: str  # that it waits for, as a phrase; "" for none


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


@ROUTES.form(f"{_PATH}/class/extension", _MAY_EXTEND, show, fields=_MOST)
def extend_chosen(context: access.Context) -> Response:
    if not context.field("deadline"):
        raise UsageError("deadline: choose one first")
    with context.acting() as act:
        for key in _read_chosen(context, act.db):
            deadlines.extend(act, context.assigned, key, context.field("deadline"))
    return _back_to_list(context)


@ROUTES.form(f"{_PATH}/class/comment", _MAY_COMMENT, show, fields=_MOST)
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
    assigned, member, settings = context.assigned, context.member, context.settings
    archive = own_files.assignment_of(settings, assigned).archive
    with forms.receive_files(context, archive.folder) as found:
        name = archive.name if found.is_packed else found.name
        kept = submissions.keep(context.service.store, found.path, name, settings.largest)
    once, sent = context.field("once"), (assigned.id, kept.name, kept.sha256)
    with context.acting() as act:
        upload = making.make_once(
            act,
            once,
            sent,
            lambda one: uploads.UPLOADS.find(act.db, id=one, withdrawn=0),
            lambda: submissions.take(act, assigned, member, kept, settings),
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
        made = own_files.replace(act, context.assigned, place)
        private_cases.let_measure(act, made)
    return RedirectResponse(context.assignment_page, 303)


@ROUTES.form(f"{_PATH}/overlay", access.TEACHERS, show, files=forms.MOST)
def take_overlay(context: access.Context) -> Response:
    """Take the folder that submissions get beside them, in the place of the one before."""
    service = context.service
    with forms.receive_files(context) as found, service.database.acting(context.by) as act:
        own_files.take_overlay(act, context.assigned, found.path, found.name)
    return RedirectResponse(context.assignment_page, 303)


# --- One student or group after the other, as the staff see them ---------------------------------

_STUDENT = f"{_PATH}/students/{{student}}"


@ROUTES.at("GET", _STUDENT, access.STAFF_ONLY)
def show_student(context: access.Context) -> Response:
    """Show what a student or group submitted, and its deadline."""
    assigned, student = context.assigned, context.student
    view = standings.read_view(context.request.query_params)
    with context.reading() as db:
        everybody = standings.standings_of_all(db, assigned)
        members = courses.submitting_as(db, context.course.id, student)
        students = [one.key for one in members]
        submitted = submissions.history_of(db, assigned, student)
        rule = deadlines.load_rule(db, assigned, student)
        found = submission.list_uploads(db, submitted.all, [submitted], rule)
        said = _list_comments(db, assigned.id, students)
        own = uploads.overrides(db, assigned.id)
        marked = uploads.last_mark(db, assigned.id, student, students)
        extensions = courses.extensions(db, assigned.id)
        history = audit.of_student(
            db, context.service.database.log, assigned.id,
            [student, *students], [one.id for one in submitted.all],
        )  # fmt: skip
    evidence: tuple[result_files.EvidencePlace, ...] = ()
    if marked:
        place = result_files.folder_of(context.folder, marked.grading)
        evidence = result_files.read_evidence_places(place, marked.key)
    return rendering.page(
        context,
        "student.html",
        names=[one.name or one.key for one in members],
        standing=next(one for one in everybody if one.key == student),
        position=standings.find_position(everybody, view, student),
        view=view,
        list_name=standings.name_choice(view.show),
        uploads=found,
        extension=deadlines.latest_deadline(extensions, students),
        terms=deadlines.describe_terms(rule),
        last=describe_time(rule.refused_after) if rule.refused_after else "",
        comments=said,
        overrides=gradings.shared_overrides(own, students),
        computed=canonical_json.loads(Marks, marked.marks) if marked else None,
        marked=marked,
        evidence=evidence,
        history=history,
    )


def _list_comments(
    db: Connection, assigned: str, students: list[str]
) -> list[tuple[records.Comment, str]]:
    """Return the comments for some of these students, each with the name of its author."""
    names = {one.id: one.name for one in people.PEOPLE.all(db)}
    found = uploads.comments(db, assigned, students)
    return [(one, names.get(one.person, "")) for one in found]


@ROUTES.form(f"{_STUDENT}/extension", _MAY_EXTEND, show_student)
def extend(context: access.Context) -> Response:
    """Give a student or group a deadline of its own, or take it back."""
    assigned = context.assigned
    with context.acting() as act:
        students = courses.students_of(act.db, assigned.course, context.student)
        before = deadlines.latest_deadline(courses.extensions(act.db, assigned.id), students)
        wanted = keep_same(context.field("deadline"), before)
        deadlines.extend(act, assigned, context.student, wanted)
    return _back(context)


@ROUTES.form(f"{_STUDENT}/comment", _MAY_COMMENT, show_student)
def comment(context: access.Context) -> Response:
    with context.acting() as act:
        gradings.comment(act, context.assigned, context.student, context.field("text"))
    return _back(context)


@ROUTES.at("POST", f"{_STUDENT}/comment/{{comment}}/remove", access.COMMENT_REMOVERS)
def remove_comment(context: access.Context) -> Response:
    """Remove a comment, once it was said that this is wanted."""
    found = context.comment
    if not forms.is_sure(context):
        back, name, words = _address(context), context.student, found.text
        return forms.ask_again(context, "remove comment", back, name, words=words)
    with context.acting() as act:
        gradings.remove_comment(act, context.assigned, context.student, found)
    return _back(context)


@ROUTES.form(f"{_STUDENT}/override", access.require_permission(records.OVERRIDE), show_student)
def override(context: access.Context) -> Response:
    """Give a mark instead of the computed one."""
    told = gradings.Decision(context.field("points"), context.field("reason"))
    view = standings.read_view(context.request.query_params)
    with context.acting() as act:
        # Where it is in the list, before the mark: then a filter may not fit.
        everybody = standings.standings_of_all(act.db, context.assigned)
        place = standings.find_position(everybody, view, context.student)
        gradings.decide(act, context.assigned, context.student, told)
    return _back(context, place.after if context.field("then") == "next" else "")


@ROUTES.form(f"{_STUDENT}/override/end", access.require_permission(records.OVERRIDE), show_student)
def end_override(context: access.Context) -> Response:
    """Let the computed mark count again, once it was said that this is wanted."""
    assigned, given = context.assigned, []  # the marks that people gave, with their reasons
    with context.reading() as db:
        students = courses.students_of(db, assigned.course, context.student)
        own = uploads.overrides(db, assigned.id)
        marked = uploads.last_mark(db, assigned.id, context.student, students)
    computed = canonical_json.loads(Marks, marked.marks) if marked else None
    for who, one in gradings.shared_overrides(own, students):
        points = decimal(Fraction(one.points))
        mark = gradings.format_counting_mark(computed, one) if computed else points
        given.append(f"{', '.join(who)}{': ' if who else ''}{mark}. {one.reason}")
    if given and not forms.is_sure(context):
        back, name, words = _address(context), context.student, "\n".join(given)
        return forms.ask_again(context, "mark", back, name, words=words)
    with context.acting() as act:
        gradings.end_override(act, assigned, context.student)
    return _back(context)


def _back(context: RequestContext, student: str = "") -> Response:
    """Return to the page of a student or group, by default the same one, in the same list."""
    view = standings.read_view(context.request.query_params)
    return RedirectResponse(f"{_address(context, student)}{view.query()}", 303)


def _address(context: RequestContext, student: str = "") -> str:
    name = quote(student or context.student, safe="")
    return f"{context.assignment_page}/students/{name}"


# --- The mark of a student, once marks are released: the one that counts, and what people said ---


@ROUTES.at("GET", f"{_PATH}/mark", access.STUDENTS)
def own_mark(context: access.Context) -> Response:
    """Show the student's mark in the grading that was released last, and what people said."""
    with context.reading() as db:
        own, shown = _find(db, context)
        said = _list_comments(db, context.assigned.id, [context.member.key])
        history = submissions.history_of(db, context.assigned, context.member.submits_as)
        lines = submission.load_lines(db, context, history.last, history, has_mark=True)
    return rendering.page(
        context,
        "mark.html",
        lines=lines,
        shown=shown,
        override=own.override,
        comments=said,
        has_played=tournaments.has_pages(_tournament(context, own)),
    )


@ROUTES.at("GET", f"{_PATH}/mark/feedback", access.STUDENTS)
def own_feedback(context: access.Context) -> Response:
    """Give the student's page of the grading that was released last, with the mark that counts.

    The page is written with the mark of that time. Once a later grading has marks, it is not
    written again.
    """
    with context.reading() as db:
        own, shown = _find(db, context)
    folder = result_files.folder_of(context.folder, own.grading.id)
    given = gradings.as_given(own.override) if own.override else None
    mark, name = counting_mark(shown, given), f"feedback/{context.member.key}.html"
    return rendering.serve_file(folder, name, lambda content: put_mark(content, mark))


@ROUTES.at("GET", f"{_PATH}/mark/tournament/{{name:path}}", access.STUDENTS)
def own_tournament(context: access.Context) -> Response:
    """Give a page of the tournament of the grading that was released last: table and own games."""
    with context.reading() as db:
        own, _ = _find(db, context)
    return rendering.serve_file(_tournament(context, own), context.part("name"))


def _tournament(context: RequestContext, mark: uploads.ReleasedMark) -> Path:
    return tournaments.folder_in(context.settings, mark.grading, mark.marked.key)


def _find(db: Connection, context: RequestContext) -> tuple[uploads.ReleasedMark, Marks]:
    """Return the mark of the student who asks, if it is released, and as much as is shown."""
    found = uploads.find_released_mark(db, context.assigned.id, context.member.key)
    found = require_found(found, "there is no mark of yours yet")
    return found, canonical_json.loads(Marks, found.marked.shown)
