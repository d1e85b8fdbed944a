"""People: their names and addresses, and the links, sessions and tokens that let them in.

Each secret is told once; what is kept is its digest.
"""

import hashlib
import re
import secrets
import time
from dataclasses import dataclass, field

from sqlalchemy import Connection

from harness.core.errors import UsageError
from harness.core.text import one_line
from harness.service.records import ROSTER, STAFF, TEACHER, WAITING, Link, Person, Token, new_id
from harness.service.storage import courses, people
from harness.service.storage.audit import AuditedTransaction


@dataclass(frozen=True, slots=True)
class Secret:
    """A new secret; how it is printed does not show it."""

    text: str = field(repr=False)  # for the one whom it lets in
    digest: str = field(repr=False)  # for the database


def new_secret(prefix: str = "") -> Secret:
    """Return a secret that begins with a prefix, by which scanners know what was leaked."""
    text = prefix + secrets.token_urlsafe(32)
    return Secret(text, digest_of(text))


def digest_of(text: str) -> str:
    """Return what of a secret is kept."""
    return hashlib.sha256(text.encode()).hexdigest()


def form_token(session: str) -> str:
    """Return what the forms of a session must carry: who can read it has the session anyway."""
    return hashlib.sha256(f"form {session}".encode()).hexdigest()


# --- Signing in and out, and the links and tokens that let somebody in ---------------------------

SESSION = 12 * 3600.0  # seconds
FIRST_LINK = 24 * 3600.0  # of a teacher, for one use
COURSE_LINK = 200 * 86400.0  # of a student, for a term
ASKED_LINK = 3600.0  # that somebody asked for, for one use
LONGEST_TOKEN = 365  # days
_DAY = 86400.0
MOST_TOKENS = 50  # of one person
_LONGEST_NAME = 100  # characters
_LONGEST_ADDRESS = 254  # characters (RFC 5321)
_ADDRESS = re.compile(r"[^@\s\x00-\x20\x7f]+@[^@\s\x00-\x20\x7f]+")
SCOPES = ("read", "submit", "all")
PREFIX = "gtph_"  # of API tokens


class AccountDisabledError(UsageError):
    """Somebody whom the operator has shut out is not let in."""


def require_enabled(person: Person) -> None:
    """Raise a AccountDisabledError if a person is shut out."""
    if person.is_shut_out:
        raise AccountDisabledError(
            f"{person.name} is shut out of this service: ask its operator"
            " (gtp-harness admin let-in)"
        )


def add_person(
    act: AuditedTransaction, name: str, email: str = "", *, is_admin: bool = False
) -> Person:
    """Make somebody known."""
    person = Person(new_id(), name, email, is_admin, time.time())
    people.PEOPLE.add(act.db, person)
    act.note("person added", person.id, name=name, admin=is_admin)
    return person


def check_address(text: str) -> str:
    """Return a mail address that somebody typed, as it is kept; UsageError if it is not one."""
    address = text.strip().lower()
    if len(address) > _LONGEST_ADDRESS or not _ADDRESS.fullmatch(address):
        raise UsageError("email: expected a mail address, such as ada@example.org")
    return address


def make_link(act: AuditedTransaction, person: str, lifetime: float, *, once: bool) -> Secret:
    """Return a new secret by which somebody signs in; ``lifetime``: seconds."""
    secret = new_secret()
    people.LINKS.add(act.db, Link(secret.digest, person, once, time.time() + lifetime))
    act.note("link made", person, once=once)
    return secret


def make_course_link(act: AuditedTransaction, person: str, base: str) -> str:
    """Return a new address to sign in by for a whole course; nothing else keeps it."""
    return f"{base}/enter/{make_link(act, person, COURSE_LINK, once=False).text}"


def enter_by_link(act: AuditedTransaction, code: str) -> tuple[Person, Secret] | None:
    """Begin a session by a link; None if it does not hold. Raises as :func:`begin_session`."""
    person = people.use_link(act.db, digest_of(code))
    return None if person is None else (person, begin_session(act, person))


def begin_session(act: AuditedTransaction, person: Person, frame: str = "", **how: str) -> Secret:
    """Begin a session of somebody; ``how`` somebody was known goes into the audit log.

    ``frame``: the origins whose pages may show it in a frame.

    Raises:
        AccountDisabledError: the operator has shut the person out.
    """
    require_enabled(person)
    secret = new_secret()
    people.add_session(act.db, secret.digest, person.id, time.time() + SESSION, frame)
    act._replace(by=person.id).note(people.ENTERED, person.id, **how)
    return secret


