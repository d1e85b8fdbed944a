"""People, what they sign in with, letters to them, and the idempotency keys of their requests.

Of secrets there are digests only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, text

from harness.service.records import ASKED, WAITING, Letter, Person, Token
from harness.service.storage.tables import (
    AUDIT,
    AUDIT_END,
    LETTER,
    LINK,
    MEMBER,
    PERSON,
    REPEATED,
    SESSION,
    TOKEN,
    Rows,
)

ENTERED = "signed in"  # in the audit log
PEOPLE: Rows[Person] = Rows(Person, PERSON)
TOKENS: Rows[Token] = Rows(Token, TOKEN)


def add_link(db: Connection, digest: str, person: str, until: float, *, once: bool) -> None:
    """Let somebody sign in by a link, once or until it runs out."""
    row = {"digest": digest, "person": person, "until": until, "once": int(once)}
    db.execute(insert(LINK), row)


def of_link(db: Connection, digest: str) -> Person | None:
    """Return whose a link is, if it holds."""
    query = PEOPLE.query.join(LINK, LINK.c.person == PERSON.c.id)
    row = db.execute(query.where(LINK.c.digest == digest, LINK.c.until > time.time())).fetchone()
    return PEOPLE.read(row) if row is not None else None


def use_link(db: Connection, digest: str) -> Person | None:
    """Return whose a link is, if it holds; one that holds once is gone then."""
    found = of_link(db, digest)
    db.execute(delete(LINK).where(LINK.c.digest == digest, LINK.c.once == 1))
    return found


def revoke_links(db: Connection, person: str, but: str = "") -> None:
    """Revoke all sign-in links of a person except the one with this digest."""
    db.execute(delete(LINK).where(LINK.c.person == person, LINK.c.digest != but))


def some_have_links(db: Connection, persons: Iterable[str]) -> bool:
    """Whether a link of one of these people holds."""
    holds = select(LINK.c.person).where(LINK.c.until > time.time())
    return not set(db.scalars(holds)).isdisjoint(persons)


def remove_link(db: Connection, digest: str) -> None:
    """Let nobody sign in by a link."""
    db.execute(delete(LINK).where(LINK.c.digest == digest))


def by_email(db: Connection, address: str) -> list[Person]:
    """Return the people with a mail address, in any case: one may be in several courses."""
    is_it = func.lower(PERSON.c.email) == address.lower()
    query = PEOPLE.query.where(PERSON.c.email != "", is_it)
    return PEOPLE.list(db, query.order_by(PERSON.c.name, PERSON.c.id))


def add_session(db: Connection, digest: str, person: str, until: float, frame: str = "") -> None:
    """Begin a session; sessions that have run out are removed.

    ``frame``: the origins whose pages may show it in a frame, with blanks between them.
    """
    now = time.time()
    db.execute(delete(SESSION).where(SESSION.c.until < now))
    row = {"digest": digest, "person": person, "made": now, "until": until}
    db.execute(insert(SESSION), {**row, "frame": frame})


def find_frame(db: Connection, digest: str) -> str:
    """Return the origins whose pages may show a session in a frame; "" for none."""
    query = select(SESSION.c.frame).where(SESSION.c.digest == digest)
    return db.execute(query).scalar() or ""


def of_session(db: Connection, digest: str) -> Person | None:
    """Return whose a session is, if it holds."""
    query = PEOPLE.query.join(SESSION, SESSION.c.person == PERSON.c.id)
    query = query.where(PERSON.c.is_shut_out == 0)
    row = db.execute(
        query.where(SESSION.c.digest == digest, SESSION.c.until > time.time())
    ).fetchone()
    return PEOPLE.read(row) if row is not None else None


def end_session(db: Connection, digest: str) -> None:
    """End a session."""
    db.execute(delete(SESSION).where(SESSION.c.digest == digest))


def end_sessions(db: Connection, person: str) -> None:
    """End all sessions of somebody."""
    db.execute(delete(SESSION).where(SESSION.c.person == person))


def end_access(db: Connection, person: str) -> None:
    """End all sessions, links and tokens of somebody."""
    revoke_links(db, person)
    end_sessions(db, person)
    TOKENS.remove(db, person=person)


def add_token(db: Connection, token: Token, digest: str) -> None:
    """Write down an API token by the digest of its secret."""
    db.execute(insert(TOKEN), {**token._asdict(), "digest": digest})


def of_token(db: Connection, digest: str) -> Token | None:
    """Return the API token with this digest, if it holds."""
    query = TOKENS.query.where(TOKEN.c.digest == digest, TOKEN.c.until > time.time())
    row = db.execute(query).fetchone()
    return TOKENS.read(row) if row is not None else None


def has_entered(db: Connection) -> bool:
    """Whether anybody ever signed in."""
    entered = select(AUDIT.c.link).where(AUDIT.c.what == ENTERED).limit(1)
    cut = select(AUDIT_END.c.one).where(AUDIT_END.c.one == 0)  # the line that said so, perhaps
    return any(db.execute(query).fetchone() is not None for query in (entered, cut))


def by_id(db: Connection, pair: str) -> list[Person]:
    """Return which students a platform's id names; ``pair``: JSON, as in a member's ``ids``."""
    query = PEOPLE.query.join(MEMBER, MEMBER.c.person == PERSON.c.id).add_columns(MEMBER.c.ids)
    rows = db.execute(query.where(MEMBER.c.ids.contains(pair, autoescape=True)))
    wanted = json.loads(pair)  # letters of any case are found by SQLite
    return [PEOPLE.read(row[:-1]) for row in rows if wanted in json.loads(row[-1])]


# --- Mails to be sent: rows that wait until a server takes them. No secret is in one -------------


LETTERS: Rows[Letter] = Rows(Letter, LETTER)


def waiting_letters(db: Connection, kind: str) -> int:
    """Return how many letters of a kind wait."""
    query = select(func.count()).where(LETTER.c.kind == kind, LETTER.c.state == WAITING)
    return int(db.execute(query).scalar_one())


def count_asked(db: Connection, address: str, since: float) -> int:
    """Return how often a letter to an address was asked for since a time."""
    query = select(func.count()).where(
        LETTER.c.kind == ASKED, LETTER.c.address == address, LETTER.c.made >= since
    )
    return int(db.execute(query).scalar_one())


def forget_asked(db: Connection, before: float) -> None:
    """Remove letters asked for before a time that no longer wait."""
    db.execute(
        LETTER.delete().where(
            LETTER.c.kind == ASKED, LETTER.c.state != WAITING, LETTER.c.made < before
        )
    )


def count_letters(db: Connection) -> dict[str, int]:
    """Return how many letters there are in each state."""
    rows = db.execute(select(LETTER.c.state, func.count()).group_by(LETTER.c.state))
    return {row[0]: row[1] for row in rows}


# --- Idempotency keys: what a request made that is sent again when its answer was lost -----------


KEY_LASTS = 86400.0  # seconds that a key is known


class RepeatedRequest(NamedTuple):
    """A request under an idempotency key."""

    person: str
    key: str
    digest: str  # of where it went and of what was sent
    made: str  # the ID of the new object; empty if not yet known
    at: float


REPEATS: Rows[RepeatedRequest] = Rows(RepeatedRequest, REPEATED)
# Another request with the same key, in another transaction, waits here for the end of that one.
_CLAIM = text(
    "INSERT INTO repeated (person, key, digest, made, at)"
    " VALUES (:person, :key, :digest, '', :at) ON CONFLICT DO NOTHING"
)


def claim_key(db: Connection, person: str, key: str, digest: str) -> RepeatedRequest:
    """Return the request under a key: this one, with nothing made yet, or the one before."""
    now = time.time()
    db.execute(REPEATED.delete().where(REPEATED.c.at < now - KEY_LASTS))
    db.execute(_CLAIM, {"person": person, "key": key, "digest": digest, "at": now})
    found = REPEATS.find(db, person=person, key=key)
    assert found is not None  # it was written, by this transaction or by one before
    return found


def keep_made(db: Connection, repeated: RepeatedRequest, made: str) -> None:
    """Write down what a request made."""
    REPEATS.change(db, {"made": made}, person=repeated.person, key=repeated.key)
