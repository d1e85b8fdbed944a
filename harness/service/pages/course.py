"""A course: its assignments, its staff, the links of its students."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection
from starlette.datastructures import UploadFile

from harness import shipped
from harness.errors import UsageError
from harness.grading.exports import sheet
from harness.service.courses import making, own_files, roster, staff
from harness.service.courses.roster_files import show_name
from harness.service.courses.staff import NewStaff
from harness.service.jobs import private_cases
from harness.service.pages import forms, sign_in, student_table
from harness.service.pages.forms import SecondQuestion, receive_files
from harness.service.pages.student_table import StudentStanding
from harness.service.people import accounts, mail_server, mails
from harness.service.records import RIGHTS, TEACHER, Assigned, Course, Letter, Member
from harness.service.storage import courses, people
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.here import Here
from harness.service.web.rules import ADMINS, MEMBERS, TEACHERS

ROUTES = Routes()


@ROUTES.at("POST", "/courses", ADMINS, most=Form(page=sign_in.beginning))
def make(here: Now) -> Response:
    """Make a course."""
    with here.service.database.acting(here.by) as act:
        made = making.course(act, here.field("title"))
    return RedirectResponse(f"/courses/{made.id}", 303)


@ROUTES.at("GET", "/courses/{course}", MEMBERS)
def show(here: Now) -> Response:
    """Show a course."""
    assert here.course
    with here.service.database.reading() as db:
        every = courses.ASSIGNMENTS.all(db, "deadline", "title", course=here.course.id)
        found = [one for one in every if here.is_staff or not one.hidden]
        own = {one.id: _find_standing(db, here, one) for one in found}
        for_staff = _list_people(db, here.course.id) if here.is_staff else _NOBODY
    return rendering.page(
        here,
        "course.html",
        [(here.course.title, "")],
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


def _find_standing(db: Connection, here: Here, one: Assigned) -> StudentStanding | None:
    """Return where the student who asks stands with an assignment; None: one of the staff asks."""
    if here.is_staff or here.member is None:
        return None
    return student_table.of_one(db, one, here.member.submits_as)


@ROUTES.at("POST", "/courses/{course}/assignments", TEACHERS, most=Form(page=show))
def assign(here: Now) -> Response:
    """Make an assignment of a course."""
    assert here.course
    wanted = _read_form(here, making.check_shipped(here.field("source")))
    with here.service.database.acting(here.by) as act:
        made = making.assign(act, wanted)
    return RedirectResponse(f"/courses/{here.course.id}/assignments/{made.id}", 303)


def _read_form(here: Here, source: str) -> Assigned:
    assert here.course
    names = ("title", "opens", "deadline", "closes", "deduction")
    told: dict[str, Any] = {name: here.field(name) for name in names}
    grace = making.read_grace(here.field("grace"))
    return Assigned("", here.course.id, source=source, grace=grace, made=0.0, **told)


@ROUTES.at(
    "POST",
    "/courses/{course}/assignments/own",
    TEACHERS,
    most=Form(files=forms.MOST, page=show),
)
def assign_own(here: Now) -> Response:
    """Make an assignment of a folder with an assignment.toml."""
    assert here.course
    settings = here.service.settings
    with (
        receive_files(here) as found,
        own_files.unpack(settings, found.path, found.name) as (place, own),
        here.service.database.acting(here.by) as act,
    ):
        made = own_files.make(act, settings, _read_form(here, own_files.OWN), place, own)
        private_cases.let_measure(act, settings, made)
    return RedirectResponse(f"/courses/{here.course.id}/assignments/{made.id}", 303)


@ROUTES.at("POST", "/courses/{course}/links", TEACHERS)
def make_links(here: Now) -> Response:
    """Give a CSV of links for all students, once it was said that earlier ones may end.

    It is the only copy there is.
    """
    assert here.course
    with here.service.database.acting(here.by) as act:
        if not forms.is_sure(here) and roster.have_links(act.db, here.course.id):
            return _ask_for_new_links(here, here.course)
        links = roster.make_links(act, here.course.id, here.service.settings.base)
    rows = [roster.StudentLink._fields, *links]
    return attachment("links.csv", sheet.table(rows).encode(), "text/csv")


def _ask_for_new_links(here: Here, one: Course) -> Response:
    place = f"/courses/{one.id}"
    question = SecondQuestion(
        f"Make new links for all students of {one.title}?",
        "The links that students have now stop working at once. Nobody can sign in by a link until"
        " you have sent the new ones.",
        "Yes, make new links",
        place,
    )
    return forms.ask_again(here, [(one.title, place), ("Links", "")], question)


@ROUTES.at("POST", "/courses/{course}/staff", TEACHERS, most=Form(page=show))
def add_staff(here: Now) -> Response:
    """Add a teacher or an assistant, and show the link to sign in by: its only copy."""
    assert here.course
    name, role, email = (here.field(one) for one in ("name", "role", "email"))
    wanted = NewStaff(name, role, _rights(here), email)
    with here.service.database.acting(here.by) as act:
        made = staff.add(act, here.course.id, wanted)
        link = accounts.make_course_link(act, made.person, here.service.settings.base)
    return _show_link(here, made, link)


@ROUTES.at("POST", "/courses/{course}/staff/link", TEACHERS, most=Form(page=show))
def link_staff(here: Now) -> Response:
    """Make a new link for a member of the staff, and show its only copy."""
    assert here.course
    base, person = here.service.settings.base, here.field("person")
    with here.service.database.acting(here.by) as act:
        if not forms.is_sure(here) and people.some_have_links(act.db, [person]):
            found = staff.find_to_link(act, here.course.id, person)
            return _ask_for_new_link(here, here.course, found.name)
        return _show_link(here, *staff.make_link(act, here.course.id, person, base))


def _ask_for_new_link(here: Here, one: Course, name: str) -> Response:
    place = f"/courses/{one.id}"
    question = SecondQuestion(
        f"Make a new link for {name}?",
        f"The link that {name} has now stops working at once.",
        "Yes, make a new link",
        place,
    )
    return forms.ask_again(here, [(one.title, place), (f"A link for {name}", "")], question)


def _show_link(here: Here, member: Member, link: str) -> Response:
    assert here.course
    trail = [(here.course.title, f"/courses/{here.course.id}"), (member.name, "")]
    return rendering.page(here, "staff_link.html", trail, name=member.name, link=link)


@ROUTES.at("POST", "/courses/{course}/staff/change", TEACHERS, most=Form(page=show))
def change_staff(here: Now) -> Response:
    """Change the role and rights of a member of the staff, or remove the member."""
    assert here.course
    if here.field("remove"):
        return _remove_staff(here, here.course, here.field("person"))
    with here.service.database.acting(here.by) as act:
        staff.change(act, here.course.id, here.field("person"), here.field("role"), _rights(here))
    return RedirectResponse(f"/courses/{here.course.id}", 303)


def _remove_staff(here: Here, one: Course, person: str) -> Response:
    """Remove a member of the staff, once it was said that this is wanted."""
    place = f"/courses/{one.id}"
    with here.service.database.acting(here.by) as act:
        found = staff.find_removable(act, one.id, person)
        if forms.is_sure(here):
            staff.remove(act, one.id, person)
            return RedirectResponse("/" if person == here.by else place, 303)
    question = SecondQuestion(
        f"Remove {found.name} from {one.title}?",
        f"{found.name} no longer sees the course. What {found.name} did in it stays. A teacher can"
        " add people again.",
        f"Yes, remove {found.name}",
        place,
    )
    return forms.ask_again(here, [(one.title, place), (f"Remove {found.name}", "")], question)


def _rights(here: Here) -> tuple[str, ...]:
    return tuple(one for one in here.form.getlist("may") if isinstance(one, str))


class SmallFile(NamedTuple):
    """A small file in a form."""

    name: str  # as the disk of its owner has it, without folders
    data: bytes


def read_upload(here: Here, largest: int) -> SmallFile | None:
    """Return the small file in a form; None if no file was chosen.

    Raises:
        UsageError: it is too large.
    """
    file = here.form.get("file")
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
