"""Links by mail: a student asks for one, a teacher sends them to a roster."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.service.mailing import posting
from harness.service.pages import sign_in
from harness.service.web import rendering
from harness.service.web.access import ANYBODY, TEACHERS, Form, Now, Refused, Routes

ROUTES = Routes()


@ROUTES.at("POST", "/sign-in/link", ANYBODY, most=Form(page=sign_in.sign_in))
def ask(here: Now) -> Response:
    """Let a link be sent to an address, if somebody has it: the answer is the same."""
    client = here.request.client
    if wait := here.service.asking.take(client.host if client else ""):
        raise Refused(429, f"too many ask for links: wait {wait} s", {"retry-after": str(wait)})
    with here.service.database.changing() as db:
        is_taken = posting.ask(db, here.field("email"))
    if not is_taken:
        raise Refused(429, "too many ask for links: try again in an hour")
    is_sent = bool(here.service.settings.mail)
    return rendering.page(here, "link_asked.html", [("Sign in", "")], is_sent=is_sent)


@ROUTES.at("POST", "/courses/{course}/links/send", TEACHERS)
def send(here: Now) -> Response:
    """Queue letters with links for all students of a course who have an address."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        posting.to_roster(act, here.course.id)
    return RedirectResponse(f"/courses/{here.course.id}", 303)
