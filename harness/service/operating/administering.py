"""People, and what they sign in with, for operators. Each change is in the audit log."""

from __future__ import annotations

from sqlalchemy import Connection

from harness.errors import UsageError
from harness.service.people import entering
from harness.service.people.secrets import Secret
from harness.service.records import Person, Token
from harness.service.storage import people
from harness.service.storage.audit_log import Act


def find(db: Connection, wanted: str) -> Person:
    """Return somebody by id, mail address or name.

    Raises:
        UsageError: nobody is called so, or several are.
    """
    for column in ("id", "email", "name") if wanted else ():  # many have no address
        found = people.PEOPLE.all(db, "id", **{column: wanted})
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(one.id for one in found)
            raise UsageError(f"{len(found)} people are called {wanted!r}: take an id of {ids}")
    raise UsageError(f"nobody is called {wanted!r}; gtp-harness admin people lists all")


def everybody(db: Connection) -> list[Person]:
    """Return all people, by name."""
    return people.PEOPLE.all(db, "name", "id")


def tokens(db: Connection, person: Person | None) -> list[tuple[Token, Person]]:
    """Return the tokens of somebody, or of all, each with its owner, the newest last."""
    owners = {one.id: one for one in everybody(db)}
    named = {"person": person.id} if person else {}
    return [(one, owners[one.person]) for one in people.TOKENS.all(db, "made", "id", **named)]


def link(act: Act, person: Person) -> Secret:
    """Return a link for one use by which somebody signs in."""
    return entering.link(act, person.id, entering.FIRST_LINK, once=True)


def revoke_token(act: Act, token_id: str) -> None:
    """Let a token hold no longer.

    Raises:
        UsageError: there is no such one.
    """
    if not people.TOKENS.remove(act.db, id=token_id):
        raise UsageError(f"there is no token {token_id!r}; gtp-harness admin tokens lists all")
    act.note("token revoked", token_id)


def shut_out(act: Act, person: Person) -> None:
    """End all sessions, links and tokens of somebody, who keeps courses and submissions."""
    people.revoke_links(act.db, person.id)
    people.end_sessions(act.db, person.id)
    people.TOKENS.remove(act.db, person=person.id)
    act.note("shut out", person.id)
