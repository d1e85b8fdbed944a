"""People, what they sign in with, letters to them, and the idempotency keys of their requests.

Of secrets there are digests only.
"""

import json
import time
from collections.abc import Iterable

from sqlalchemy import Connection, Table, func, select, text

from harness.service import records
from harness.service.records import Link, Person, Session, Token
from harness.service.storage import tables

ENTERED = "signed in"  # in the audit log
PEOPLE = tables.Rows(Person, tables.PERSON)
LINKS = tables.Rows(Link, tables.LINK)
SESSIONS = tables.Rows(Session, tables.SESSION)
TOKENS = tables.Rows(Token, tables.TOKEN)
_ENDING: tuple[Table, ...] = (tables.SESSION, tables.LINK, tables.TOKEN)


def of_link(db: Connection, digest: str) -> Person | None:
    """Return whose a link is, if it holds."""
    link = tables.LINK.c
    query = PEOPLE.query.join(tables.LINK, link.person == tables.PERSON.c.id)
    return PEOPLE.first(db, query.where(link.digest == digest, link.until > time.time()))


def use_link(db: Connection, digest: str) -> Person | None:
    """Return whose a link is, if it holds; one that holds once is gone then."""
    found = of_link(db, digest)
    LINKS.remove(db, digest=digest, once=1)
    return found


def revoke_links(db: Connection, person: str, but: str = "") -> None:
    """Revoke all sign-in links of a person except the one with this digest."""
    db.execute(tables.LINK.delete().filter_by(person=person).where(tables.LINK.c.digest != but))


def some_have_links(db: Connection, persons: Iterable[str]) -> bool:
    """Whether a link of one of these people holds."""
    holds = select(tables.LINK.c.person).where(tables.LINK.c.until > time.time())
    return not set(db.scalars(holds)).isdisjoint(persons)


def by_email(db: Connection, address: str) -> list[Person]:
    """Return the people with a mail address, in any case: one may be in several courses."""
    own = tables.PERSON.c
    query = PEOPLE.query.where(own.email != "", func.lower(own.email) == address.lower())
    return PEOPLE.list(db, query.order_by(own.name, own.id))


def add_session(db: Connection, digest: str, person: str, until: float, frame: str = "") -> None:
    """Begin a session; sessions that have run out are removed.

    ``frame``: the origins whose pages may show it in a frame, with blanks between them.
    """
    now = time.time()
    db.execute(tables.SESSION.delete().where(tables.SESSION.c.until < now))
    SESSIONS.add(db, Session(digest, person, now, until, frame))


def find_frame(db: Connection, digest: str) -> str:
    """Return the origins whose pages may show a session in a frame; "" for none."""
    found = SESSIONS.find(db, digest=digest)
    return found.frame if found else ""


def of_session(db: Connection, digest: str) -> Person | None:
    """Return whose a session is, if it holds."""
    session = tables.SESSION.c
    query = PEOPLE.query.join(tables.SESSION, session.person == tables.PERSON.c.id)
    holds = tables.PERSON.c.is_shut_out == 0, session.until > time.time()
    return PEOPLE.first(db, query.where(*holds, session.digest == digest))


def end_access(db: Connection, person: str) -> None:
    """End all sessions, links and tokens of somebody."""
    revoke_links(db, person)
    SESSIONS.remove(db, person=person)
    TOKENS.remove(db, person=person)


def add_token(db: Connection, token: Token, digest: str) -> None:
    """Write down an API token by the digest of its secret."""
    db.execute(tables.TOKEN.insert(), {**token._asdict(), "digest": digest})


def of_token(db: Connection, digest: str) -> Token | None:
    """Return the API token with this digest, if it holds."""
    own = tables.TOKEN.c
    return TOKENS.first(db, TOKENS.query.where(own.digest == digest, own.until > time.time()))


def count_ended(db: Connection, before: float) -> int:
    """Return how many sessions, links and tokens ended before a time."""
    return sum(tables.count(db, one.c["until"] < before) for one in _ENDING)


