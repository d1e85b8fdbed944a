"""Lists in pages: each tells where the next one begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel
from sqlalchemy import Connection

from harness.service.storage.rows import Rows
from harness.service.web.access import Refused

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
        raise Refused(422, f"after: found {after!r}, expected the next of a page of this list")
    cut = found[:limit]
    return Found(cut, str(getattr(cut[-1], order[-1])) if len(found) > limit else None)
