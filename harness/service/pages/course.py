"""A course: its assignments, staff and links; what teachers change or remove of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection
from starlette.datastructures import UploadFile

from harness import shipped
from harness.errors import UsageError
from harness.grading.exports import sheet
from harness.service.courses import changes, making, own_files, roster, staff
from harness.service.courses.changes import Change
from harness.service.courses.roster_files import show_name
from harness.service.courses.staff import NewStaff
from harness.service.jobs import private_cases
from harness.service.local_times import keep_same
from harness.service.pages import account, assignment, forms
from harness.service.pages.assignment import StudentStanding
from harness.service.pages.forms import SecondQuestion, receive_files
from harness.service.people import accounts, mail_server, mails
from harness.service.records import RIGHTS, TEACHER, Course, CourseAssignment, Letter, Member
from harness.service.storage import courses, people
from harness.service.web import rendering
from harness.service.web.access import Context, Form, Routes
from harness.service.web.request_context import ADMINS, MEMBERS, TEACHERS, RequestContext

ROUTES = Routes()


@ROUTES.at("POST", "/courses", ADMINS, most=Form(page=account.beginning))
def make(context: Context) -> Response:
    """Make a course."""
    with context.service.database.acting(context.by) as act:
        made = making.course(act, context.field("title"))
    return RedirectResponse(f"/courses/{made.id}", 303)


@ROUTES.at("GET", "/courses/{course}", MEMBERS)
def show(context: Context) -> Response:
    """Show a course."""
    assert context.course
    with context.service.database.reading() as db:
        every = courses.ASSIGNMENTS.all(db, "deadline", "title", course=context.course.id)
        found = [one for one in every if context.is_staff or not one.hidden]
        own = {one.id: _find_standing(db, context, one) for one in found}
        for_staff = _list_people(db, context.course.id) if context.is_staff else _NOBODY
    return rendering.page(
        context,
        "course.html",
        [(context.course.title, "")],
        assignments=found,
        own=own,
        is_only_teacher=sum(one.role == TEACHER for one in for_staff.staff) == 1,
        roles=staff.ROLES,
        rights=RIGHTS,
        shipped=shipped.names(),
        no_mail=mail_server.NO_MAIL,
        **for_staff._asdict(),
    )


class CoursePeople(NamedTuple):
    """The people of a course, as its staff see them; students see nobody."""

    students: Sequence[Member] = ()
    former: Sequence[Member] = ()
    staff: Sequence[Member] = ()
    letters: Sequence[Letter] = ()  # with their links
    without: Sequence[Member] = ()  # an address


_NOBODY = CoursePeople()


def _list_people(db: Connection, course: str) -> CoursePeople:
    return CoursePeople(
        courses.students(db, course),
        courses.former_students(db, course),
        staff.list_staff(db, course),
        mails.list_last_letters(db, course),
        mails.list_without_address(db, course),
    )


def _find_standing(
    db: Connection, context: RequestContext, one: CourseAssignment
) -> StudentStanding | None:
    """Return where the student who asks stands with an assignment; None: one of the staff asks."""
    if context.is_staff or context.member is None:
        return None
    return assignment.standing_of(db, one, context.member.submits_as)


@ROUTES.at("POST", "/courses/{course}/assignments", TEACHERS, most=Form(page=show))
def assign(context: Context) -> Response:
    """Make an assignment of a course."""
    assert context.course
    wanted = _read_form(context, making.check_shipped(context.field("source")))
    with context.service.database.acting(context.by) as act:
        made = making.assign(act, wanted)
    return RedirectResponse(f"/courses/{context.course.id}/assignments/{made.id}", 303)


def _read_form(context: RequestContext, source: str) -> CourseAssignment:
    assert context.course
    names = ("title", "opens", "deadline", "closes", "deduction")
    told: dict[str, Any] = {name: context.field(name) for name in names}
    grace = making.read_grace(context.field("grace"))
    return CourseAssignment("", context.course.id, source=source, grace=grace, made=0.0, **told)


@ROUTES.at(
    "POST",
    "/courses/{course}/assignments/own",
    TEACHERS,
    most=Form(files=forms.MOST, page=show),
)
def assign_own(context: Context) -> Response:
    """Make an assignment of a folder with an assignment.toml."""
    assert context.course
    settings = context.service.settings
    with (
        receive_files(context) as found,
        own_files.unpack(settings, found.path, found.name) as (place, own),
        context.service.database.acting(context.by) as act,
    ):
        made = own_files.make(act, settings, _read_form(context, own_files.OWN), place, own)
        private_cases.let_measure(act, settings, made)
    return RedirectResponse(f"/courses/{context.course.id}/assignments/{made.id}", 303)


@ROUTES.at("POST", "/courses/{course}/links", TEACHERS)
def make_links(context: Context) -> Response:
    """Give a CSV of links for all students, once it was said that earlier ones may end.

    It is the only copy there is.
    """
    assert context.course
    with context.service.database.acting(context.by) as act:
        if not forms.is_sure(context) and roster.have_links(act.db, context.course.id):
            return _ask_for_new_links(context, context.course)
        links = roster.make_links(act, context.course.id, context.service.settings.base)
    rows = [roster.StudentLink._fields, *links]
    return attachment("links.csv", sheet.table(rows).encode(), "text/csv")


def _ask_for_new_links(context: RequestContext, one: Course) -> Response:
    place = f"/courses/{one.id}"
    question = SecondQuestion(
        f"Make new links for all students of {one.title}?",
        "The links that students have now stop working at once. Nobody can sign in by a link until"
        " you have sent the new ones.",
        "Yes, make new links",
        place,
    )
    return forms.ask_again(context, [(one.title, place), ("Links", "")], question)


@ROUTES.at("POST", "/courses/{course}/staff", TEACHERS, most=Form(page=show))
def add_staff(context: Context) -> Response:
    """Add a teacher or an assistant, and show the link to sign in by: its only copy."""
    assert context.course
    name, role, email = (context.field(one) for one in ("name", "role", "email"))
    wanted = NewStaff(name, role, _rights(context), email)
    with context.service.database.acting(context.by) as act:
        made = staff.add(act, context.course.id, wanted)
        link = accounts.make_course_link(act, made.person, context.service.settings.base)
    return _show_link(context, made, link)


@ROUTES.at("POST", "/courses/{course}/staff/link", TEACHERS, most=Form(page=show))
def link_staff(context: Context) -> Response:
    """Make a new link for a member of the staff, and show its only copy."""
    assert context.course
    base, person = context.service.settings.base, context.field("person")
    with context.service.database.acting(context.by) as act:
        if not forms.is_sure(context) and people.some_have_links(act.db, [person]):
            found = staff.find_to_link(act, context.course.id, person)
            return _ask_for_new_link(context, context.course, found.name)
        return _show_link(context, *staff.make_link(act, context.course.id, person, base))


def _ask_for_new_link(context: RequestContext, one: Course, name: str) -> Response:
    place = f"/courses/{one.id}"
    question = SecondQuestion(
        f"Make a new link for {name}?",
        f"The link that {name} has now stops working at once.",
        "Yes, make a new link",
        place,
    )
    return forms.ask_again(context, [(one.title, place), (f"A link for {name}", "")], question)


def _show_link(context: RequestContext, member: Member, link: str) -> Response:
    assert context.course
    trail = [(context.course.title, f"/courses/{context.course.id}"), (member.name, "")]
    return rendering.page(context, "staff_link.html", trail, name=member.name, link=link)


@ROUTES.at("POST", "/courses/{course}/staff/change", TEACHERS, most=Form(page=show))
def change_staff(context: Context) -> Response:
    """Change the role and rights of a member of the staff, or remove the member."""
    assert context.course
    if context.field("remove"):
        return _remove_staff(context, context.course, context.field("person"))
    with context.service.database.acting(context.by) as act:
        staff.change(
            act,
            context.course.id,
            context.field("person"),
            context.field("role"),
            _rights(context),
        )
    return RedirectResponse(f"/courses/{context.course.id}", 303)


def _remove_staff(context: RequestContext, one: Course, person: str) -> Response:
    """Remove a member of the staff, once it was said that this is wanted."""
    place = f"/courses/{one.id}"
    with context.service.database.acting(context.by) as act:
        found = staff.find_removable(act, one.id, person)
        if forms.is_sure(context):
            staff.remove(act, one.id, person)
            return RedirectResponse("/courses" if person == context.by else place, 303)
    question = SecondQuestion(
        f"Remove {found.name} from {one.title}?",
        f"{found.name} no longer sees the course. What {found.name} did in it stays. A teacher can"
        " add people again.",
        f"Yes, remove {found.name}",
        place,
    )
    return forms.ask_again(context, [(one.title, place), (f"Remove {found.name}", "")], question)


def _rights(context: RequestContext) -> tuple[str, ...]:
    return tuple(one for one in context.form.getlist("may") if isinstance(one, str))


class SmallFile(NamedTuple):
    """A small file in a form."""

    name: str  # as the disk of its owner has it, without folders
    data: bytes


def read_upload(context: RequestContext, largest: int) -> SmallFile | None:
    """Return the small file in a form; None if no file was chosen.

    Raises:
        UsageError: it is too large.
    """
    file = context.form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return None
    name, size = show_name(file.filename), file.size or 0
    if size > largest:
        raise UsageError(f"{name}: found {size:,} bytes, expected at most {largest:,}")
    return SmallFile(name, file.file.read())


def attachment(name: str, data: bytes, kind: str = "application/octet-stream") -> Response:
    """Return a file that a browser saves and never shows. ``name``: of our own choice."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)