def forget_ended(db: Connection, before: float) -> None:
    """Remove the sessions, links and tokens that ended before a time."""
    for one in _ENDING:
        db.execute(one.delete().where(one.c["until"] < before))


def has_entered(db: Connection) -> bool:
    """Whether anybody ever signed in."""
    entered = select(tables.AUDIT.c.link).where(tables.AUDIT.c.what == ENTERED).limit(1)
    # The line that said so may have been cut off.
    cut = select(tables.AUDIT_END.c.one).where(tables.AUDIT_END.c.one == 0)
    return any(db.execute(query).fetchone() is not None for query in (entered, cut))


def by_id(db: Connection, pair: str) -> list[Person]:
    """Return which students a platform's id names; ``pair``: JSON, as in a member's ``ids``."""
    member = tables.MEMBER.c
    query = PEOPLE.query.join(tables.MEMBER, member.person == tables.PERSON.c.id)
    having = query.add_columns(member.ids).where(member.ids.contains(pair, autoescape=True))
    rows = db.execute(having)
    wanted = json.loads(pair)  # letters of any case are found by SQLite
    return [PEOPLE.read(row[:-1]) for row in rows if wanted in json.loads(row[-1])]


# --- Mails to be sent: rows that wait until a server takes them. No secret is in one -------------


LETTERS = tables.Rows(records.Letter, tables.LETTER)


def waiting_letters(db: Connection, kind: str) -> int:
    """Return how many letters of a kind wait."""
    return tables.count(db, tables.LETTER.c.kind == kind, tables.LETTER.c.state == records.WAITING)


def count_asked(db: Connection, address: str, since: float) -> int:
    """Return how often a letter to an address was asked for since a time."""
    own = tables.LETTER.c
    return tables.count(db, own.kind == records.ASKED, own.address == address, own.made >= since)


def forget_asked(db: Connection, before: float) -> None:
    """Remove letters asked for before a time that no longer wait."""
    own = tables.LETTER.c
    old = own.kind == records.ASKED, own.state != records.WAITING, own.made < before
    db.execute(tables.LETTER.delete().where(*old))


def count_settled(db: Connection, before: float) -> int:
    """Return how many letters were made before a time and no longer wait."""
    own = tables.LETTER.c
    return tables.count(db, own.made < before, own.state != records.WAITING)


def forget_settled(db: Connection, before: float) -> None:
    """Remove the letters that were made before a time and no longer wait."""
    own = tables.LETTER.c
    db.execute(tables.LETTER.delete().where(own.made < before, own.state != records.WAITING))


def count_letters(db: Connection) -> dict[str, int]:
    """Return how many letters there are in each state."""
    return dict(tables.tally(db, tables.LETTER.c.state))


# --- Idempotency keys: what a request made that is sent again when its answer was lost -----------


KEY_LASTS = 86400.0  # seconds that a key is known


REPEATS = tables.Rows(records.RepeatedRequest, tables.REPEATED)
# Another request with the same key, in another transaction, waits here for the end of that one.
_CLAIM = text(
    "INSERT INTO repeated (person, key, digest, made, at)"
    " VALUES (:person, :key, :digest, '', :at) ON CONFLICT DO NOTHING"
)


def claim_key(db: Connection, person: str, key: str, digest: str) -> records.RepeatedRequest:
    """Return the request under a key: this one, with nothing made yet, or the one before."""
    now = time.time()
    db.execute(tables.REPEATED.delete().where(tables.REPEATED.c.at < now - KEY_LASTS))
    db.execute(_CLAIM, {"person": person, "key": key, "digest": digest, "at": now})
    found = REPEATS.find(db, person=person, key=key)
    assert found is not None  # it was written, by this transaction or by one before
    return found


def keep_made(db: Connection, request: records.RepeatedRequest, result: str) -> None:
    """Write down what a request made."""
    REPEATS.change(db, {"made": result}, person=request.person, key=request.key)
