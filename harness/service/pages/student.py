"""One student or group in an assignment, as the staff see it, and the student's own mark."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection

from harness.grading.exports.feedback import put_mark
from harness.grading.records import Marks, counting_mark, decimal
from harness.service.courses import deadlines, roster, submissions
from harness.service.courses import gradings as writing
from harness.service.courses.deadlines import describe_terms, latest_deadline, load_rule
from harness.service.courses.gradings import as_given
from harness.service.jobs import result_files
from harness.service.jobs.result_files import EvidencePlace, folder_of
from harness.service.local_times import describe_time, keep_same
from harness.service.pages import assignment, forms
from harness.service.pages.forms import SecondQuestion
from harness.service.pages.gradings import serve_file
from harness.service.records import (
    COMMENT,
    EXTEND,
    OVERRIDE,
    Comment,
    Grading,
    Marked,
    Member,
    Override,
)
from harness.service.storage import audit, courses, people, uploads
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import (
    COMMENT_REMOVERS,
    STAFF_ONLY,
    STUDENTS,
    Here,
    whoever_may,
)
from harness.work import canonical_json

ROUTES = Routes()
_PATH = "/courses/{course}/assignments/{assignment}/students/{student}"


class Said(NamedTuple):
    """A comment as a page has it."""

    by: str
    at: float
    text: str
    removable: str = ""  # its ID, for those who may remove it


@ROUTES.at("GET", _PATH, STAFF_ONLY)
def show(here: Now) -> Response:
    """Show what a student or group submitted, and its deadline."""
    known = here.sure()
    with here.service.database.reading() as db:
        members = courses.MEMBERS.all(db, course=known.course.id)
        (entry,) = (one for one in roster.students(members) if one.key == here.student)
        students = [one.key for one in entry.students]
        heap = submissions.of(db, known.assigned, here.student)
        rule = load_rule(db, known.assigned, here.student)
        found = assignment.list_uploads(db, heap.all, [heap], rule)
        said = comments(db, known.assigned.id, students, known.member)
        own = uploads.overrides(db, known.assigned.id)
        marked = uploads.last_mark(db, known.assigned.id, here.student, students)
        extension = latest_deadline(courses.extensions(db, known.assigned.id), students)
        history = audit.of_student(
            db, here.service.database.log, known.assigned.id,
            [here.student, *students], [one.id for one in heap.all],
        )  # fmt: skip
    return rendering.page(
        here,
        "student.html",
        assignment.crumbs(here, here.student),
        names=[one.name or one.key for one in entry.students],
        uploads=found,
        extension=extension,
        terms=describe_terms(rule),
        last=describe_time(rule.refused_after) if rule.refused_after else "",
        comments=said,
        overrides=writing.together(own, students),
        computed=load_computed(marked) if marked else None,
        marked=marked,
        evidence=_find_evidence(here, marked) if marked else (),
        history=history,
    )


def _find_evidence(here: Here, marked: Marked) -> tuple[EvidencePlace, ...]:
    made = here.service.settings.assignment_folder(here.sure().assigned.id)
    return result_files.read_evidence_places(folder_of(made, marked.grading), marked.key)


def comments(db: Connection, assigned: str, students: list[str], reader: Member) -> list[Said]:
    """Return the comments for some of these students, with their authors."""
    names = {one.id: one.name for one in people.PEOPLE.all(db)}
    return [
        Said(
            names.get(one.person, ""),
            one.at,
            one.text,
            one.id if reader.may_remove(one) else "",
        )
        for one in uploads.comments(db, assigned, students)
    ]


def load_computed(marked: Marked) -> Marks:
    """Return a mark as it was computed."""
    return canonical_json.loads(Marks, marked.marks)


@ROUTES.at("POST", f"{_PATH}/extension", whoever_may(EXTEND), most=Form(page=show))
def extend(here: Now) -> Response:
    """Give a student or group a deadline of its own, or take it back."""
    assigned = here.sure().assigned
    with here.service.database.acting(here.by) as act:
        students = courses.students_of(act.db, assigned.course, here.student)
        before = latest_deadline(courses.extensions(act.db, assigned.id), students)
        wanted = keep_same(here.field("deadline"), before)
        deadlines.extend(act, assigned, here.student, wanted)
    return _back(here)


@ROUTES.at("POST", f"{_PATH}/comment", whoever_may(COMMENT), most=Form(page=show))
def comment(here: Now) -> Response:
    """Say something to a student or group."""
    with here.service.database.acting(here.by) as act:
        writing.comment(act, here.sure().assigned, here.student, here.field("text"))
    return _back(here)


@ROUTES.at("POST", f"{_PATH}/comment/{{comment}}/remove", COMMENT_REMOVERS)
def remove_comment(here: Now) -> Response:
    """Remove a comment, once it was said that this is wanted."""
    found = here.sure_comment()
    if not forms.is_sure(here):
        return _ask_about(here, found)
    with here.service.database.acting(here.by) as act:
        writing.remove_comment(act, here.sure().assigned, here.student, found)
    return _back(here)


def _ask_about(here: Here, one: Comment) -> Response:
    question = SecondQuestion(
        f"Remove this comment for {here.student}?",
        "Students no longer see it. The history of this page keeps what it said.",
        "Yes, remove it",
        _address(here),
        one.text,
    )
    return forms.ask_again(here, assignment.crumbs(here, "Remove a comment"), question)


@ROUTES.at("POST", f"{_PATH}/override", whoever_may(OVERRIDE), most=Form(page=show))
def override(here: Now) -> Response:
    """Give a mark instead of the computed one."""
    told = writing.Decision(here.field("points"), here.field("reason"))
    with here.service.database.acting(here.by) as act:
        writing.decide(act, here.sure().assigned, here.student, told)
    return _back(here)


@ROUTES.at("POST", f"{_PATH}/override/end", whoever_may(OVERRIDE), most=Form(page=show))
def end_override(here: Now) -> Response:
    """Let the computed mark count again, once it was said that this is wanted."""
    given = _list_given(here)
    if given and not forms.is_sure(here):
        return _ask_to_end_override(here, given)
    with here.service.database.acting(here.by) as act:
        writing.end_override(act, here.sure().assigned, here.student)
    return _back(here)


def _list_given(here: Here) -> list[str]:
    """Return the marks that people gave to a student or a group, with their reasons."""
    assigned = here.sure().assigned
    with here.service.database.reading() as db:
        students = courses.students_of(db, assigned.course, here.student)
        own = uploads.overrides(db, assigned.id)
        marked = uploads.last_mark(db, assigned.id, here.student, students)
    computed = load_computed(marked) if marked else None
    return [_word_given(one, computed) for one in writing.together(own, students)]


def _word_given(one: writing.Together, computed: Marks | None) -> str:
    points = decimal(Fraction(one.override.points))
    mark = writing.format_counting_mark(computed, one.override) if computed else points
    who = f"{', '.join(one.who)}: " if one.who else ""
    return f"{who}{mark}. {one.override.reason}"


def _ask_to_end_override(here: Here, given: list[str]) -> Response:
    question = SecondQuestion(
        f"Let the computed mark of {here.student} count?",
        "It then counts instead of the mark that a person gave, which is removed with its reason."
        " The history of this page keeps both.",
        "Yes, let the computed mark count",
        _address(here),
        "\n".join(given),
    )
    trail = assignment.crumbs(here, "Let the computed mark count")
    return forms.ask_again(here, trail, question)


def _back(here: Here) -> Response:
    return RedirectResponse(_address(here), 303)


def _address(here: Here) -> str:
    known = here.sure()
    place = f"/courses/{known.course.id}/assignments/{known.assigned.id}"
    return f"{place}/students/{quote(here.student, safe='')}"


# --- The mark of a student, once marks are released: the one that counts, and what people said ---

_OWN = "/courses/{course}/assignments/{assignment}"


class _OwnMark(NamedTuple):
    """What a student may see of a mark."""

    grading: Grading  # that was released last
    shown: Marks  # as computed
    override: Override | None


@ROUTES.at("GET", f"{_OWN}/mark", STUDENTS)
def own_mark(here: Now) -> Response:
    """Show the student's mark in the grading that was released last, and what people said."""
    known = here.sure()
    with here.service.database.reading() as db:
        own = _find(db, here)
        said = comments(db, known.assigned.id, [known.member.key], known.member)
    trail = assignment.crumbs(here, "Your mark")
    return rendering.page(
        here, "mark.html", trail, shown=own.shown, override=own.override, comments=said
    )


