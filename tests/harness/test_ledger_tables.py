"""Ledgers that exist have these tables: another name or type needs a migration."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from harness.grading.ledger import ledger_tables
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
