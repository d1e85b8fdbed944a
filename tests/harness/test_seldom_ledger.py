"""What happens seldom in a ledger, each branch by itself."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, StatementError

from harness.errors import (
    HarnessError,
    LedgerError,
    UsageError,
)
from harness.grading.ledger import chains, ledger_server, places, salvage, sqlite_file
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
    assert places.me()


@pytest.mark.parametrize(
    ("states", "holds"), [("RR", True), ("RS", True), ("RZ", False), ("RX", False), ("  ", False)]
)
def test_a_lease_holds_while_its_process_is_seen_to_live(states, holds, monkeypatch):
    """Nobody waits for ever for one of which this machine does not say whether it lives."""
    pid, state = 7, states[0]

    def read_text(path: Path, **_: object) -> str:
        if state == " ":
            raise FileNotFoundError(path)
        return "boot\n" if path.name == "boot_id" else f"7 (a) b) {state} {'5 ' * 40}"

    monkeypatch.setattr(places.Path, "read_text", read_text)
    monkeypatch.setattr(places.os, "getpid", lambda: pid)
    lease = SimpleNamespace(token="t", owner=places.me(), until=0.0)
    pid, state = 8, states[1]
    assert places.is_held(lease, None, at=1.0) is holds


@pytest.mark.parametrize(("now", "holds"), [(0.5, True), (1.0, False), (1.5, False)])
def test_a_lease_of_another_machine_holds_until_its_time(now, holds):
    lease = SimpleNamespace(token="t", owner="elsewhere 7 boot", until=1.0)
    assert places.is_held(lease, None, at=now) is holds


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


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(UsageError) as told:
        SqliteFile(tmp_path)
    assert str(told.value) == (
        f"{tmp_path} cannot be used as a ledger: unable to open database file"
    )


def test_no_error_of_a_server_has_what_was_written_in_it(monkeypatch):
    """Names and marks of students would be in logs."""
    monkeypatch.setattr(Engine, "connect", lambda self: self)
    engine: Any = ledger_server._connect("postgresql://localhost/marks", "marks")
    error = StatementError(
        "refused", "INSERT", {"name": "Ada"}, None, hide_parameters=engine.hide_parameters
    )
    assert "Ada" not in str(error)


def test_who_takes_all_and_who_takes_some_wait_for_each_other(ledger, monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr(
        ledger.database, "lock", lambda *words, **named: asked.append((words, named))
    )
    ledger.release(ledger.lease("ab"))
    ledger.release(ledger.lease_free("ab", 2).token)
    assert asked == [(("leasing",), {}), (("leasing",), {"shared": True})]


def test_what_a_transaction_broke_at_is_told_even_if_it_cannot_be_rolled_back():
    """A server that is gone has rolled it back by itself."""

    def execute(query: str) -> None:
        if query == "ROLLBACK":
            raise DBAPIError(query, {}, sqlite3.OperationalError("no transaction is active"))

    made: Any = object.__new__(SqliteFile)
    made.connection = SimpleNamespace(exec_driver_sql=execute)
    with pytest.raises(HarnessError, match="the disk is full"), made.changing():
        raise HarnessError("the disk is full")


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


@pytest.mark.parametrize("checked", [True, False])
def test_of_case_files_only_true_contents_are_saved(checked):
    """By their names; without the ledger's key all are saved, and said to be unchecked."""
    true, false = hashlib.sha256(b"10 score\n").hexdigest(), "f" * 64
    found: Any = object.__new__(salvage._Damaged)
    found.checked = checked
    found.rows = lambda _: [SimpleNamespace(values=["", "", "", "", one]) for one in (true, false)]
    found._db = SimpleNamespace(execute=lambda _: [(b"10 score\n",)])
    saved = {true: b"10 score\n"} if checked else dict.fromkeys((true, false), b"10 score\n")
    assert dict(found.contents()) == saved


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MALFORMED, "not all of it can be read: disk image is malformed"),
        (LedgerError("its key is missing"), "its key is missing"),
    ],
)
def test_what_cannot_be_checked_to_its_end_is_told(error, said, tmp_path, monkeypatch):
    def fail() -> None:
        raise error

    held = SimpleNamespace(
        errors=list, version=3, is_signed=True, rows=lambda _: [], database=SimpleNamespace(
            reading=nullcontext), chains=SimpleNamespace(tampering=fail),
    )  # fmt: skip
    monkeypatch.setattr(salvage, "_open", lambda _: nullcontext(held))
    facts, wrong = salvage.check(tmp_path / "x")
    assert facts[1:] == ["0 results, 0 marks"]
    assert wrong == [said]


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


# --- a chain of rows

RUNS = [(number, f"day {number}", "1.0", "go-scoring", "d" * 64, "{}") for number in range(1, 5)]
OWN = chains.Seal(b"k" * 32)


