"""A request that is sent again does nothing again: idempotency keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import Header

from harness.service.storage import idempotency
from harness.service.storage.audit import Act
from harness.service.web.problems import Refused

IdempotencyKey = Annotated[
    str,
    Header(
        max_length=64,
        pattern="^[A-Za-z0-9_-]*$",
        description="of your own choice; a second request with it is answered as the first was",
    ),
]


_Made = TypeVar("_Made")


def require_kept(found: _Made | None, what: str) -> _Made:
    """Return what :func:`once` made, now or before; ``what``: a noun for it.

    Raises:
        Refused: somebody has removed it since; it is not made again.
    """
    if found is None:
        raise Refused(
            409,
            f"Idempotency-Key: the {what} that it made was removed; take a new key to make another"
            " one",
        )
    return found


def once(act: Act, key: str, sent: tuple[str, ...], make: Callable[[], str]) -> str:
    """Make something, unless a request with the same key did; return its id.

    ``sent``: where the request went and what it said; ``key``: empty for none.

    Raises:
        Refused: a request with the key said something else.
    """
    if not key:
        return make()
    digest = hashlib.sha256("\0".join(sent).encode()).hexdigest()
    found = idempotency.claim(act.db, act.by, key, digest)
    if found.digest != digest:
        raise Refused(409, "Idempotency-Key: another request had it; take a new one")
    if not found.made:
        found = found._replace(made=make())
        idempotency.keep(act.db, found, found.made)
    return found.made
