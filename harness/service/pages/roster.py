"""The students of a course: rosters are taken, students removed and added, links mailed."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from harness.errors import UsageError
from harness.service.courses import gradebooks, roster, roster_files
from harness.service.courses.roster import RosterOutcome
from harness.service.courses.roster_files import RosterFile
from harness.service.pages import account, course, forms
from harness.service.pages.forms import SecondQuestion
from harness.service.people import mail_server, mails
from harness.service.records import Course
from harness.service.web import rendering
from harness.service.web.access import Form, Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.request_context import ANYBODY, TEACHERS, Here
from harness.text import number_of

ROUTES = Routes()
_COURSE = "/courses/{course}"


@ROUTES.at("POST", f"{_COURSE}/roster", TEACHERS, most=Form(page=course.show))
def take_roster(here: Now) -> Response:
    """Take a roster, and show what it changed."""
    assert here.course
    name, wanted, data = _receive(here)
    with here.service.database.acting(here.by) as act:
        found = roster.take(act, here.course.id, wanted)
    gradebooks.keep_roster(here.service.settings, here.course.id, data)
    trail = [(here.course.title, f"/courses/{here.course.id}"), ("Roster", "")]
    return rendering.page(
        here, "roster.html", trail, name=name, found=found, summary=summarize(found)
    )


def _receive(here: Here) -> tuple[str, RosterFile, bytes]:
    """Return the name of the file that a form sends, its content, and a small one's bytes."""
    file = here.form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise UsageError("choose a file with the roster first")
    with tempfile.NamedTemporaryFile(dir=here.service.settings.data, prefix=".roster-") as copy:
        shutil.copyfileobj(file.file, copy)
        copy.flush()
        wanted = _read(Path(copy.name), file.filename)
        data = gradebooks.read_roster(Path(copy.name))
    return roster_files.show_name(file.filename), wanted, data


def _read(path: Path, name: str) -> RosterFile:
    try:
        return roster_files.read(path, name)
    except UsageError as error:  # a page begins with a capital letter, and a name may have none
        raise UsageError(f"the roster cannot be used: {error}") from None


def summarize(found: RosterOutcome) -> str:
    """Return a sentence with the numbers of an outcome."""
    changed = {one.student for one in found.changed} - {one.key for one in found.returned}
    again = f"{len(found.returned)} added again, " if found.returned else ""
    return f"{len(found.added)} added, {again}{len(changed)} changed, {found.same} as before"


@ROUTES.at("POST", f"{_COURSE}/students/remove", TEACHERS, most=Form(page=course.show))
def remove(here: Now) -> Response:
    """Remove a student from the course, once it was said that this is wanted."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        found = roster.find_present(act, here.course.id, here.field("student"))
        if not forms.is_sure(here):
            return _ask_to_remove(here, here.course, found.name or found.key)
        roster.remove(act, here.course.id, found.key)
    return RedirectResponse(f"/courses/{here.course.id}", 303)


def _ask_to_remove(here: Here, one: Course, name: str) -> Response:
    place = f"/courses/{one.id}"
    question = SecondQuestion(
        f"Remove {name} from {one.title}?",
        "The student no longer sees the course, and is not graded. Submissions and marks are kept,"
        " and you can add the student again.",
        f"Yes, remove {name}",
        place,
    )
    trail = [(one.title, place), (f"Remove {name}", "")]
    return forms.ask_again(here, trail, question)


@ROUTES.at("POST", f"{_COURSE}/students/restore", TEACHERS, most=Form(page=course.show))
def restore(here: Now) -> Response:
    """Add a removed student again."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        roster.restore(act, here.course.id, here.field("student"))
    return RedirectResponse(f"/courses/{here.course.id}", 303)


# --- Links by mail: a student asks for one, a teacher sends them to a roster ---------------------


@ROUTES.at("POST", "/sign-in/link", ANYBODY, most=Form(page=account.sign_in))
def ask_for_link(here: Now) -> Response:
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
def send_links(here: Now) -> Response:
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
