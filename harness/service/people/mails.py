"""Mails with links to sign in: asked for, written and sent.

A letter waits in the database until a server takes it. The link in a mail is made when the mail is
sent: the database knows its digest alone, before and after. One that was not taken is removed
again, and the next try makes another.
"""

import functools
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
from harness.service import monitoring
from harness.service.people import accounts, mail_server
from harness.service.people.accounts import Secret
from harness.service.people.mail_server import MailDelayedError, MailRefusedError
from harness.service.records import (
    ASKED,
    GIVEN_UP,
    NOBODY,
    ROSTER,
    SENT,
    STUDENT,
    WAITING,
    Letter,
    Member,
    Person,
)
from harness.service.settings import Settings
from harness.service.storage import courses, outgoing, people
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database
from harness.service.storage.tables import new_id
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
_WORDS = {ASKED: ("Your link to sign in", _ASKED), ROSTER: ("Your link to your course", _ROSTER)}


def compose(settings: Settings, letter: Letter, ways: Sequence[MailLink]) -> EmailMessage:
    """Return the mail of a letter, with its links.

    Raises:
        MailRefusedError: the address is not one.
    """
    subject, text = _WORDS[letter.kind]
    sender = settings.mail_from or f"gtp-harness@{urlsplit(settings.base).hostname}"
    parts = [text.format(base=settings.base), *map(_describe_way, ways)]
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


def _describe_way(link: MailLink) -> str:
    courses = ", ".join(map(_short, link.courses))
    return f"{_short(link.name)}{f' ({courses})' if courses else ''}:\n{link.link}\n"


def _short(text: str) -> str:
    return one_line(text, _LONGEST)


# --- Asking for mails, and sending them: a letter waits in the database until a server takes it --
# The link in a mail is made when the mail is sent: the database knows its digest alone, before and
# after. One that was not taken is removed again, and the next try makes another.


HOUR = 3600.0
MOST_TO_ONE = 3  # letters to one address in an hour
MOST_ASKED = 1000  # that wait: more are not taken
_PATIENCE = 3 * 86400.0  # seconds after which a letter is given up


# --- asking ------------------------------------------------------------------------------------


def ask(db: Connection, text: str) -> bool:
    """Queue a letter to an address; when it is sent, the people with that address are looked up.

    So it takes as long for an address that nobody has. What is asked for too often is not put in,
    and nothing tells so. False: too many letters wait already.

    Raises:
        UsageError: it is not a mail address.
    """
    address, now = accounts.check_address(text), time.time()
    people.forget_asked(db, now - HOUR)
    if people.waiting_letters(db, ASKED) >= MOST_ASKED:
        return False
    if people.count_asked(db, address, now - HOUR) < MOST_TO_ONE:
        people.LETTERS.add(db, Letter(new_id(), ASKED, address, due=now, made=now))
    return True


def to_roster(act: AuditedTransaction, course: str) -> None:
    """Queue a letter for each student of a course who has an address and no letter waiting."""
    reached = _list_reached(act.db, course)
    for one in reached:
        _put(act.db, one, course)
    act.note("links sent", course, letters=len(reached))


def count_with_address(db: Connection, course: str) -> int:
    """Return how many students of a course a mail reaches."""
    return len(_list_reached(db, course))


def _list_reached(db: Connection, course: str) -> list[Person]:
    return [person for _, person in _students(db, course) if person.email]


def list_without_address(db: Connection, course: str) -> list[Member]:
    """Return the students of a course whom no mail reaches."""
    return [member for member, person in _students(db, course) if not person.email]


def _students(db: Connection, course: str) -> list[tuple[Member, Person]]:
    members = courses.students(db, course)
    known = {one.id: one for one in people.PEOPLE.all(db, id=[one.person for one in members])}
    return [(one, known[one.person]) for one in members]


def _put(db: Connection, person: Person, course: str) -> None:
    now, named = time.time(), {"kind": ROSTER, "person": person.id, "course": course}
    if not people.LETTERS.find(db, state=WAITING, **named):
        people.LETTERS.remove(db, **named)  # what happened to the last one is told by this one
        new = Letter(new_id(), ROSTER, person.email, person.id, course, due=now, made=now)
        people.LETTERS.add(db, new)


def list_last_letters(db: Connection, course: str) -> list[Letter]:
    """Return the last letters to the roster of a course."""
    return people.LETTERS.all(db, "address", "id", kind=ROSTER, course=course)


# --- sending -----------------------------------------------------------------------------------


def deliver(settings: Settings, database: Database) -> bool:
    """Send the next letter that is due; False if there is none.

    Raises:
        ServerError: the database cannot be used now.
    """
    send = functools.partial(_send, settings, database)
    return outgoing.deliver_next(database, people.LETTERS, send, HOUR)


def _send(settings: Settings, database: Database, letter: Letter) -> dict[str, object]:
    """Return what of a letter changes by a try."""
    ended, trouble = _try_to_send(settings, database, letter)
    if ended == WAITING and time.time() - letter.made > _PATIENCE:
        ended = GIVEN_UP
    facts = {"letter": letter.id, "kind": letter.kind, "ended": ended, "trouble": trouble}
    monitoring.tell(settings, "mail", **facts)
    return {"state": ended, "trouble": trouble}


def _try_to_send(settings: Settings, database: Database, letter: Letter) -> tuple[str, str]:
    """Try to send a letter; return its state then, and what went wrong."""
    with database.acting() as act:
        made = [(one, _link(act, letter, one)) for one in _find_people(act.db, letter)]
        ways = [_way(settings, act.db, *pair) for pair in made]
    if not made:
        return NOBODY, ""
    try:
        mail_server.send(settings, compose(settings, letter, ways))
        ended, trouble = SENT, ""
    except (MailDelayedError, UsageError) as error:
        ended, trouble = WAITING, str(error)
    except MailRefusedError as error:
        ended, trouble = GIVEN_UP, str(error)
    with database.changing() as db:
        for person, secret in made:
            if ended != SENT:
                people.remove_link(db, secret.digest)
            elif letter.kind == ROSTER:
                people.revoke_links(db, person.id, but=secret.digest)
    return ended, trouble


def _find_people(db: Connection, letter: Letter) -> list[Person]:
    """Return the people a letter lets sign in: all with the address by now, or the student."""
    if letter.kind == ASKED:
        return people.by_email(db, letter.address)
    is_there = courses.MEMBERS.find(db, course=letter.course, person=letter.person, role=STUDENT)
    return people.PEOPLE.all(db, id=letter.person) if is_there else []


def _link(act: AuditedTransaction, letter: Letter, person: Person) -> Secret:
    is_asked = letter.kind == ASKED
    lasts = accounts.ASKED_LINK if is_asked else accounts.COURSE_LINK
    return accounts.make_link(act, person.id, lasts, once=is_asked)


def _way(settings: Settings, db: Connection, person: Person, secret: Secret) -> MailLink:
    titles = tuple(course.title for course, _ in courses.of_person(db, person.id))
    return MailLink(person.name, titles, f"{settings.base}/enter/{secret.text}")
