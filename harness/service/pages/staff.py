"""The staff of a course: teachers and assistants are listed, added, changed and removed."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.service.courses import staff
from harness.service.courses.staff import NewStaff
from harness.service.pages import forms
from harness.service.pages.forms import SecondQuestion
from harness.service.people import accounts
from harness.service.records import RIGHTS, TEACHER, Course, Member
from harness.service.storage import people
from harness.service.web import rendering
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, Form, Routes
from harness.service.web.request_context import RequestContext

ROUTES = Routes()


@ROUTES.at("GET", "/courses/{course}/staff", STAFF_ONLY)
def show(context: Context) -> Response:
    """Show the teachers and assistants of a course."""
    with context.reading() as db:
        found = staff.list_staff(db, context.course.id)
    is_only_teacher = sum(one.role == TEACHER for one in found) == 1
    return rendering.page(
        context,
        "staff.html",
        [(context.course.title, context.course_page), ("Staff", "")],
        staff=found,
        is_only_teacher=is_only_teacher,
        rights=RIGHTS,
    )


def _crumbs(context: RequestContext) -> list[tuple[str, str]]:
    base = context.course_page
    return [(context.course.title, base), ("Staff", f"{base}/staff")]


@ROUTES.at("GET", "/courses/{course}/staff/new", TEACHERS)
def show_new(context: Context) -> Response:
    """Show the form by which somebody is added."""
    trail = [*_crumbs(context), ("Add", "")]
    return rendering.page(context, "staff_new.html", trail, roles=staff.ROLES, rights=RIGHTS)


@ROUTES.at("GET", "/courses/{course}/staff/{staff}/change", TEACHERS)
def show_change(context: Context) -> Response:
    """Show the form by which the role and rights of somebody are changed."""
    colleague = context.colleague
    trail = [*_crumbs(context), (colleague.name, "")]
    return rendering.page(
        context, "staff_change.html", trail, one=colleague, roles=staff.ROLES, rights=RIGHTS
    )


@ROUTES.at("POST", "/courses/{course}/staff", TEACHERS, most=Form(page=show_new))
def add_staff(context: Context) -> Response:
    """Add a teacher or an assistant, and show the link to sign in by: its only copy."""
    name, role, email = (context.field(one) for one in ("name", "role", "email"))
    wanted = NewStaff(name, role, _rights(context), email)
    with context.acting() as act:
        made = staff.add(act, context.course.id, wanted)
        link = accounts.make_course_link(act, made.person, context.settings.base)
    return _show_link(context, made, link)


@ROUTES.at("POST", "/courses/{course}/staff/link", TEACHERS, most=Form(page=show))
def link_staff(context: Context) -> Response:
    """Make a new link for a member of the staff, and show its only copy."""
    base, person = context.settings.base, context.field("person")
    with context.acting() as act:
        if not forms.is_sure(context) and people.some_have_links(act.db, [person]):
            found = staff.find_to_link(act, context.course.id, person)
            return _ask_for_new_link(context, context.course, found.name)
        return _show_link(context, *staff.make_link(act, context.course.id, person, base))


def _ask_for_new_link(context: RequestContext, one: Course, name: str) -> Response:
    place = f"/courses/{one.id}/staff"
    question = SecondQuestion(
        f"Make a new link for {name}?",
        f"The link that {name} has now stops working at once.",
        "Yes, make a new link",
        place,
    )
    return forms.ask_again(context, [*_crumbs(context), (f"A link for {name}", "")], question)


def _show_link(context: RequestContext, member: Member, link: str) -> Response:
    trail = [*_crumbs(context), (member.name, "")]
    return rendering.page(context, "staff_link.html", trail, name=member.name, link=link)


@ROUTES.at("POST", "/courses/{course}/staff/change", TEACHERS, most=Form(page=show))
def change_staff(context: Context) -> Response:
    """Change the role and rights of a member of the staff, or remove the member."""
    if context.field("remove"):
        return _remove_staff(context, context.course, context.field("person"))
    with context.acting() as act:
        staff.change(
            act,
            context.course.id,
            context.field("person"),
            context.field("role"),
            _rights(context),
        )
    return RedirectResponse(f"{context.course_page}/staff", 303)


def _remove_staff(context: RequestContext, one: Course, person: str) -> Response:
    """Remove a member of the staff, once it was said that this is wanted."""
    place = f"/courses/{one.id}/staff"
    with context.acting() as act:
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
    return forms.ask_again(context, [*_crumbs(context), (f"Remove {found.name}", "")], question)


def _rights(context: RequestContext) -> tuple[str, ...]:
    return tuple(one for one in context.form.getlist("may") if isinstance(one, str))
