"""Ledgers that exist have these tables: another name or type needs a migration."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql.dml import UpdateBase

from harness.grading.ledger import chains, ledger_tables, places
from tests import golden

GOLDEN = Path(__file__).parent / "golden" / "ledger"
DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}


@pytest.mark.parametrize("name", DIALECTS)
def test_the_tables_are_those_of_ledgers_that_exist(name):
    tables = ledger_tables.METADATA.sorted_tables
    made = [CreateTable(one) for one in tables]
    indexes = sorted((index for one in tables for index in one.indexes), key=lambda one: one.name)
    texts = [
        str(one.compile(dialect=DIALECTS[name])) for one in [*made, *map(CreateIndex, indexes)]
    ]
    lines = (line.strip() for text in texts for line in text.strip().splitlines())
    golden.check(GOLDEN / f"{name}.sql", "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_asked_of_a_ledger(name):
    """Each statement that is made once, as it is sent; texts in the order of the modules."""
    lines = []
    for module in (chains, places, ledger_tables):
        for constant, value in vars(module).items():
            for key, one in (value if isinstance(value, dict) else {"": value}).items():
                if isinstance(one, Select | UpdateBase):
                    found = one.compile(dialect=DIALECTS[name])
                    words = " ".join(str(found).split())
                    given = {name: it for name, it in found.params.items() if it is not None}
                    lines.append(f"{constant} {key}: {words} {given}\n")
    golden.check(GOLDEN / f"statements-{name}.txt", "".join(lines))
