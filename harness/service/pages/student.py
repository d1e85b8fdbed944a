"""One student or group after the other, as the staff see them; and the student's own mark."""

from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.grading.exports.feedback import put_mark
from harness.grading.records import Marks, counting_mark, decimal
from harness.service.courses import deadlines, gradings, roster, standings, submissions
from harness.service.jobs import result_files, tournaments
from harness.service.local_times import describe_time, keep_same
from harness.service.pages import forms, submission
from harness.service.pages.gradings import serve_file
from harness.service.records import COMMENT, EXTEND, OVERRIDE, Member
from harness.service.storage import audit, courses, people, uploads
from harness.service.web import access, rendering
from harness.service.web.request_context import RequestContext, require_found
from harness.work import canonical_json

ROUTES = access.Routes()
_PATH = "/courses/{course}/assignments/{assignment}/students/{student}"


class CommentLine(NamedTuple):
    """A comment as a page has it."""

    by: str
    at: float
    text: str
    removable: str = ""  # its ID, for those who may remove it


@ROUTES.at("GET", _PATH, access.STAFF_ONLY)
def show(context: access.Context) -> Response:
    """Show what a student or group submitted, and its deadline."""
    assigned, student = context.assigned, context.student
    view = standings.read_view(context.request.query_params)
    with context.reading() as db:
        everybody = standings.standings_of_all(db, assigned)
        entry = roster.entry(student, courses.submitting_as(db, context.course.id, student))
        students = [one.key for one in entry.students]
        submitted = submissions.history_of(db, assigned, student)
        rule = deadlines.load_rule(db, assigned, student)
        found = submission.list_uploads(db, submitted.all, [submitted], rule)
        said = comments(db, assigned.id, students, context.member)
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
        rendering.crumbs(context, student),
        names=[one.name or one.key for one in entry.students],
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


def comments(
    db: Connection, assigned: str, students: list[str], reader: Member
) -> list[CommentLine]:
    """Return the comments for some of these students, with their authors."""
    names = {one.id: one.name for one in people.PEOPLE.all(db)}
    found, names = [], {one.id: one.name for one in people.PEOPLE.all(db)}
    for one in uploads.comments(db, assigned, students):
        removable = one.id if reader.may_remove(one) else ""
        found.append(CommentLine(names.get(one.person, ""), one.at, one.text, removable))
    return found


@ROUTES.form(f"{_PATH}/extension", access.require_permission(EXTEND), show)
def extend(context: access.Context) -> Response:
    """Give a student or group a deadline of its own, or take it back."""
    assigned = context.assigned
    with context.acting() as act:
        students = courses.students_of(act.db, assigned.course, context.student)
        before = deadlines.latest_deadline(courses.extensions(act.db, assigned.id), students)
        wanted = keep_same(context.field("deadline"), before)
        deadlines.extend(act, assigned, context.student, wanted)
    return _back(context)


@ROUTES.form(f"{_PATH}/comment", access.require_permission(COMMENT), show)
def comment(context: access.Context) -> Response:
    with context.acting() as act:
        gradings.comment(act, context.assigned, context.student, context.field("text"))
    return _back(context)


@ROUTES.at("POST", f"{_PATH}/comment/{{comment}}/remove", access.COMMENT_REMOVERS)
def remove_comment(context: access.Context) -> Response:
    """Remove a comment, once it was said that this is wanted."""
    found = context.comment
    if not forms.is_sure(context):
        question = forms.SecondQuestion(
            f"Remove this comment for {context.student}?",
            "Students no longer see it. The history of this page keeps what it said.",
            "Yes, remove it",
            _address(context),
            found.text,
        )
        return forms.ask_again(context, rendering.crumbs(context, "Remove a comment"), question)
    with context.acting() as act:
        gradings.remove_comment(act, context.assigned, context.student, found)
    return _back(context)


@ROUTES.form(f"{_PATH}/override", access.require_permission(OVERRIDE), show)
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


@ROUTES.form(f"{_PATH}/override/end", access.require_permission(OVERRIDE), show)
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
        question = forms.SecondQuestion(
            f"Let the computed mark of {context.student} count?",
            "It then counts instead of the mark that a person gave, which is removed with its"
            " reason. The history of this page keeps both.",
            "Yes, let the computed mark count",
            _address(context),
            "\n".join(given),
        )
        trail = rendering.crumbs(context, "Let the computed mark count")
        return forms.ask_again(context, trail, question)
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

_OWN = "/courses/{course}/assignments/{assignment}"


@ROUTES.at("GET", f"{_OWN}/mark", access.STUDENTS)
def own_mark(context: access.Context) -> Response:
    """Show the student's mark in the grading that was released last, and what people said."""
    with context.reading() as db:
        own, shown = _find(db, context)
        said = comments(db, context.assigned.id, [context.member.key], context.member)
        history = submissions.history_of(db, context.assigned, context.member.submits_as)
        lines = submission.load_lines(db, context, history.last, history, has_mark=True)
    return rendering.page(
        context,
        "mark.html",
        rendering.crumbs(context, "Your mark"),
        lines=lines,
        shown=shown,
        override=own.override,
        comments=said,
        has_played=tournaments.has_pages(_tournament(context, own)),
    )


@ROUTES.at("GET", f"{_OWN}/mark/feedback", access.STUDENTS)
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
    return serve_file(folder, name, lambda content: put_mark(content, mark))


@ROUTES.at("GET", f"{_OWN}/mark/tournament/{{name:path}}", access.STUDENTS)
def own_tournament(context: access.Context) -> Response:
    """Give a page of the tournament of the grading that was released last: table and own games."""
    with context.reading() as db:
        own, _ = _find(db, context)
    return serve_file(_tournament(context, own), context.part("name"))


def _tournament(context: RequestContext, mark: uploads.ReleasedMark) -> Path:
    return tournaments.folder_in(context.settings, mark.grading, mark.marked.key)


def _find(db: Connection, context: RequestContext) -> tuple[uploads.ReleasedMark, Marks]:
    """Return the mark of the student who asks, if it is released, and as much as is shown."""
    found = uploads.find_released_mark(db, context.assigned.id, context.member.key)
    found = require_found(found, "there is no mark of yours yet")
    return found, canonical_json.loads(Marks, found.marked.shown)
