"""Links by mail: a student asks for one, a teacher sends them to a roster."""

from __future__ import annotations

from fastapi.responses import RedirectResponse, Response

from harness.service.pages import forms, sign_in
from harness.service.pages.forms import SecondQuestion
from harness.service.people import mail_server, mails
from harness.service.records import Course
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rules import ANYBODY, TEACHERS
from harness.text import number_of

ROUTES = Routes()


@ROUTES.at("POST", "/sign-in/link", ANYBODY, most=Form(page=sign_in.sign_in))
def ask(here: Now) -> Response:
    """Let a link be sent to an address, if somebody has it: the answer is the same."""
    client = here.request.client
    if wait := here.service.asking.take(client.host if client else ""):
        raise Refused(429, f"too many ask for links: wait {wait} s", {"retry-after": str(wait)})
    with here.service.database.changing() as db:
        is_taken = mails.ask(db, here.field("email"))
    if not is_taken:
        raise Refused(429, "too many ask for links: try again in an hour")
    is_sent = bool(here.service.settings.mail)
    return rendering.page(here, "link_asked.html", [("Sign in", "")], is_sent=is_sent)


@ROUTES.at("POST", "/courses/{course}/links/send", TEACHERS)
def send(here: Now) -> Response:
    """Queue letters with links for students who have an address, once it was said to be wanted."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        letters = mails.count_with_address(act.db, here.course.id)
        if letters and not forms.is_sure(here):
            return _ask_to_send(here, here.course, letters)
        mails.to_roster(act, here.course.id)
    return RedirectResponse(f"/courses/{here.course.id}", 303)


def _ask_to_send(here: Here, one: Course, letters: int) -> Response:
    place = f"/courses/{one.id}"
    told = "" if here.service.settings.mail else f" {mail_server.NO_MAIL}"
    question = SecondQuestion(
        f"Send {number_of(letters, 'mail')} with a new link?",
        f"Each student of {one.title} with a mail address gets one. It cannot be taken back, and"
        f" the link that the student has now stops working when it is sent.{told}",
        "Yes, send the links",
        place,
    )
    return forms.ask_again(here, [(one.title, place), ("Links by mail", "")], question)