# --- Pages on which teachers change or remove an assignment, and rename or remove a course -------

_COURSE = "/courses/{course}"
_ONE = f"{_COURSE}/assignments/{{assignment}}"
_DATES = ("opens", "deadline", "closes", "deduction", "grace")


@ROUTES.at("GET", f"{_ONE}/change", TEACHERS)
def show_change(context: Context) -> Response:
    """Show the forms by which an assignment is changed or removed."""
    known, settings = context.require(), context.service.settings
    with context.service.database.reading() as db:
        kept = changes.list_kept(db, known.assigned)
        lost = changes.list_lost(db, settings, known.assigned)
    filled = changes.values_of(known.assigned).digest
    trail = assignment.crumbs(context, "Change or remove")
    return rendering.page(
        context, "assignment_change.html", trail, kept=kept, lost=lost, filled=filled
    )


@ROUTES.at("POST", f"{_ONE}/change", TEACHERS, most=Form(page=show_change))
def change_assignment(context: Context) -> Response:
    """Change an assignment, once it was seen what changes for those who have submitted."""
    known, wanted, filled = (
        context.require(),
        _read_dates(context),
        context.field("filled") or None,
    )
    # Before the dates are judged, which may fit no longer.
    changes.values_of(known.assigned).require(filled)
    with context.service.database.acting(context.by) as act:
        planned = changes.plan(act.db, known.assigned, wanted)
        is_to_be_seen = _moves_dates(known.assigned, planned) and bool(
            planned.ended or changes.list_kept(act.db, known.assigned)
        )
        seen = context.field("seen")
        if not is_to_be_seen or seen:
            changes.change(act, known.assigned, wanted, seen or None, filled)
            return RedirectResponse(_address(context), 303)
    trail = assignment.crumbs(context, "Change")
    return rendering.page(context, "assignment_change_seen.html", trail, planned=planned)


