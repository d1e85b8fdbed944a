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
from harness.service.records import RIGHTS, TEACHER, Assigned, Course, Letter, Member
from harness.service.storage import courses, people
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.request_context import ADMINS, MEMBERS, TEACHERS, Here

ROUTES = Routes()


@ROUTES.at("POST", "/courses", ADMINS, most=Form(page=account.beginning))
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
    return assignment.standing_of(db, one, here.member.submits_as)


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


# --- Pages on which teachers change or remove an assignment, and rename or remove a course -------

_COURSE = "/courses/{course}"
_ONE = f"{_COURSE}/assignments/{{assignment}}"
_DATES = ("opens", "deadline", "closes", "deduction", "grace")


@ROUTES.at("GET", f"{_ONE}/change", TEACHERS)
def show_change(here: Now) -> Response:
    """Show the forms by which an assignment is changed or removed."""
    known, settings = here.sure(), here.service.settings
    with here.service.database.reading() as db:
        kept = changes.list_kept(db, known.assigned)
        lost = changes.list_lost(db, settings, known.assigned)
    filled = changes.values_of(known.assigned).digest
    trail = assignment.crumbs(here, "Change or remove")
    return rendering.page(
        here, "assignment_change.html", trail, kept=kept, lost=lost, filled=filled
    )


@ROUTES.at("POST", f"{_ONE}/change", TEACHERS, most=Form(page=show_change))
def change_assignment(here: Now) -> Response:
    """Change an assignment, once it was seen what changes for those who have submitted."""
    known, wanted, filled = here.sure(), _read_dates(here), here.field("filled") or None
    # Before the dates are judged, which may fit no longer.
    changes.values_of(known.assigned).require(filled)
    with here.service.database.acting(here.by) as act:
        planned = changes.plan(act.db, known.assigned, wanted)
        is_to_be_seen = _moves_dates(known.assigned, planned) and bool(
            planned.ended or changes.list_kept(act.db, known.assigned)
        )
        seen = here.field("seen")
        if not is_to_be_seen or seen:
            changes.change(act, known.assigned, wanted, seen or None, filled)
            return RedirectResponse(_address(here), 303)
    trail = assignment.crumbs(here, "Change")
    return rendering.page(here, "assignment_change_seen.html", trail, planned=planned)


def _read_dates(here: Here) -> Assigned:
    """Return the assignment as the form wants it."""
    now = here.sure().assigned
    return now._replace(
        title=here.field("title"),
        opens=keep_same(here.field("opens"), now.opens),
        deadline=keep_same(here.field("deadline"), now.deadline),
        closes=keep_same(here.field("closes"), now.closes),
        deduction=here.field("deduction"),
        grace=making.read_grace(here.field("grace"), 0),
        hidden=here.field("hidden") == "yes",
    )


def _moves_dates(now: Assigned, planned: Change) -> bool:
    return any(getattr(now, name) != getattr(planned.made, name) for name in _DATES)


def _address(here: Here) -> str:
    known = here.sure()
    return f"/courses/{known.course.id}/assignments/{known.assigned.id}"


@ROUTES.at("POST", f"{_ONE}/remove", TEACHERS, most=Form(page=show_change))
def remove_assignment(here: Now) -> Response:
    """Remove an assignment that nobody has submitted to."""
    known = here.sure()
    _require_tick(here)
    with here.service.database.acting(here.by) as act:
        changes.remove_assignment(act, known.assigned)
    changes.clear(here.service.settings, known.assigned)
    return RedirectResponse(f"/courses/{known.course.id}", 303)


def _require_tick(here: Here) -> None:
    if not forms.is_sure(here):
        raise UsageError("to remove it, tick that you want this")


@ROUTES.at("GET", f"{_COURSE}/change", TEACHERS)
def show_course(here: Now) -> Response:
    """Show the forms by which a course is renamed or removed."""
    assert here.course
    with here.service.database.reading() as db:
        kept = changes.list_kept_in_course(db, here.course)
        students = courses.students(db, here.course.id)
        found = courses.ASSIGNMENTS.all(db, "title", course=here.course.id)
    trail = [(here.course.title, f"/courses/{here.course.id}"), ("Rename or remove", "")]
    return rendering.page(
        here,
        "course_change.html",
        trail,
        kept=kept,
        students=students,
        assignments=found,
        filled=changes.values_of_course(here.course).digest,
    )


@ROUTES.at("POST", f"{_COURSE}/change", TEACHERS, most=Form(page=show_course))
def rename_course(here: Now) -> Response:
    """Give a course another title."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        filled = here.field("filled") or None
        changes.rename_course(act, here.course, here.field("title"), filled)
    return RedirectResponse(f"/courses/{here.course.id}", 303)


@ROUTES.at("POST", f"{_COURSE}/remove", TEACHERS, most=Form(page=show_course))
def remove_course(here: Now) -> Response:
    """Remove a course that nobody has submitted in."""
    assert here.course
    _require_tick(here)
    with here.service.database.acting(here.by) as act:
        removed = changes.remove_course(act, here.course)
    changes.clear_course(here.service.settings, here.course, removed)
    return RedirectResponse("/", 303)
