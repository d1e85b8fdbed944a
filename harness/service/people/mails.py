"""Mails with links to sign in: asked for, written and delivered by SMTP or into a folder.

A letter waits in the database until a server takes it. The link in a mail is made when the mail is
sent: the database knows its digest alone, before and after. One that was not taken is removed
again, and the next try makes another.
"""

import contextlib
import os
import re
import smtplib
import ssl
import time
from collections.abc import Iterator, Sequence
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid, parseaddr
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection

from harness.core.errors import HarnessError, UsageError
from harness.core.network import is_this_machine
from harness.core.text import one_line
from harness.service import monitoring, records
from harness.service.people import accounts
from harness.service.records import Letter, Member, Person, new_id
from harness.service.settings import Settings
from harness.service.storage import courses, people, queue
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database

_POLICY = SMTP.clone(max_line_length=300)  # a link stays in one line
_LONGEST = 100  # characters of a name or a title


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


def compose(settings: Settings, letter: Letter, ways: Sequence[str]) -> EmailMessage:
    """Return the mail of a letter; raises MailRefusedError if its address is not one.

    ``ways``: each is a line with whose link it is, and one with the link.
    """
    subject, text = _WORDS[letter.kind]
    sender = settings.mail_from or f"gtp-harness@{urlsplit(settings.base).hostname}"
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
    message.set_content("\n".join([text.format(base=settings.base), *ways]))
    return message


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
    reached, _ = list_reached(act.db, course)
    for one in reached:
        now, named = time.time(), {"kind": records.ROSTER, "person": one.id, "course": course}
        if not people.LETTERS.find(act.db, state=records.WAITING, **named):
            people.LETTERS.remove(act.db, **named)  # this one tells what happens from now on
            new = Letter(new_id(), records.ROSTER, one.email, one.id, course, due=now, made=now)
            people.LETTERS.add(act.db, new)
    act.note("links sent", course, letters=len(reached))


def list_reached(db: Connection, course: str) -> tuple[list[Person], list[Member]]:
    """Return the students of a course whom a mail reaches, and those whom none does."""
    members = courses.students(db, course)
    known = {one.id: one for one in people.PEOPLE.all(db, id=[one.person for one in members])}
    reached = [known[one.person] for one in members if known[one.person].email]
    return reached, [one for one in members if not known[one.person].email]


def deliver(settings: Settings, database: Database) -> bool:
    """Send the next letter that is due; False if there is none. Raises as the database."""
    return queue.deliver_next(
        database, people.LETTERS, lambda letter: _deliver(settings, database, letter), HOUR
    )


def _deliver(settings: Settings, database: Database, letter: Letter) -> dict[str, object]:
    is_asked, base = letter.kind == records.ASKED, settings.base
    lasts = accounts.ASKED_LINK if is_asked else accounts.COURSE_LINK
    made, ways, ended, trouble = [], [], records.NOBODY, ""
    with database.acting() as act:
        if is_asked:  # all who have the address by now
            found = people.by_email(act.db, letter.address)
        else:
            named = {"person": letter.person, "role": records.STUDENT}
            is_there = courses.MEMBERS.find(act.db, course=letter.course, **named)
            found = people.PEOPLE.all(act.db, id=letter.person) if is_there else []
        for one in found:
            secret = accounts.make_link(act, one.id, lasts, once=is_asked)
            theirs = courses.of_person(act.db, one.id)
            titles = ", ".join(one_line(course.title, _LONGEST) for course, _ in theirs)
            whose = f"{one_line(one.name, _LONGEST)}{f' ({titles})' if titles else ''}"
            made.append((one, secret))
            ways.append(f"{whose}:\n{base}/enter/{secret.text}\n")
    if made:
        try:
            send(settings, compose(settings, letter, ways))
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


# --- Delivery: to a server by SMTP, or into a folder, from which an operator sends them ----------

NO_MAIL = (
    "This service sends no mail itself: each mail is a file on the server, which its operator has"
    " to pass on."
)
PASSWORD = "GTP_HARNESS_MAIL_PASSWORD"  # in the environment
_PORTS = {"smtp": 587, "smtps": 465}
_ANSWER = 15.0  # seconds for an answer of the server
_STATUS = re.compile(rb"^\d\.\d{1,3}\.\d{1,3}\b")  # RFC 3463


class MailDelayedError(HarnessError):
    """A mail was not taken now: it is to be tried again."""


class MailRefusedError(HarnessError):
    """A mail will never be taken."""


