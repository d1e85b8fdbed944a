"""Mails with links to sign in: asked for, written and sent.

A letter waits in the database until a server takes it. The link in a mail is made when the mail is
sent: the database knows its digest alone, before and after. One that was not taken is removed
again, and the next try makes another.
"""

import time
from collections.abc import Sequence
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from typing import NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import Connection

from harness.errors import UsageError
from harness.service import monitoring, records
from harness.service.people import accounts, mail_server
from harness.service.people.mail_server import MailDelayedError, MailRefusedError
from harness.service.records import Letter, Member, Person, new_id
from harness.service.settings import Settings
from harness.service.storage import courses, outgoing, people
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database
from harness.text import one_line

_POLICY = SMTP.clone(max_line_length=300)  # a link stays in one line
_LONGEST = 100  # characters of a name or a title


class MailLink(NamedTuple):
    """A link, and what it opens."""

    name: str  # whose it is
    courses: tuple[str, ...]  # their titles
    link: str


_ASKED = """\
Somebody, most likely you, asked for a link to sign in at {base}.
Each link works once, within an hour. If it was not you, do nothing.
"""
_ROSTER = """\
This is your link to {base}. It signs you in as you: keep it for yourself.
Earlier links no longer work.
"""
_WORDS = {
    records.ASKED: ("Your link to sign in", _ASKED),
    records.ROSTER: ("Your link to your course", _ROSTER),
}


def compose(settings: Settings, letter: Letter, ways: Sequence[MailLink]) -> EmailMessage:
    """Return the mail of a letter; raises MailRefusedError if its address is not one."""
    subject, text = _WORDS[letter.kind]
    sender = settings.mail_from or f"gtp-harness@{urlsplit(settings.base).hostname}"
    parts = [text.format(base=settings.base)]
    for way in ways:
        titles = ", ".join(map(_short, way.courses))
        whose = f"{_short(way.name)}{f' ({titles})' if titles else ''}"
        parts.append(f"{whose}:\n{way.link}\n")
    message = EmailMessage(policy=_POLICY)
    try:
        message["From"] = sender
        message["To"] = Address(addr_spec=letter.address)
        message["Subject"] = subject
    except (ValueError, IndexError, AttributeError, MessageError):  # as the parser meets them
        raise MailRefusedError("no mail can be sent to this address: correct it") from None
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2].strip("> "))
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody is out of office for it
    message.set_content("\n".join(parts))
    return message


def _short(text: str) -> str:
    return one_line(text, _LONGEST)


# --- Asking for mails, and sending them: a letter waits in the database until a server takes it --

HOUR = 3600.0
MOST_TO_ONE = 3  # letters to one address in an hour
MOST_ASKED = 1000  # that wait: more are not taken
_PATIENCE = 3 * 86400.0  # seconds after which a letter is given up


def ask(db: Connection, text: str) -> bool:
    """Queue a letter to an address; when it is sent, the people with that address are looked up.

    So it takes as long for an address that nobody has. What is asked for too often is not put in,
    and nothing tells so. False: too many letters wait already.

    Raises:
        UsageError: it is not a mail address.
    """
    address, now = accounts.check_address(text), time.time()
    people.forget_asked(db, now - HOUR)
    if people.waiting_letters(db, records.ASKED) >= MOST_ASKED:
        return False
    if people.count_asked(db, address, now - HOUR) < MOST_TO_ONE:
        people.LETTERS.add(db, Letter(new_id(), records.ASKED, address, due=now, made=now))
    return True


def to_roster(act: AuditedTransaction, course: str) -> None:
    """Queue a letter for each student of a course who has an address and no letter waiting."""
    reached = list_reached(act.db, course)
    for one in reached:
        now, named = time.time(), {"kind": records.ROSTER, "person": one.id, "course": course}
        if not people.LETTERS.find(act.db, state=records.WAITING, **named):
            people.LETTERS.remove(act.db, **named)  # this one tells what happens from now on
            new = Letter(new_id(), records.ROSTER, one.email, one.id, course, due=now, made=now)
            people.LETTERS.add(act.db, new)
    act.note("links sent", course, letters=len(reached))


def list_reached(db: Connection, course: str) -> list[Person]:
    """Return the students of a course whom a mail reaches."""
    return [person for _, person in _students(db, course) if person.email]


def list_without_address(db: Connection, course: str) -> list[Member]:
    """Return the students of a course whom no mail reaches."""
    return [member for member, person in _students(db, course) if not person.email]


def _students(db: Connection, course: str) -> list[tuple[Member, Person]]:
    members = courses.students(db, course)
    known = {one.id: one for one in people.PEOPLE.all(db, id=[one.person for one in members])}
    return [(one, known[one.person]) for one in members]


def deliver(settings: Settings, database: Database) -> bool:
    """Send the next letter that is due; False if there is none. Raises as the database."""
    return outgoing.deliver_next(
        database, people.LETTERS, lambda letter: _send(settings, database, letter), HOUR
    )


def _send(settings: Settings, database: Database, letter: Letter) -> dict[str, object]:
    is_asked, base = letter.kind == records.ASKED, settings.base
    lasts = accounts.ASKED_LINK if is_asked else accounts.COURSE_LINK
    made, ways, ended, trouble = [], [], records.NOBODY, ""
    with database.acting() as act:
        for one in _find_people(act.db, letter):
            secret = accounts.make_link(act, one.id, lasts, once=is_asked)
            titles = tuple(course.title for course, _ in courses.of_person(act.db, one.id))
            made.append((one, secret))
            ways.append(MailLink(one.name, titles, f"{base}/enter/{secret.text}"))
    if made:
        try:
            mail_server.send(settings, compose(settings, letter, ways))
            ended = records.SENT
        except (MailDelayedError, UsageError) as error:
            ended, trouble = records.WAITING, str(error)
        except MailRefusedError as error:
            ended, trouble = records.GIVEN_UP, str(error)
        with database.changing() as db:
            for person, secret in made:
                if ended != records.SENT:
                    people.LINKS.remove(db, digest=secret.digest)
                elif letter.kind == records.ROSTER:
                    people.revoke_links(db, person.id, but=secret.digest)
    if ended == records.WAITING and time.time() - letter.made > _PATIENCE:
        ended = records.GIVEN_UP
    facts = {"letter": letter.id, "kind": letter.kind, "ended": ended, "trouble": trouble}
    monitoring.tell(settings, "mail", **facts)
    return {"state": ended, "trouble": trouble}


def _find_people(db: Connection, letter: Letter) -> list[Person]:
    """Return the people a letter lets sign in: all with the address by now, or the student."""
    if letter.kind == records.ASKED:
        return people.by_email(db, letter.address)
    is_there = courses.MEMBERS.find(
        db, course=letter.course, person=letter.person, role=records.STUDENT
    )
    return people.PEOPLE.all(db, id=letter.person) if is_there else []
