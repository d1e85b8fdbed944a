"""Lists in pages: each tells where the next one begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel
from sqlalchemy import Connection

from harness.service.storage.tables import Rows
from harness.service.web.problems import Refused

T = TypeVar("T")
Row = TypeVar("Row", bound=tuple[Any, ...])
_MOST = 100


class Part(NamedTuple):
    """Which part of a list somebody asks for."""

    after: str
    limit: int


def _part(
    after: Annotated[str, Query(max_length=64, description="the `next` of the page before")] = "",
    limit: Annotated[int, Query(ge=1, le=_MOST, description="how many at most")] = 50,
) -> Part:
    return Part(after, limit)


Asked = Annotated[Part, Depends(_part)]


class Page(BaseModel, Generic[T]):
    """Some items of a list."""

    items: list[T]
    next: str | None  # for `after`, to get the next ones; null: there are none


class Found(NamedTuple, Generic[Row]):
    """The rows of a page."""

    rows: list[Row]
    next: str | None


def find(
    db: Connection, rows: Rows[Row], order: Sequence[str], asked: Part, **named: object
) -> Found[Row]:
    """Return the rows of a page of those with these values; see :meth:`Rows.page`.

    Raises:
        Refused: ``after`` is of no such row.
    """
    after, limit = asked
    # PostgreSQL has no zero byte in a text.
    found = None if "\0" in after else rows.page(db, order, after, limit + 1, **named)
    if found is None:
        raise _no_such(after)
    rows_ = found[:limit]
    return Found(rows_, str(getattr(rows_[-1], order[-1])) if len(found) > limit else None)


def cut(items: list[T], key: Callable[[T], str], asked: Part) -> Page[T]:
    """Return a page of a list that is known as a whole; ``key``: tells its items apart.

    Raises:
        Refused: ``after`` is of no item.
    """
    keys = [key(one) for one in items]
    if asked.after and asked.after not in keys:
        raise _no_such(asked.after)
    start = keys.index(asked.after) + 1 if asked.after else 0
    end = start + asked.limit
    return Page(items=items[start:end], next=keys[end - 1] if end < len(items) else None)


def _no_such(after: str) -> Refused:
    return Refused(422, f"after: found {after!r}, expected the next of a page of this list")
