"""The key of a ledger: how it is made, put in place and read; its digests, and the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import blake2b

import pytest

from harness.core.errors import BusyError, LedgerError, UsageError
from harness.grading.ledger import chains, sqlite_file
from harness.grading.ledger.ledger_tables import VERSION
from harness.grading.ledger.sqlite_file import SqliteFile


@pytest.fixture
def place(tmp_path):
    return lambda name: tmp_path / f"{name}.key"


def test_a_prepared_key_is_put_in_place_by_its_name(place):
    made = chains.prepare_key(place)
    path = place(made.name)
    assert chains.read_key(path) is None
    found = chains.put_in_place(path, made.name)
    assert found is not None
    assert found.name == made.name
    assert chains.read_key(path).name == made.name
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_another_ledgers_prepared_key_stays_where_it_is(place):
    made = chains.prepare_key(place)
    before = sorted(place("").parent.iterdir())
    assert chains.put_in_place(place(made.name), "another") is None
    assert sorted(place("").parent.iterdir()) == before


def test_nothing_is_put_in_place_where_nothing_was_prepared(place):
    assert chains.put_in_place(place("a"), "a") is None
    assert not place("a").exists()


@pytest.mark.parametrize("text", ["", "zz" * 32, "ab" * 31, "ab" * 33, "\xe9" * 32])
def test_a_file_that_is_not_a_key_is_refused(text, place):
    place("a").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as refused:
        chains.read_key(place("a"))
    said = f"{place('a')} is not a ledger's key: expected 64 hexadecimal digits"
    assert str(refused.value) == said


def test_a_key_that_cannot_be_read_is_told(place):
    place("a").mkdir()
    with pytest.raises(UsageError, match=r"cannot read the ledger's key .*: Is a directory"):
        chains.read_key(place("a"))


def test_a_key_that_cannot_be_written_is_told(place):
    with pytest.raises(UsageError, match=r"cannot write the ledger's key .*: Not a directory"):
        place("a").write_text("")
        chains.prepare_key(lambda name: place("a") / name)


# --- digests: they must stay what they are, or each ledger there is would be called damaged


def digest_of(text: str, size: int = 16) -> str:
    return blake2b(text.encode(), digest_size=size, key=b"k" * 32).hexdigest()


def test_the_digests_of_a_row_are_those_of_its_values():
    own = chains.Seal(b"k" * 32)
    found = own.of_row("run", 2, ("ä", 1, 1.5, None, b"x"), "before")
    values = ["2:ä", "3:1.0", "3:1.5", "4:None", "4:b'x'"]
    parts = [digest_of(f"3:run3:2.03:{n}.0{value}") for n, value in enumerate(values)]
    whole = digest_of("3:run3:2.0" + "".join(f"32:{part}" for part in parts))
    chained = digest_of(f"5:chain32:{whole}6:before")
    assert found == chains.Digest(whole, chained, tuple(part[:8] for part in parts))
    assert str(found) == " ".join([whole, chained, *(part[:8] for part in parts)])
    assert chains.Digest.read(str(found)) == found


def test_the_digest_of_an_end():
    own = chains.Seal(b"k" * 32)
    expected = digest_of("4:head3:run3:3.04:last3:1.0")
    assert own.of_head("run", chains.Head(3, "last", 1)) == expected
    assert own.of_head("run", chains.Head()) == digest_of("4:head3:run3:0.00:3:0.0")
    assert own.name == digest_of("name", 8)


def test_a_text_that_is_no_text_has_a_digest():
    own = chains.Seal(b"k" * 32)
    assert own.of_row("run", 1, ("\udcff",), "") != own.of_row("run", 1, ("\udcfe",), "")


def test_a_key_is_for_its_owner_alone_and_new_each_time(tmp_path):
    names = []

    def place(name: str):
        names.append(name)
        return tmp_path / "key"

    (tmp_path / "key.new").write_text("what an earlier making left")
    made = [chains.prepare_key(place) for _ in range(2)]
    assert [one.name for one in made] == names
    assert names[0] != names[1]
    assert (tmp_path / "key.new").stat().st_mode & 0o777 == 0o600
    text = (tmp_path / "key.new").read_text()
    assert (len(text), text[-1]) == (65, "\n")


# --- the file


def test_a_file_keeps_what_it_said_it_had_written(tmp_path):
    with closing(SqliteFile(tmp_path / "ledger")) as file:
        asked = ("synchronous", "foreign_keys", "busy_timeout", "journal_mode")
        found = [file.connection.exec_driver_sql(f"PRAGMA {one}").scalar() for one in asked]
        assert found == [2, 1, 30_000, "delete"]
        assert file.version() == 0
        file.settle()
        assert file.connection.exec_driver_sql("PRAGMA page_size").scalar() == 8192
        file.note_version()
        assert file.version() == VERSION
    assert (tmp_path / "ledger").read_bytes()[68:72] == b"GTPG"


def test_tokens_are_held_as_long_as_the_file_is_open(tmp_path):
    first, second = (SqliteFile(tmp_path / name) for name in ("one", "two"))
    with closing(second):
        first.hold("a")
        first.hold("b")
        second.hold("c")
        first.let_go("a")
        assert [second.holds(one) for one in "abc"] == [False, True, True]
        first.close()
        assert (first.connection.closed, second.connection.closed) == (True, False)
        assert [second.holds(one) for one in "abc"] == [False, False, True]
    assert not second.holds("c")


ERRORS = [
    ("SQLITE_NOTADB", "file is not a database", UsageError,
     "db is not a ledger: file is not a database"),
    ("SQLITE_CORRUPT", "disk image is malformed", LedgerError,
     "db is damaged: disk image is malformed. do"),
    ("SQLITE_BUSY", "database is locked", BusyError,
     "db was locked by another process for too long: try again"),
    ("SQLITE_LOCKED_SHAREDCACHE", "table is locked", BusyError,
     "db was locked by another process for too long: try again"),
    ("SQLITE_ERROR", "no such table: run", LedgerError, "db is damaged: no such table: run. do"),
    ("SQLITE_ERROR", "malformed schema", LedgerError, "db is damaged: malformed schema. do"),
    ("SQLITE_FULL", "disk is full", UsageError, "db cannot be used as a ledger: disk is full"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "kind", "said"), ERRORS)
def test_an_error_of_sqlite_is_a_sentence(name, text, kind, said):
    is_damage = name in ("SQLITE_NOTADB", "SQLITE_CORRUPT")
    error = (sqlite3.DatabaseError if is_damage else sqlite3.OperationalError)(text)
    error.sqlite_errorname = name
    with pytest.raises(kind) as told, sqlite_file._naming_errors("db", "do"):
        raise error
    assert (type(told.value), str(told.value)) == (kind, said)