def sign(runs: list[Any]) -> list[Any]:
    """Return the rows of a chain."""
    rows, before = [], chains.START
    for link, values in enumerate(runs, 1):
        digest = OWN.of_row("run", link, values, before)
        rows.append(chains.SignedRow(values, link, digest))
        before = digest.chained
    return rows


ROWS = sign(RUNS)
FIRST, SECOND, THIRD, FOURTH = ROWS
MOVED = "was moved, added or wholly changed"


def change_digest(row: Any, **changes: Any) -> Any:
    return row._replace(digest=row.digest._replace(**changes))


def change_values(row: Any, *values: object) -> Any:
    return row._replace(values=(*values, *row.values[len(values) :]))


BROKEN = [
    ([FIRST, SECOND, THIRD], []),
    ([FIRST, THIRD], ["run 2 is missing"]),
    ([FIRST, SECOND], ["run 3 is missing"]),
    ([SECOND, THIRD], ["run 1 is missing"]),
    ([], ["run 1 is missing", "run 2 is missing", "run 3 is missing"]),
    ([FIRST, change_values(SECOND, 2, "day 3"), THIRD],
     ["run 2 was changed after it was written: started"]),
    ([FIRST, change_values(SECOND, 2, "x", "y", "go-scoring", "z"), THIRD],
     ["run 2 was changed after it was written: started, version, digest"]),
    ([FIRST, change_values(SECOND, *"abcdef"), THIRD], [f"run 2 {MOVED}"]),
    ([FIRST, THIRD._replace(link=2), SECOND._replace(link=3)],
     [f"run 2 {MOVED}", f"run 3 {MOVED}", "the end of the table run was changed"]),
    ([chains.SignedRow(RUNS[0], 0, chains.Digest.read("")), *ROWS[:3]],
     ["run 0 was added: it has no digest"]),
    ([FIRST, SECOND, SECOND, THIRD], ["run 2 was added"]),
    ([*ROWS], ["run 4 was added"]),
    ([FIRST, change_digest(SECOND, own="", parts=()), THIRD], ["run 2 has no digest of its own"]),
    ([FIRST, change_digest(SECOND, own=""), THIRD],
     ["run 2 was changed after it was written: its digest"]),
    ([FIRST, change_digest(SECOND, chained=""), THIRD],
     ["run 2 does not follow the one before it", "run 3 does not follow the one before it"]),
    (sign([RUNS[1], *RUNS[1:3]]), ["the end of the table run was changed"]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "said"), BROKEN)
def test_what_a_chain_says_of_its_rows(rows, said):
    made = chains.Chains(SimpleNamespace(), OWN, "")  # type: ignore[arg-type]
    found: Any = made
    found.head = lambda table: chains.Head(3, THIRD.digest.chained)
    found.rows = lambda table: list(rows)
    assert list(made._find_broken_rows("run")) == said


@pytest.mark.parametrize("changes", [None, {"length": 2}, {"digest": "x"}, {"unsigned": 1}])
def test_an_end_of_a_chain_that_others_wrote_is_refused(changes):
    made = chains.Chains(SimpleNamespace(), OWN, "the ledger of ada")  # type: ignore[arg-type]
    right = chains.Head(3, "digest", 0)
    assert made._verify_head("run", (*right, OWN.of_head("run", right))) == right
    row = None if changes is None else (*right._replace(**changes), OWN.of_head("run", right))
    for wrong in (row, (*right, OWN.of_head("mark", right))):
        with pytest.raises(HarnessError) as told:
            made._verify_head("run", wrong)
        assert str(told.value) == (
            "the ledger of ada was edited or is damaged: how many rows the table run has was"
            " changed. gtp-harness ledger salvage saves what holds"
        )


def test_a_chain_without_rows_is_whole():
    found: Any = chains.Chains(SimpleNamespace(), OWN, "")  # type: ignore[arg-type]
    found.head = lambda table: chains.Head()
    found.rows = lambda table: []
    assert list(found._find_broken_rows("run")) == []


# --- what cannot be written


def fail(*_: object, **__: object) -> Any:
    raise OSError(28, "No space left on device")


def test_an_original_that_cannot_be_kept_leaves_nothing(tmp_path, monkeypatch):
    store = places.Store(tmp_path / "store")
    source = tmp_path / "a.tgz"
    source.write_bytes(b"bytes")
    with monkeypatch.context() as patch:
        patch.setattr(places.os, "fsync", fail)
        with pytest.raises(HarnessError) as told:
            store.keep(source)
    assert str(told.value) == f"cannot keep {source}: No space left on device"
    assert list((tmp_path / "store").iterdir()) == []
    with monkeypatch.context() as patch:
        patch.setattr(places.tempfile, "mkstemp", fail)
        with pytest.raises(HarnessError) as told:
            store.keep(source)
    assert str(told.value) == f"cannot write into {tmp_path / 'store'}: No space left on device"
    kept = store.keep(source)
    assert store.keep(source) == kept  # once more
    assert [path.name for path in (tmp_path / "store").iterdir()] == [kept]
    assert store.path(kept).stat().st_mode & 0o777 == 0o444


