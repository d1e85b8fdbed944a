"""The service's tables: alike on both databases, and SQL in this room alone."""

import ast
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event, text

from harness.core.errors import LedgerError, ServerError, UsageError
from harness.service.people import accounts
from harness.service.records import Course, CourseAssignment
from harness.service.settings import Settings
from harness.service.storage import database, people
from harness.service.storage.courses import ASSIGNMENTS, COURSES
from harness.service.storage.database import Database
from harness.service.storage.tables import METADATA
from tests.service.serving import KINDS, settings_of

ROOT = Path(__file__).parents[2]
# Who may speak SQL.
ROOMS = ("harness/grading/ledger", "harness/service/storage",
         "harness/declared/reference.py", "harness/history")  # fmt: skip
SPEAK = ("sqlalchemy", "sqlite3", "psycopg")  # packages

pytestmark = pytest.mark.stored


@pytest.fixture(params=KINDS)
def settings(request, tmp_path):
    return settings_of(request.param, request, tmp_path / "data", has_tables=False)


def test_a_flag_is_read_as_the_one_that_was_written(settings):
    """Databases keep numbers; ``is True`` and JSON tell them from flags."""
    assigned = CourseAssignment("a", "c", "Go", "", "", "", "", "0", 0, 1.0, hidden=True)
    found = Database(settings)
    with found.changing() as db:
        COURSES.add(db, Course("c", "Go", 1.0))
        ASSIGNMENTS.add(db, assigned)
    with found.reading() as db:
        assert ASSIGNMENTS.find(db, id="a") == assigned
        assert ASSIGNMENTS.find(db, id="a").hidden is True
    found.close()


def test_what_has_a_receipt_is_there_after_a_power_cut(tmp_path, monkeypatch):
    """SQLite waits for the disk, of its log, too; the other tests do not."""
    monkeypatch.setattr(sqlite3, "connect", sqlite3.dbapi2.connect)
    asked, full = ("journal_mode", "synchronous", "foreign_keys"), 2
    with closing(database._file(tmp_path / "service.sqlite")) as db:
        found = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in asked]
    assert found == ["wal", full, 1]


def test_threads_that_write_take_turns(settings):
    """SQLite gives up after a time in which others write; here it would give up at once."""
    found, failures = Database(settings), []
    event.listen(found.engine, "connect", give_up_at_once)
    found.engine.dispose()
    ready = threading.Barrier(6)

    def write(number):
        ready.wait(30)
        try:
            with found.acting() as act:
                accounts.add_person(act, f"P{number}")
                time.sleep(0.02)
        except ServerError as error:
            failures.append(str(error))

    threads = [threading.Thread(target=write, args=[number]) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    with found.reading() as db:
        names = {one.name for one in people.PEOPLE.all(db)}
    found.close()
    assert failures == [] and names == {f"P{number}" for number in range(6)}


def give_up_at_once(raw, _):
    if isinstance(raw, sqlite3.Connection):
        raw.execute("PRAGMA busy_timeout = 0")


def test_who_waits_too_long_for_its_turn_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_PATIENCE", 0.1)
    found = Database(Settings(tmp_path / "data"))
    heard = []

    def write():
        try:
            with found.changing():
                heard.append("written")
        except ServerError as error:
            heard.append(str(error))

    with found.changing():
        waiting = threading.Thread(target=write)
        waiting.start()
        waiting.join(30)
    write()
    found.close()
    assert "service.sqlite cannot be used now: it is busy" in heard[0] and heard[1] == "written"


def test_a_reader_sees_one_moment(settings):
    found = Database(settings)
    with found.reading() as db:
        before = people.PEOPLE.all(db)
        with found.acting() as act:
            accounts.add_person(act, "Ada")
        assert people.PEOPLE.all(db) == before == []
    with found.reading() as db:
        assert [one.name for one in people.PEOPLE.all(db)] == ["Ada"]
    found.close()


def test_without_its_key_it_is_not_opened(settings):
    Database(settings).close()
    (settings.keys / "service.key").unlink()
    with pytest.raises(UsageError, match="the key of the audit log is missing"):
        Database(settings)


EDITS = [
    ("UPDATE audit SET what = 'nothing' WHERE link = 2", "line 2 was changed or added"),
    ("UPDATE audit SET person = 'x' WHERE link = 3", "line 3 was changed or added"),
    ("DELETE FROM audit WHERE link = 1", "line 1 is missing"),
    ("DELETE FROM audit WHERE link = 3", "its end was changed: found 2 lines, expected 3"),
]


@pytest.mark.parametrize(("edit", "said"), EDITS)
def test_an_edited_log_is_noticed(settings, edit, said):
    found = Database(settings)
    for name in ("Ada", "Ben", "Cyd"):
        with found.acting() as act:
            accounts.add_person(act, name)
    with found.changing() as db:
        db.execute(text(edit))
        assert said in found.log.tampering(db)
    found.close()


def test_a_log_that_was_cut_and_counted_anew_is_noticed(settings):
    found = Database(settings)
    with found.acting() as act:
        accounts.add_person(act, "Ada")
    with found.changing() as db:
        db.execute(text("UPDATE audit_end SET length = 0"))
    with found.changing() as db, pytest.raises(LedgerError, match="how many lines"):
        found.log.note(db, "", "anything")
    found.close()


def test_no_secret_is_in_the_database(settings):
    found = Database(settings)
    with found.acting() as act:
        person = accounts.add_person(act, "Ada")
        link = accounts.make_link(act, person.id, 60, once=False)
        session = accounts.enter_by_link(act, link.text)[1]
        token = accounts.make_token(act._replace(by=person.id), "ci", "all")[1]
    with found.reading() as db:
        rows = [
            str(tuple(row))
            for table in METADATA.sorted_tables
            for row in db.execute(table.select())
        ]
    found.close()
    assert not [row for row in rows for one in (link, session, token) if one.text in row]
    assert repr(link) == "Secret()"


def test_sql_is_in_its_rooms_alone():
    assert [*_speakers()] == []


def _speakers():
    """Yield other modules that import what speaks SQL, except for types of parameters."""
    for path in sorted((ROOT / "harness").rglob("*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        if not name.startswith(ROOMS) and any(one in text for one in SPEAK):
            for node in ast.walk(ast.parse(text)):
                yield from (f"{name}: {one}" for one in _list_imported(node) if _speaks(one))


def _list_imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def _speaks(name):
    return name.split(".")[0] in SPEAK and name != "sqlalchemy.Connection"


def test_a_new_database_beside_the_key_of_another_is_refused(settings):
    Database(settings).close()
    (settings.data / "service.sqlite").unlink(missing_ok=True)
    other = settings._replace(database="")
    with pytest.raises(UsageError, match=r"is the key of another database: give the --database"):
        Database(other)
    with pytest.raises(UsageError, match=r"is the key of another database"):
        Database(other)  # nothing was made
