"""What happens seldom in a ledger, each branch by itself."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from harness.errors import (
    HarnessError,
)
from harness.grading.ledger import chains, ledger_server, owners, places, salvage
from harness.grading.ledger.ledger import (
    BuildRow,
    FinishedRun,
    Ledger,
    PlannedAttempt,
    ResultRow,
    Run,
)
from harness.grading.ledger.sqlite_file import SqliteFile

RUN = Run("2026-01-01T00:00:00Z", "1.0", "go-scoring", "d" * 64, "{}")

ROW = ResultRow("{}", "2026-01-01T00:00:01Z", 1, 0.5, 0.25, 1 << 20, 0.01, "{}")


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger")
    planned = [PlannedAttempt(name, "ada", "public", f"{name}.gtp", "") for name in "ab"]
    made.plan(made.begin(RUN), planned)
    yield made
    made.close()


def test_a_run_is_found_by_its_number(ledger):
    other = RUN._replace(version="2.0")
    assert ledger.begin(other) == 2
    assert ledger.find_run(1) == (1, RUN)
    assert ledger.find_run(2) == (2, other)
    assert ledger.find_run(3) is None


def test_what_was_given_up_is_tried_again(ledger):
    token = ledger.lease("ab")
    for basis in "ab":
        ledger.record_error(basis, token, "full", most=1)
    assert {one.state for one in ledger.states("ab").values()} == {"fault"}
    ledger.begin_anew("a")
    assert ledger.states("ab")["a"] == ("waiting", 0, "")
    assert ledger.states("ab")["b"] == ("fault", 1, "full")


def test_an_attempt_is_settled_by_who_has_the_lease(ledger):
    token = ledger.lease("ab")
    ledger.finish_all(token, [FinishedRun("a", ROW, 1, last=False)], [])
    ledger.settle("a", "another")
    assert ledger.states("a")["a"].state == "leased"
    ledger.settle("a", token)
    assert ledger.states("ab")["a"].state == "done"
    assert ledger.states("ab")["b"].state == "leased"
    assert owners.me()


def test_builds_that_count_no_more_are_told_in_order(tmp_path):
    made = Ledger(tmp_path / "many")
    builds = [f"build {letter}" for letter in "hagbfced"]
    bases = [f"of {one}" for one in builds]
    planned = [
        PlannedAttempt(name, "ada", "public", name, "", build)
        for name, build in zip(bases, builds, strict=True)
    ]
    made.plan(made.begin(RUN), planned)
    token = made.lease(bases)
    runs = [FinishedRun(one, ROW, 1, last=True) for one in bases]
    made.finish_all(token, runs, [BuildRow(one, "{}", 1.0) for one in builds])
    made.release(token)
    assert sorted(made.withdraw(bases, "why")) == sorted(bases)
    names = [str(row.values[0]).partition("~")[0] for row in made.chains.rows("build")]
    made.close()
    assert len(names) == 16
    assert [next(one for one in builds if name.startswith(one)) for name in names[8:]] == sorted(
        builds
    )


def test_a_database_that_cannot_be_checked_says_why(tmp_path):
    def fail(_query: str) -> None:
        raise DBAPIError("PRAGMA", {}, sqlite3.DatabaseError("disk image is malformed"))

    made: Any = object.__new__(SqliteFile)
    made.connection = SimpleNamespace(exec_driver_sql=fail)
    assert made.own_errors(3) == ["disk image is malformed"]


def test_who_takes_all_and_who_takes_some_wait_for_each_other(ledger, monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr(
        ledger.database, "lock", lambda *words, **named: asked.append((words, named))
    )
    ledger.release(ledger.lease("ab"))
    ledger.release(ledger.lease_free("ab", 2).token)
    assert asked == [(("leasing",), {}), (("leasing",), {"shared": True})]


MALFORMED = DBAPIError("SELECT", {}, sqlite3.DatabaseError("disk image is malformed"))


def test_a_row_is_described_although_its_plan_cannot_be_read(ledger, monkeypatch):
    def fail(_query: object) -> None:
        raise MALFORMED

    row = chains.SignedRow(tuple(str(i) for i in range(12)), 4, chains.Digest("", "", ()))
    monkeypatch.setattr(ledger.chains, "_db", SimpleNamespace(execute=fail))
    assert ledger.chains.describe_row("result", row) == "result 4"


def test_a_table_that_cannot_be_read_to_its_end_is_read_from_there_too(monkeypatch):
    asked: list[str] = []

    def execute(query: Any) -> Any:
        asked.append(str(query).partition("ORDER BY ")[2])
        yield (asked[-1], 1, "")
        raise MALFORMED

    found: Any = object.__new__(salvage._Damaged)
    found._db = SimpleNamespace(execute=execute)
    found.is_signed = True
    known = {"run": {7}}  # what lies between the damage is asked for by its name
    monkeypatch.setattr(found, "_find_known_names", known.get, raising=False)
    rows = list(found._read("run"))
    assert asked == ["run.id", "run.id DESC", ""]
    assert [row.values[0] for row in rows] == asked


def test_what_cannot_be_checked_to_its_end_is_told(tmp_path, monkeypatch):
    def fail() -> None:
        raise MALFORMED

    held = SimpleNamespace(
        errors=list, version=3, is_signed=True, rows=lambda _: [], database=SimpleNamespace(
            reading=nullcontext), chains=SimpleNamespace(tampering=fail),
    )  # fmt: skip
    monkeypatch.setattr(salvage, "_open", lambda _: nullcontext(held))
    facts, wrong = salvage.check(tmp_path / "x")
    assert facts[1:] == ["0 results, 0 marks"]
    assert wrong == ["not all of it can be read: disk image is malformed"]


def test_what_a_driver_logs_is_not_told_twice():
    assert ledger_server
    kinds = {type(one) for one in logging.getLogger("psycopg").handlers}
    assert logging.NullHandler in kinds


@pytest.mark.parametrize("kind", ["connect", "unicode"])
def test_what_a_server_says_at_first_is_told_with_its_name(kind, monkeypatch):
    closed: list[int] = []

    def fail(*_: object) -> None:
        raise MALFORMED

    connection = SimpleNamespace(close=lambda: closed.append(1))
    monkeypatch.setattr(ledger_server.extras, "require", lambda *_: None)
    monkeypatch.setattr(
        ledger_server, "_connect", fail if kind == "connect" else lambda *_: connection
    )
    monkeypatch.setattr(ledger_server.ServerDatabase, "_require_unicode", fail)
    monkeypatch.setattr(ledger_server.ServerDatabase, "close", lambda _: closed.append(1))
    with pytest.raises(HarnessError, match=r"^the server of ada[ :]"):
        ledger_server.ServerDatabase("postgresql://x", "the server of ada")
    assert closed == [1] * (kind == "unicode")


@pytest.mark.parametrize("named", [None, "", "not/absolute"])
def test_keys_of_ledgers_on_servers_lie_in_the_usual_folder_of_a_user(
    named, monkeypatch, tmp_path
):
    monkeypatch.setenv("HOME", str(tmp_path))
    if named is None:
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_DATA_HOME", named)
    assert places.keys() == tmp_path / ".local" / "share" / "gtp-harness" / "keys"