@ROUTES.at("GET", f"{_OWN}/mark/feedback", STUDENTS)
def own_feedback(here: Now) -> Response:
    """Give the student's page of the grading that was released last, with the mark that counts.

    The page is written with the mark of that time. Once a later grading has marks, it is not
    written again.
    """
    known = here.sure()
    with here.service.database.reading() as db:
        own = _find(db, here)
    folder = folder_of(here.service.settings.assignment_folder(known.assigned.id), own.grading.id)
    given = as_given(own.override) if own.override else None
    counting = counting_mark(own.shown, given)
    name = f"feedback/{known.member.key}.html"
    return serve_file(folder, name, lambda content: put_mark(content, counting))


def _find(db: Connection, here: Here) -> _OwnMark:
    """Return the mark of the student who asks.

    Raises:
        Refused: there is none, or it is not released.
    """
    known = here.sure()
    released = uploads.find_released(db, known.assigned.id)
    if released is None:
        raise Refused(404, "there are no marks yet")
    marked = uploads.mark_of(db, released.id, known.member.key)
    if marked is None:
        raise Refused(404, "there is no mark of yours yet")
    override = uploads.overrides(db, known.assigned.id).get(known.member.key)
    return _OwnMark(released, canonical_json.loads(Marks, marked.shown), override)