def test_a_folder_of_originals_that_cannot_be_packed_leaves_nothing(tmp_path, monkeypatch):
    store = places.Store(tmp_path / "store")
    (tmp_path / "a").write_bytes(b"bytes")
    with monkeypatch.context() as patch:
        patch.setattr(places, "pack_alike", fail)
        with pytest.raises(OSError, match="No space left"):
            store.keep_folder(tmp_path, {"a": "go/a"})
    assert list((tmp_path / "store").iterdir()) == []
    kept = store.keep_folder(tmp_path, {"a": "go/a"})
    assert [path.name for path in (tmp_path / "store").iterdir()] == [kept]


def test_a_place_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "data").write_text("a file")
    place = places.of("postgresql://host/db")
    with pytest.raises(HarnessError) as told:
        place.make_room_for_key()
    assert str(told.value) == f"cannot make the folder {places.keys()}: Not a directory"
    places.of("postgresql://host/db", tmp_path / "own.key").make_room_for_key()
    (tmp_path / "data").unlink()
    place.make_room_for_key()
    assert places.keys().stat().st_mode & 0o777 == 0o700
    place.make_room_for_key()


def test_a_key_is_on_the_disk_before_anything_is_signed_with_it(tmp_path, monkeypatch):
    """After a power cut, what it had signed would be unproven without it."""
    synced = []
    monkeypatch.setattr(chains.os, "fsync", lambda file: synced.append(os.fstat(file)))
    chains.prepare(lambda name: tmp_path / "own.key")
    (written,) = [one.stat() for one in tmp_path.iterdir()]
    assert [(one.st_ino, one.st_size) for one in synced] == [(written.st_ino, written.st_size)]


def test_a_key_that_cannot_be_put_in_place_is_told(tmp_path, monkeypatch):
    path = tmp_path / "own.key"
    made = chains.prepare(lambda name: path)
    monkeypatch.setattr(chains.os, "fsync", fail)
    with pytest.raises(HarnessError) as told:
        chains.put_in_place(path, made.name)
    assert str(told.value) == f"cannot write the ledger's key {path}: No space left on device"


def test_damaged_names_are_told():
    with pytest.raises(HarnessError) as told, sqlite_file._naming_errors("db", "do"):
        b"\xff".decode()
    assert str(told.value) == "db is damaged: invalid start byte. do"


def test_a_place_says_how_it_is_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_server, "ServerDatabase", lambda *words: words)
    place = places.of("postgresql://ada:secret@host/db")
    assert sqlite_file.open_database(place) == (place.address, place.name)  # type: ignore[comparison-overlap]
    assert "secret" not in place.name
    made = sqlite_file.open_database(places.of(tmp_path / "ledger"))
    assert (made.name, type(made)) == (str(tmp_path / "ledger"), SqliteFile)
    made.close()


def test_what_a_server_says_is_told_with_its_name():
    made: Any = object.__new__(ledger_server.ServerDatabase)
    made.name = "the server of ada"
    with pytest.raises(HarnessError, match=r"^the server of ada[ :]"), made.naming_errors():
        raise MALFORMED


def test_a_mark_is_saved_with_a_run_that_stands_for_the_one_that_is_lost():
    """Marks name the run that gave them; of one that is lost nothing but its number is known."""
    done: list[tuple[object, ...]] = []
    made: Any = object.__new__(salvage._Salvage)
    mark = dict.fromkeys(chains.SIGNED["mark"], "x")
    marks = [tuple((mark | {"run": run}).values()) for run in (4, 1, 3, 1, 4)]
    made._rows = {
        "seed": [],
        "run": [chains.SignedRow((run, *RUNS[0][1:]), run, FIRST.digest) for run in (1, 2)],
        "mark": [chains.SignedRow(values, 1, FIRST.digest) for values in marks],
    }
    made._into = SimpleNamespace(
        chains=SimpleNamespace(extend=lambda table, rows: done.append((table, *rows))),
        database=SimpleNamespace(insert_new=lambda table, rows: None),
    )
    made._found = SimpleNamespace(contents=dict)
    made._append = lambda table: done.append((table,))
    made._keep = lambda table, holds: None
    made._plan = set
    made._write_results = lambda attempts: done.append(("result", attempts))
    made._write()
    empty = ("",) * 5
    assert done == [
        ("run",),
        ("run", (3, *empty), (4, *empty)),
        *((table,) for table in ("case_file", "submission", "wanted", "build")),
        ("result", set()),
        ("mark",),
    ]