class MailServer(NamedTuple):
    """A server that takes mails, as ``--mail`` names it."""

    host: str
    port: int
    user: str  # empty if the server asks for none
    is_tls: bool  # from the beginning on; else by STARTTLS

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, where nobody else hears what is said in the clear."""
        return is_this_machine(self.host)


def server(settings: Settings) -> MailServer | None:
    """Return the server of the settings; None: mails are files.

    Raises:
        UsageError: it cannot be read, has a password in it, or no address is named as the sender.
    """
    if not settings.mail:
        return None
    try:
        parts = urlsplit(settings.mail)
        found = MailServer(
            parts.hostname or "",
            parts.port or _PORTS.get(parts.scheme, 0),
            unquote(parts.username or ""),
            parts.scheme == "smtps",
        )
    except ValueError:
        parts, found = urlsplit(""), MailServer("", 0, "", False)
    if parts.password is not None:  # others on this machine see command lines
        raise UsageError(f"--mail has a password: name its file by --mail-password, or {PASSWORD}")
    if parts.scheme not in _PORTS or not found.host or parts.path.strip("/"):
        why = f"--mail: found {settings.mail!r}, expected smtp://USER@HOST or smtps://USER@HOST"
        raise UsageError(why)
    if not settings.mail_from:
        raise UsageError("--mail needs --mail-from: the address that mails come from")
    if "@" not in parseaddr(settings.mail_from)[1]:
        raise UsageError(
            f"--mail-from: found {settings.mail_from!r}, expected a mail address, such as"
            " tests@example.org"
        )
    return found


def send(settings: Settings, message: EmailMessage) -> None:
    """Send a mail.

    Raises:
        MailDelayedError: it was not taken now.
        MailRefusedError: it will never be.
        UsageError: the settings are not good.
    """
    found, folder = server(settings), settings.letters
    if found is None:  # a file that mail programs open; its owner alone may read it
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(4).hex()}.eml"
        unfinished = folder / f".{name}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished.touch(0o600)
            unfinished.write_bytes(message.as_bytes())
            unfinished.rename(folder / name)
        except OSError as error:
            raise MailDelayedError(f"cannot write into {folder}: {error.strerror}") from None
        return
    with _naming_errors(found), _connect(settings, found) as smtp:
        smtp.send_message(message)


def probe(settings: Settings) -> str:
    """Return how mails are sent, in words; nothing is sent. Raises as :func:`send`."""
    found = server(settings)
    if found is None:
        return f"files in {settings.letters}, for you to pass on: --mail names a server"
    with _naming_errors(found), _connect(settings, found) as smtp:
        smtp.noop()
    return f"{found.host}:{found.port}, from {settings.mail_from}"


@contextlib.contextmanager
def _connect(settings: Settings, mail_server: MailServer) -> Iterator[smtplib.SMTP]:
    """Give a connection to a server, encrypted but on this machine, on which one is signed in."""
    place = (mail_server.host, mail_server.port)
    smtp = (
        smtplib.SMTP_SSL(*place, timeout=_ANSWER, context=ssl.create_default_context())
        if mail_server.is_tls
        else smtplib.SMTP(*place, timeout=_ANSWER)
    )
    with smtp:
        smtp.ehlo()
        if not mail_server.is_tls and not (mail_server.is_local and not smtp.has_extn("starttls")):
            smtp.starttls(context=ssl.create_default_context())
        if mail_server.user:
            password, file = os.environ.get(PASSWORD, ""), settings.mail_password
            try:
                password = Path(file).read_text("utf-8").rstrip("\r\n") if file else password
            except (OSError, ValueError):
                raise MailDelayedError(f"--mail-password: cannot read {file}") from None
            smtp.login(mail_server.user, password)
        yield smtp


@contextlib.contextmanager
def _naming_errors(mail_server: MailServer) -> Iterator[None]:
    """Turn what goes wrong into sentences, without the words of the server.

    Those may repeat an address or, where a filter did not like it, the link.
    """
    place = f"{mail_server.host}:{mail_server.port}"
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        code, said = next(iter(error.recipients.values()))
        raise _explain_answer(place, code, said) from None
    except smtplib.SMTPAuthenticationError as error:
        raise MailDelayedError(f"{place} does not let us in: {error.smtp_code}") from None
    except smtplib.SMTPResponseException as error:
        raise _explain_answer(place, error.smtp_code, error.smtp_error) from None
    except smtplib.SMTPNotSupportedError:
        why = f"{place} lacks a feature that is needed: STARTTLS, AUTH or SMTPUTF8"
        raise MailDelayedError(why) from None
    except ssl.SSLCertVerificationError as error:
        raise MailDelayedError(f"{place}: certificate not valid: {error.verify_message}") from None
    except (OSError, smtplib.SMTPException) as error:
        why = "it does not reply as a mail server does"
        if isinstance(error, TimeoutError):
            why = f"no reply in {_ANSWER:g} seconds"
        elif isinstance(error, smtplib.SMTPServerDisconnected):
            why = "it ended the connection"
        why = getattr(error, "strerror", None) or why
        raise MailDelayedError(f"{place} cannot be reached: {why}") from None


def _explain_answer(place: str, code: int, answer: bytes | str) -> HarnessError:
    """Return what an answer of a server means: from 500 on it will not change (RFC 5321)."""
    text = answer if isinstance(answer, bytes) else answer.encode(errors="replace")
    status = _STATUS.match(text)
    told = f"{code} {status[0].decode()}" if status else str(code)
    kind = MailRefusedError if 500 <= code < 600 else MailDelayedError
    return kind(f"{place} answered {told}")