def make_token(
    act: AuditedTransaction, name: str, scope: str, days: int = LONGEST_TOKEN, *, owner: str = ""
) -> tuple[Token, Secret]:
    """Return a new API token of its owner, or else of the person who acts, and its secret.

    Raises:
        UsageError: there is no such scope, it would last too long, or there are too many.
    """
    name, person = one_line(name, _LONGEST_NAME), owner or act.by
    if not name.strip():
        raise UsageError("name: found nothing, expected the purpose of the token")
    if not 1 <= days <= LONGEST_TOKEN:
        raise UsageError(f"days: found {days}, expected 1 to {LONGEST_TOKEN}")
    if len(people.TOKENS.all(act.db, person=person)) >= MOST_TOKENS:
        raise UsageError(f"there are {MOST_TOKENS} tokens already: revoke one first")
    if scope not in SCOPES:
        raise UsageError(f"scope: found {scope!r}, expected one of {', '.join(SCOPES)}")
    secret, now = new_secret(PREFIX), time.time()
    made = Token(new_id(), person, name, scope, now, now + days * _DAY)
    people.add_token(act.db, made, secret.digest)
    act.note("token made", made.id, name=name, scope=scope)
    return made, secret


def by_token(db: Connection, text: str) -> tuple[Person, Token] | None:
    """Return whose an API token is, and what it may; None if it does not hold."""
    found = people.of_token(db, digest_of(text))
    person = people.PEOPLE.find(db, id=found.person) if found else None
    return (person, found) if person and found and not person.is_shut_out else None


def revoke_token(act: AuditedTransaction, token_id: str) -> bool:
    """Let a token of the person who acts hold no longer; False if there is no such one."""
    is_gone = bool(people.TOKENS.remove(act.db, id=token_id, person=act.by))
    if is_gone:
        act.note("token revoked", token_id)
    return is_gone


# --- Changing people: the name that others see, and the mail address -----------------------------

RENAMED = "name changed"  # in the audit log
_LONGEST = 200  # characters of a name


def check_name(text: str, noun: str = "name") -> str:
    """Return a name, or ``noun`` it is, as it is kept; UsageError: it is empty or very long."""
    name = one_line(" ".join(text.split()))
    if not 0 < len(name) <= _LONGEST:
        raise UsageError(f"{noun}: found {len(name)} characters, expected 1 to {_LONGEST}")
    return name


def rename(act: AuditedTransaction, person: Person, name: str) -> Person:
    """Change the name of a person, also in the lists of staff; raises as :func:`check_name`."""
    wanted = check_name(name)
    if wanted == person.name:
        return person
    values: dict[str, object] = {"name": wanted}
    people.PEOPLE.change(act.db, values, id=person.id)
    for role in STAFF:
        courses.MEMBERS.change(act.db, values, person=person.id, role=role)
    act.note(RENAMED, person.id, was=person.name, now=wanted)
    return person._replace(name=wanted)


def chose_a_name(act: AuditedTransaction, person: Person) -> bool:
    """Whether a person has changed the own name: a roster does not change it then."""
    found = act.log.entries(act.db, [person.id])
    return any(one.what == RENAMED and one.person == person.id for one in found)


def change_email(act: AuditedTransaction, person: Person, address: str) -> Person:
    """Change the mail address of a person; mails that wait go to the new one.

    Links, sessions and tokens end if there was another address: a link that was sent there may
    have let somebody else in.
    """
    people.PEOPLE.change(act.db, {"email": address}, id=person.id)
    waiting = {"kind": ROSTER, "person": person.id, "state": WAITING}
    people.LETTERS.change(act.db, {"address": address}, **waiting)
    if is_another_address(person.email, address):
        people.end_access(act.db, person.id)
    act.note("mail address changed", person.id, was=person.email, now=address)
    return person._replace(email=address)


def is_another_address(was: str, now: str) -> bool:
    """Whether mail to an address went to somebody else than it does now."""
    return bool(was) and was.casefold() != now.casefold()


def may_be_changed_by(db: Connection, person: Person, teacher: str) -> bool:
    """Whether a teacher's roster may change a person: a student of this teacher alone.

    With an address of the teacher's choice somebody could sign in as the person, who may have
    rights elsewhere.
    """
    found = courses.MEMBERS.all(db, person=person.id)
    if person.is_admin or any(one.role in STAFF for one in found):
        return False
    return all(
        courses.MEMBERS.find(db, course=one.course, person=teacher, role=TEACHER) for one in found
    )