def _read_dates(context: RequestContext) -> CourseAssignment:
    """Return the assignment as the form wants it."""
    now = context.require().assigned
    return now._replace(
        title=context.field("title"),
        opens=keep_same(context.field("opens"), now.opens),
        deadline=keep_same(context.field("deadline"), now.deadline),
        closes=keep_same(context.field("closes"), now.closes),
        deduction=context.field("deduction"),
        grace=making.read_grace(context.field("grace"), 0),
        hidden=context.field("hidden") == "yes",
    )


def _moves_dates(now: CourseAssignment, planned: Change) -> bool:
    return any(getattr(now, name) != getattr(planned.made, name) for name in _DATES)


def _address(context: RequestContext) -> str:
    known = context.require()
    return f"/courses/{known.course.id}/assignments/{known.assigned.id}"


@ROUTES.at("POST", f"{_ONE}/remove", TEACHERS, most=Form(page=show_change))
def remove_assignment(context: Context) -> Response:
    """Remove an assignment that nobody has submitted to."""
    known = context.require()
    _require_tick(context)
    with context.service.database.acting(context.by) as act:
        changes.remove_assignment(act, known.assigned)
    changes.clear(context.service.settings, known.assigned)
    return RedirectResponse(f"/courses/{known.course.id}", 303)


def _require_tick(context: RequestContext) -> None:
    if not forms.is_sure(context):
        raise UsageError("to remove it, tick that you want this")


@ROUTES.at("GET", f"{_COURSE}/change", TEACHERS)
def show_course(context: Context) -> Response:
    """Show the forms by which a course is renamed or removed."""
    assert context.course
    with context.service.database.reading() as db:
        kept = changes.list_kept_in_course(db, context.course)
        students = courses.students(db, context.course.id)
        found = courses.ASSIGNMENTS.all(db, "title", course=context.course.id)
    trail = [(context.course.title, f"/courses/{context.course.id}"), ("Rename or remove", "")]
    return rendering.page(
        context,
        "course_change.html",
        trail,
        kept=kept,
        students=students,
        assignments=found,
        filled=changes.values_of_course(context.course).digest,
    )


@ROUTES.at("POST", f"{_COURSE}/change", TEACHERS, most=Form(page=show_course))
def rename_course(context: Context) -> Response:
    """Give a course another title."""
    assert context.course
    with context.service.database.acting(context.by) as act:
        filled = context.field("filled") or None
        changes.rename_course(act, context.course, context.field("title"), filled)
    return RedirectResponse(f"/courses/{context.course.id}", 303)


@ROUTES.at("POST", f"{_COURSE}/remove", TEACHERS, most=Form(page=show_course))
def remove_course(context: Context) -> Response:
    """Remove a course that nobody has submitted in."""
    assert context.course
    _require_tick(context)
    with context.service.database.acting(context.by) as act:
        removed = changes.remove_course(act, context.course)
    changes.clear_course(context.service.settings, context.course, removed)
    return RedirectResponse("/courses", 303)
