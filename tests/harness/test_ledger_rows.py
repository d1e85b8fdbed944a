"""A ledger keeps every row, says which one was changed, and what could not be written."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.errors import (
    HarnessError,
    UsageError,
)
from harness.grading.ledger import chains, places
from harness.grading.ledger.ledger import (
    FinishedRun,
    Ledger,
    PlannedAttempt,
)
from harness.grading.ledger.sqlite_file import SqliteFile
from tests.harness.test_ledger import ROW, RUN


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


def test_a_new_file_says_in_its_first_page_where_all_tables_are(ledger, tmp_path):
    """That is damaged least often, and with it nothing of the rest could be saved."""
    data = (tmp_path / "ledger").read_bytes()
    assert data[16:18] == (8192).to_bytes(2)  # bytes of a page
    assert data[100] == 0x0D  # no other page belongs to what is here


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
    ("states", "starts", "holds"),
    [
        ("RR", (5, 5), True),
        ("RS", (5, 5), True),
        ("RR", (5, 6), False),  # another process got its number
        ("RZ", (5, 5), False),
        ("RX", (5, 5), False),
        ("  ", (5, 5), False),
    ],
)
def test_a_lease_holds_while_its_process_is_seen_to_live(states, starts, holds, monkeypatch):
    """Nobody waits for ever for one of which this machine does not say whether it lives."""
    pid, state, start, others = 7, states[0], starts[0], count()

    def read_text(path: Path, **_: object) -> str:
        if state == " ":
            raise FileNotFoundError(path)
        if path.name == "boot_id":
            return "boot\n"
        # All figures of a process change but its start, field 22 of proc(5).
        fields = [start if number == 22 else 100 + next(others) for number in range(4, 53)]
        return f"7 (a) b) {state} {' '.join(map(str, fields))}"

    monkeypatch.setattr(places.Path, "read_text", read_text)
    monkeypatch.setattr(places.os, "getpid", lambda: pid)
    lease = SimpleNamespace(token="t", owner=places.me(), until=0.0)
    pid, state, start = 8, states[1], starts[1]
    assert places.is_held(lease, None, at=1.0) is holds


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(UsageError) as told:
        SqliteFile(tmp_path)
    assert str(told.value) == (
        f"{tmp_path} cannot be used as a ledger: unable to open database file"
    )


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


def test_a_key_is_on_the_disk_before_anything_is_signed_with_it(tmp_path, monkeypatch):
    """After a power cut, what it had signed would be unproven without it."""
    synced = []
    monkeypatch.setattr(chains.os, "fsync", lambda file: synced.append(os.fstat(file)))
    chains.prepare_key(lambda name: tmp_path / "own.key")
    (written,) = [one.stat() for one in tmp_path.iterdir()]
    assert [(one.st_ino, one.st_size) for one in synced] == [(written.st_ino, written.st_size)]
