"""A ledger that was edited, damaged or lost its key: that is named, and what holds is saved."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.core.errors import HarnessError, LedgerError, UsageError
from harness.grading.ledger import ledger as ledger_module
from harness.grading.ledger import salvage
from harness.grading.ledger.chains import SIGNED
from harness.grading.ledger.ledger import CaseRow, Ledger, MarkRow, PlannedAttempt, ResultRow, Run
from harness.grading.ledger.places import LedgerFile
from tests.harness.ledgers import finish, set_build

RUN = Run("2026-01-01T00:00:00Z", "1.0", "go-scoring", "d" * 64, "{}")
ROW = ResultRow('{"x":1}', "2026-01-01T00:00:01Z", 1, 0.5, 0, 1 << 20, 0.01, "{}")
CONTENT = b"1 name\n#? [x]\n"
STUDENTS = 12
ATTEMPTS = [
    PlannedAttempt(
        f"basis{i:02}", f"student{i // 2}", "public", f"c{i % 2}.gtp", "s" * 64, "build"
    )
    for i in range(2 * STUDENTS)
]


def make(path, results=2 * STUDENTS, padding=600):
    """Write a small grading as grade does; return the rows of each signed table."""
    import hashlib

    with closing(Ledger(path)) as made:
        run = made.begin(RUN)
        digest = hashlib.sha256(CONTENT).hexdigest()
        made.set_cases(
            run, [CaseRow("public", f"c{i}.gtp", CONTENT, f"/c{i}.gtp", digest) for i in (0, 1)]
        )
        made.set_submissions(run, {f"student{i}": f"record{i}" for i in range(STUDENTS)})
        made.plan(run, ATTEMPTS)
        set_build(made, "build", "{}", 1.5)
        token = made.lease([one.basis for one in ATTEMPTS])
        for i, one in enumerate(ATTEMPTS[:results]):
            row = ROW._replace(result=f"result{i}{'x' * padding}")
            doubtful = i == 3
            assert finish(made, one.basis, token, row, 1, last=not doubtful)
            if doubtful:
                assert finish(made, one.basis, token, row, 2, last=True)
        made.release(token)
        marks = [MarkRow(f"student{i}", f'"{i}"', "s", ("basis00",)) for i in range(STUDENTS)]
        made.give(run, "t1", marks)
        made.give(run, "t2", [marks[3]._replace(marks='"9"')])
    return rows_of(path)


def rows_of(path):
    with closing(Ledger(path)) as read:
        return {table: [row.values for row in read.chains.rows(table)] for table in SIGNED}


@pytest.fixture(scope="module")
def made_ledger(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "ledger.sqlite"
    return path, make(path)


@pytest.fixture
def path(made_ledger, tmp_path):
    """A copy that may be spoilt."""
    for name in ("ledger.sqlite", "ledger.sqlite.key"):
        shutil.copy(made_ledger[0].with_name(name), tmp_path)
    return tmp_path / "ledger.sqlite"


def edit(path, *statements):
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)


def ledger(capsys, *words):
    status = main(["ledger", *map(str, words)])
    said = capsys.readouterr()
    return status, said.out + said.err


# --- edits ---

EDITS = {
    "a mark": (
        "UPDATE mark SET marks = '\"10\"' WHERE key = 'student2'",
        r"mark 3 \(submission student2\) was changed after it was written: marks",
    ),
    "a mark of another": (
        "UPDATE mark SET key = 'student7' WHERE id = 3",
        r"mark 3 \(submission student7\) was changed after it was written: key",
    ),
    "the order of marks": (
        "UPDATE mark SET id = 99 WHERE id = 4",
        r"mark 4 \(submission student3\) was changed after it was written: id",
    ),
    "a result": (
        "UPDATE result SET result = replace(result, 'x', 'y') WHERE basis = 'basis05'",
        r"result 7 \(submission student2, kind public, case file c1.gtp\) was changed after it"
        " was written: result",
    ),
    "the time of a result": ("UPDATE result SET cpu = 0.1 WHERE link = 2", "written: cpu"),
    "a result that is removed": ("DELETE FROM result WHERE link = 4", "result 4 is missing"),
    "results that are removed": ("DELETE FROM result WHERE link IN (1, 8)", "result 1 is missing"),
    "the last result": ("DELETE FROM result WHERE link = 25", "result 25 is missing"),
    "the last mark": ("DELETE FROM mark WHERE id = 13", "mark 13 is missing"),
    "a mark that is added": (
        "INSERT INTO mark (run, key, given, marks, submission, bases)"
        " VALUES (1, 'student1', 't', '\"10\"', 's', '')",
        r"mark 0 \(submission student1\) was added: it has no digest",
    ),
    "a mark that is given again": (
        "INSERT INTO mark SELECT 99, run, key, given, marks, submission, bases, link, signature"
        " FROM mark WHERE id = 4",
        r"mark 4 \(submission student3\)",
    ),
    "a submission's record": (
        "UPDATE submission SET record = 'in time' WHERE key = 'student1'",
        r"submission 2 \(submission student1\) was changed after it was written: record",
    ),
    "an attempt of another": (
        "UPDATE attempt SET key = 'student9' WHERE basis = 'basis00'",
        r"attempt 1 \(.*student9.*\) was changed after it was written: key",
    ),
    "an attempt that is not wanted": ("DELETE FROM wanted WHERE link = 7", "attempt 7 is missing"),
    "an attempt that is removed": (
        "DELETE FROM attempt WHERE basis = 'basis06'",
        "attempt 7 was changed after it was written: key, kind, name, sha256, build",
    ),
    "a build": ("UPDATE build SET result = '{1}'", "build 1 was changed .*: result"),
    "a case file": ("UPDATE content SET bytes = x'00'", "content of case file .* was changed"),
    "a case file that is removed": ("DELETE FROM content", "content of case file .* is missing"),
    "the seed": ("UPDATE seed SET value = 'known'", "seed 1 was .*changed"),
    "the end of a chain": (
        "UPDATE chain SET length = 12 WHERE name = 'mark'",
        "how many rows the table mark has was changed",
    ),
    "the end and the last row": (
        "DELETE FROM mark WHERE id = 13; UPDATE chain SET length = 12, digest ="
        " (SELECT substr(signature, 34, 32) FROM mark WHERE id = 12) WHERE name = 'mark'",
        "how many rows the table mark has was changed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("edited", EDITS)
def test_an_edit_is_noticed_and_named(path, edited, capsys):
    statements, expected = EDITS[edited]
    edit(path, *statements.split("; "))
    with closing(Ledger(path)) as read, pytest.raises(LedgerError, match=expected):
        read.check()
    status, said = ledger(capsys, "check", path)
    assert status == 1
    assert "it was edited or is damaged" in said


def test_two_rows_that_change_places_are_noticed(path):
    edit(
        path,
        "UPDATE result SET link = -1 WHERE link = 5",
        "UPDATE result SET link = 5 WHERE link = 6",
        "UPDATE result SET link = 6 WHERE link = -1",
    )
    with closing(Ledger(path)) as read:
        found = read.chains.tampering()
    assert all("was moved, added or wholly changed" in text for text in found[:2])


def test_a_row_of_another_history_is_noticed(path, tmp_path):
    """The same key, another order of writing: each row holds by itself, and does not follow."""
    other = tmp_path / "other.sqlite"
    shutil.copy(LedgerFile(path).key(""), LedgerFile(other).key(""))
    make(other, padding=601)
    edit(
        path,
        f"ATTACH '{other}' AS other",
        "UPDATE result SET (token, result, signature) = (SELECT token, result, signature"
        " FROM other.result o WHERE o.link = 9) WHERE link = 9",
    )
    with (
        closing(Ledger(path)) as read,
        pytest.raises(LedgerError, match="does not follow the one"),
    ):
        read.check()


def test_what_holds_is_checked_without_a_word_and_without_a_change(path, capsys):
    before = path.read_bytes()
    with closing(Ledger(path)) as read:
        read.check()
    status, said = ledger(capsys, "check", path)
    assert (status, "it holds" in said, "25 results, 13 marks" in said) == (0, True, True)
    assert path.read_bytes() == before


def test_an_edited_row_is_lost_and_all_others_are_saved(made_ledger, path, tmp_path, capsys):
    edit(path, "UPDATE mark SET marks = '1' WHERE id = 5", "DELETE FROM result WHERE link = 4")
    new = tmp_path / "new.sqlite"
    status, said = ledger(capsys, "salvage", path, "-o", new)
    assert status == 1
    assert "mark 5 (submission student4) was changed" in said
    assert "result 4 cannot be read" in said
    saved = rows_of(new)
    assert [row for row in made_ledger[1]["mark"] if row[0] != 5] == saved["mark"]
    with closing(Ledger(new)) as read:
        read.check()
        states = read.states([one.basis for one in ATTEMPTS])
        # The first of its two results is lost, and the second cannot stand alone.
        assert states["basis03"].state == "waiting"
        assert [one for one, state in states.items() if state.state == "done"] == [
            one.basis for one in ATTEMPTS if one.basis != "basis03"
        ]
    again = ledger(capsys, "salvage", path, "-o", new)
    assert (again[0], "nothing is overwritten" in again[1]) == (2, True)


@pytest.mark.parametrize("name", ["new", "new.key"])
def test_salvage_overwrites_neither_a_ledger_nor_a_key(path, tmp_path, capsys, name):
    (tmp_path / name).write_text("x")
    status, said = ledger(capsys, "salvage", path, "-o", tmp_path / "new")
    assert status == 2
    assert f"{tmp_path / name} exists already: nothing is overwritten" in said


def test_an_attempt_whose_second_result_is_lost_is_run_again(path, tmp_path, capsys):
    edit(path, "DELETE FROM result WHERE number = 2")
    ledger(capsys, "salvage", path, "-o", tmp_path / "new")
    with closing(Ledger(tmp_path / "new")) as read:
        assert read.states(["basis03"])["basis03"].state == "waiting"
        assert len(read.results("basis03")) == 1


# --- the file ---


DAMAGES = {
    "cut in half": lambda data: data[: len(data) // 2],
    "half a page": lambda data: data[: -len(data) // 3 - 100],
    "pages of zeros": lambda data: (
        data[: len(data) // 2] + bytes(len(data) // 4) + data[len(data) // 2 + len(data) // 4 :]
    ),
    "no magic": lambda data: b"garbage" + data[7:],
    "zero bytes": lambda data: b"",
    "text": lambda data: b"Student,ID\n" * 100,
}
EDITED = {
    "a table is gone": "DROP TABLE mark",
    "a column is gone": "ALTER TABLE result DROP COLUMN cpu",
    "another database": "PRAGMA application_id = 7",
}


def damage(path, kind):
    if kind in DAMAGES:
        path.write_bytes(DAMAGES[kind](path.read_bytes()))
    else:
        edit(path, EDITED[kind])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("cut in half", "is damaged"),
        ("half a page", "is damaged"),
        ("pages of zeros", "is damaged|was edited"),
        ("no magic", "is not a ledger"),
        (
            "zero bytes",
            r"is empty, but it was a ledger: its key \S+ is there\. Restore it from a backup, or"
            r" delete both to begin anew$",
        ),
        ("a table is gone", "is damaged: no such table: mark"),
        ("a column is gone", "is damaged: no such column: result.cpu"),
        ("text", "is not a ledger"),
        ("another database", "is a database, but not a ledger"),
    ],
)
def test_damage_is_named(path, kind, expected, capsys):
    damage(path, kind)
    with pytest.raises(HarnessError, match=expected), closing(Ledger(path)) as read:
        read.check()
    status, said = ledger(capsys, "check", path)
    assert status in (1, 2)
    assert "Traceback" not in said
    assert "the harness itself failed" not in said


@pytest.mark.parametrize("lost", [1, 5000])
def test_how_much_of_a_file_is_lost_is_told_before_its_rows(path, lost, capsys):
    whole = path.stat().st_size
    os.truncate(path, whole - lost)
    status, said = ledger(capsys, "check", path)
    assert status == 1
    assert f"it ends after {whole - lost:,} of {whole:,} bytes" in said


def test_a_row_about_something_that_is_lost_is_lost_with_it(made_ledger, path, tmp_path, capsys):
    edit(path, "DELETE FROM content")
    status, said = ledger(capsys, "salvage", path, "-o", tmp_path / "new")
    assert status == 1
    for number, name in enumerate(("c0.gtp", "c1.gtp"), 1):
        assert f"case file {number} (kind public, case file {name}) is about something" in said, (
            said
        )
    saved = rows_of(tmp_path / "new")
    assert saved["case_file"] == []
    assert saved["mark"] == made_ledger[1]["mark"]


@pytest.mark.long(0.1)
@pytest.mark.parametrize("length", range(20, 140, 40))
def test_where_the_tables_are_is_not_lost_with_the_middle(tmp_path, length, monkeypatch, capsys):
    """How long a machine's name and a process's number are decides where each page lies."""
    monkeypatch.setattr(ledger_module.places, "me", lambda: "x" * length)
    path = tmp_path / "ledger.sqlite"
    rows = make(path)
    damage(path, "pages of zeros")
    status, said = ledger(capsys, "salvage", path, "-o", tmp_path / "new")
    assert status == 1, said
    assert set(rows_of(tmp_path / "new")["result"]) <= set(rows["result"])


def test_a_ledger_of_which_nothing_can_be_read(path, tmp_path, capsys):
    path.write_bytes(path.read_bytes()[:100] + bytes(path.stat().st_size - 100))
    for words in (["check", path], ["salvage", path, "-o", tmp_path / "new"]):
        status, said = ledger(capsys, *words)
        assert (status, "restore it from a backup" in said) == (2, True)


@pytest.mark.parametrize("kind", ["cut in half", "half a page", "pages of zeros", "no magic"])
def test_what_can_be_read_is_saved(made_ledger, path, kind, tmp_path, capsys):
    damage(path, kind)
    status, said = ledger(capsys, "salvage", path, "-o", tmp_path / "new")
    assert status == (0 if kind == "no magic" else 1), said
    saved = rows_of(tmp_path / "new")
    for table, rows in made_ledger[1].items():
        if table not in ("seed", "run"):  # they are made anew if they are lost
            assert set(saved[table]) <= set(rows)
    assert sum(map(len, saved.values())) > (0 if kind == "cut in half" else 10)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=6),
    end=st.floats(0.2, 1),
)
@pytest.mark.long(1)
def test_flipped_bytes_never_end_in_anything_but_a_sentence(
    made_ledger, tmp_path_factory, flips, end
):
    folder = tmp_path_factory.mktemp("flipped")
    path = folder / "ledger.sqlite"
    data = bytearray(made_ledger[0].read_bytes())
    for place, change in flips:
        data[int(place * len(data))] ^= change
    path.write_bytes(data[: int(end * len(data))])
    shutil.copy(LedgerFile(made_ledger[0]).key(""), LedgerFile(path).key(""))
    try:
        with closing(Ledger(path)) as read, read.naming_errors():
            read.check()
            marks = read.in_force()
        original = {row[2]: row[4] for row in made_ledger[1]["mark"]}
        assert {key: mark.marks for key, mark in marks.items()} == original
    except HarnessError:
        pass
    path.write_bytes(data[: int(end * len(data))])
    try:
        salvage.salvage(path, folder / "new")
    except HarnessError:
        return
    saved = rows_of(folder / "new")
    assert set(saved["mark"]) <= set(made_ledger[1]["mark"])
    assert set(saved["result"]) <= set(made_ledger[1]["result"])


NO_TEXT = "CAST(x'61e262' AS TEXT)"


@pytest.mark.parametrize(("table", "column"), [("case_file", "sha256"), ("wanted", "basis")])
def test_a_name_with_bytes_that_are_no_text_names_nothing(path, tmp_path, table, column):
    first = f"SELECT min({column}) FROM {table}"
    edit(path, f"UPDATE {table} SET {column} = {NO_TEXT} WHERE {column} = ({first})")
    saved = {one.table: one for one in salvage.salvage(path, tmp_path / "new").tables}
    assert saved[table].lost != ()
    assert saved["mark"].lost == ()


@pytest.mark.parametrize("cut", [0.3, 0.7])
def test_half_a_log_is_an_earlier_ledger(made_ledger, tmp_path, cut):
    """Another program may have given it a write-ahead log; what of that is whole counts."""
    path = tmp_path / "ledger.sqlite"
    make(path, results=4)
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("BEGIN")  # who reads keeps the log from being written back
    db.execute("SELECT count(*) FROM mark").fetchone()
    with closing(Ledger(path)) as more:
        token = more.lease([one.basis for one in ATTEMPTS])
        for one in ATTEMPTS[4:12]:
            finish(more, one.basis, token, ROW, 1, last=True)
    copy = tmp_path / "copy.sqlite"
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{copy}{end}")
    shutil.copy(LedgerFile(path).key(""), LedgerFile(copy).key(""))
    db.close()
    log = tmp_path / "copy.sqlite-wal"
    log.write_bytes(log.read_bytes()[: int(cut * log.stat().st_size)])
    with closing(Ledger(copy)) as read:
        read.check()
        assert 4 < len(read.chains.rows("result")) < 13


# --- the key ---


def test_the_key_may_lie_elsewhere(tmp_path, capsys):
    path, key = tmp_path / "a.sqlite", tmp_path / "safe" / "key"
    key.parent.mkdir()
    Ledger(LedgerFile(path, key)).close()
    Ledger(LedgerFile(tmp_path / "b.sqlite", key)).close()  # and be used for many
    assert not LedgerFile(path).key("").exists()
    with pytest.raises(LedgerError, match=f"the key of {path} is missing: there is no {path}.key"):
        Ledger(path)
    Ledger(LedgerFile(path, key)).close()
    assert ledger(capsys, "check", path)[0] == 2
    assert ledger(capsys, "check", path, "--key", key)[0] == 0


def test_another_key_and_no_key_are_refused(path, tmp_path):
    key = LedgerFile(path).key("")
    mine = key.read_text()
    key.write_text("0" * 64)
    with pytest.raises(LedgerError, match=f"is not the key of {path}: --key names the file$"):
        Ledger(path)
    key.write_text("no key\n")
    with pytest.raises(UsageError, match="is not a ledger's key: expected 64 hexadecimal digits"):
        Ledger(path)
    key.write_text(mine)
    Ledger(path).close()


def test_without_its_key_all_can_be_saved_unchecked(made_ledger, path, tmp_path, capsys):
    key = LedgerFile(path).key("")
    key.unlink()
    with pytest.raises(LedgerError) as refused:
        Ledger(path)
    assert str(refused.value) == (
        f"the key of {path} is missing: there is no {key}. Without it nobody can tell whether a"
        " mark was edited. --key names the file; if it is lost, gtp-harness ledger salvage"
        " --unchecked makes a new ledger of this one"
    )
    status, said = ledger(capsys, "salvage", path, "-o", tmp_path / "new")
    assert (status, "--unchecked saves all rows that can be read" in said) == (2, True)
    status, said = ledger(capsys, "salvage", path, "-o", tmp_path / "new", "--unchecked")
    assert (status, "Nobody checked" in said) == (0, True)
    assert rows_of(tmp_path / "new") == made_ledger[1]


def test_a_making_that_was_killed_goes_on(tmp_path):
    """Killed before the ledger knew its key, and after that but before the key was in place."""
    path, key = tmp_path / "a.sqlite", tmp_path / "a.sqlite.key"
    path.touch()
    key.with_name("a.sqlite.key.new").write_text("0" * 31)
    Ledger(path).close()
    key.rename(tmp_path / "a.sqlite.key.new")
    Ledger(path).close()
    assert key.exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.sqlite", "a.sqlite.key"]


# --- former versions ---

OF_VERSION_3 = Path(__file__).parent / "golden" / "ledger-version-3.sql"


def test_a_ledger_of_version_3_of_before_is_used_as_it_is(tmp_path, capsys):
    """Written by the harness when it spoke to SQLite itself."""
    path = tmp_path / "old.sqlite"
    key, _, dump = OF_VERSION_3.read_text().partition("\n")
    LedgerFile(path).key("").write_text(key.removeprefix("-- key "))
    with closing(sqlite3.connect(path)) as db:
        db.executescript(dump)
    before = path.read_bytes()
    status, said = ledger(capsys, "check", path)
    assert (status, "3 results, 1 marks" in said) == (0, True)
    with closing(Ledger(path)) as read:
        read.check()
        assert path.read_bytes() == before
        assert read.in_force()["student0"].bases == ("basis0", "basis1")
        assert read.states(["basis3"])["basis3"].state == "waiting"
        token = read.lease(["basis3"])
        assert finish(read, "basis3", token, ROW, 1, last=True)
        read.give(1, "t2", [MarkRow("student1", "4", "{}", ("basis2", "basis3"))])
        read.check()


def test_files_that_are_not_there(tmp_path, capsys):
    for words in (["check"], ["salvage", "-o", tmp_path / "new"]):
        status, said = ledger(capsys, *words, tmp_path / "absent")
        assert (status, "cannot read" in said) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_damaged_tables_are_asked_for_what_was_planned(path):
    """A table whose middle cannot be read is still found by name."""
    with closing(Ledger(path)) as read:
        planned = read.list_planned(read.find_run()[0])
    with salvage._open(LedgerFile(path)) as found:
        assert found._find_known_names("result") == {one.basis for one in planned}
        assert found._find_known_names("build") == {one.build for one in planned}
        assert found._find_known_names("mark") == set()
