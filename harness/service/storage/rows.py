"""From rows to records: the columns of a table that a record has, by the same names."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    delete,
    insert,
    select,
    tuple_,
    update,
)

T = TypeVar("T", bound=tuple[Any, ...])


def new_id() -> str:
    """Return an id that nobody can guess: 16 hexadecimal digits."""
    return secrets.token_hex(8)


class Rows(Generic[T]):
    """The rows of a table as records of one type."""

    def __init__(self, kind: type[T], table: Table) -> None:
        fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
        self._kind = kind
        self.table = table
        self.query: Select[Any] = select(*(table.c[name] for name in fields))
        self._bools = [
            place for place, name in enumerate(fields) if kind.__annotations__[name] == "bool"
        ]

    def add(self, db: Connection, record: T) -> T:
        """Write a record; return it."""
        values = record._asdict()  # type: ignore[attr-defined]
        flags = {name: int(value) for name, value in values.items() if isinstance(value, bool)}
        db.execute(insert(self.table), values | flags)
        return record

    def find(self, db: Connection, **named: object) -> T | None:
        """Return the record with these values; None if there is none."""
        row = db.execute(self._where(named)).fetchone()
        return self.read(row) if row is not None else None

    def all(self, db: Connection, *order: str, **named: object) -> list[T]:
        """Return the records with these values, in the order of some columns."""
        query = self._where(named).order_by(*(self.table.c[name] for name in order))
        return self.list(db, query)

    def page(
        self, db: Connection, order: Sequence[str], after: str, limit: int, **named: object
    ) -> list[T] | None:
        """Return the first records with these values after one of them.

        ``order``: of some columns; the last one is an id. ``after``: such an id; empty: from the
        beginning on. None if there is no such record.
        """
        columns = [self.table.c[name] for name in order]
        query = self._where(named).order_by(*columns).limit(limit)
        if after:
            last = self.list(db, self._where(named).where(columns[-1] == after))
            if not last:
                return None
            query = query.where(tuple_(*columns) > tuple_(*(getattr(last[0], n) for n in order)))
        return self.list(db, query)

    def list(self, db: Connection, query: Select[Any]) -> list[T]:
        """Return the records of a query that began with ``query``."""
        return [self.read(row) for row in db.execute(query)]

    def change(self, db: Connection, values: dict[str, object], **named: object) -> int:
        """Change the rows with these values; return how many they were."""
        clauses = [self.table.c[name] == value for name, value in named.items()]
        return db.execute(update(self.table).where(*clauses).values(values)).rowcount

    def remove(self, db: Connection, **named: object) -> int:
        """Remove the rows with these values; return how many they were."""
        clauses = [self.table.c[name] == value for name, value in named.items()]
        return db.execute(delete(self.table).where(*clauses)).rowcount

    def read(self, row: Iterable[Any]) -> T:
        """Return a row as a record."""
        values = [*row]
        for place in self._bools:
            values[place] = bool(values[place])
        return self._kind(*values)

    def _where(self, named: dict[str, object]) -> Select[Any]:
        return self.query.where(*(_is(self.table.c[name], named[name]) for name in named))


def _is(column: Column[Any], value: object) -> ColumnElement[bool]:
    """Return the clause for a value; of a list one of it is meant."""
    return column.in_(value) if isinstance(value, list) else column == value
