"""What ``gtp-harness grade`` makes of a class: exact marks, gradebooks, a signed ledger."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
import zipfile
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import pytest

from tests.contract import graded_class
from tests.contract.product import PROGRAMS, check, dump, harness, settle, settle_json

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_commands")]

WORDS = ["--assignment", "scoring", "--unsafe-no-sandbox", "--jobs", "1", "--python"]
SHEETS = ["--canvas", "gradebook.csv", "--moodle", "worksheet.csv"]
MEASURED = frozenset(
    {"seconds", "cpu_seconds", "cpu", "own_cpu", "memory", "started", "python", "harness", "pid"}
    | {"given", "stderr"}
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder of a teacher whose class is graded, and what was said."""
    folder = tmp_path_factory.mktemp("class")
    graded_class.lay(folder)
    fixed = str(Path(__file__).with_name("fixed.py")), str(PROGRAMS / "gtp-harness")
    done = harness(["grade", "list.csv", *WORDS, sys.executable, *SHEETS], folder, *fixed)
    assert done.status == 0, done.err
    return folder


def query(graded, statement):
    with closing(sqlite3.connect(graded / "graded" / "ledger.sqlite")) as db:
        return db.execute(statement).fetchall()


# --- what is written ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["marks.csv", "canvas.csv", "moodle.csv"])
def test_a_gradebook(name, graded):
    check(f"grade/{name}", (graded / "graded" / name).read_bytes().decode())


def test_the_document_of_the_class(graded):
    found = json.loads((graded / "graded" / "class.json").read_text())
    check("grade/class.json", compact(settle_json(found, MEASURED), graded))


def compact(value, graded):
    """Return a document with a line for each member of the upper levels."""
    text = settle(dump(value), (str(graded), "FOLDER"), (sys.executable, "PYTHON"))
    small = re.compile(r"[\[{]\n\s+([^\[\]{}]{1,900}?)\n\s+([\]}])")
    for _ in range(2):
        text = small.sub(lambda one: f"{one[0][0]}{' '.join(one[1].split())}{one[2]}", text)
    return text


def test_junit(graded):
    text = (graded / "graded" / "junit.xml").read_text()
    text = re.sub(r'(time|timestamp|hostname)="[^"]*"', r'\1="…"', text)
    check("grade/junit.xml", settle(text, (str(graded), "FOLDER"), (sys.executable, "PYTHON")))


@pytest.mark.parametrize("key", ["7", "bob", "eve", "fay"])
def test_gradescope(key, graded):
    found = json.loads((graded / "graded" / "gradescope" / key / "results.json").read_text())
    found["execution_time"] = "(seconds)"
    check(f"grade/gradescope-{key}.json", settle(dump(found), (str(graded), "FOLDER")))


def test_the_names_of_all_files(graded):
    out = graded / "graded"
    names = [p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()]
    for path in out.glob("*.zip"):
        with zipfile.ZipFile(path) as found:
            names += [f"{path.name}: {name}" for name in found.namelist()]
    check("grade/files.txt", "".join(f"{name}\n" for name in sorted(names)))


# --- the ledger --------------------------------------------------------------------------------

CANONICAL = {
    "marks": "SELECT marks FROM mark ORDER BY key",
    "submissions": "SELECT record FROM submission ORDER BY key",
    "results": "SELECT result FROM result JOIN attempt USING (basis)"
    " WHERE key IN ('bob', 'eve') ORDER BY key, kind, name, number",
}


@pytest.mark.parametrize("name", CANONICAL)
def test_canonical_json(name, graded):
    lines = [text for (text,) in query(graded, CANONICAL[name])]
    assert all(text.isascii() for text in lines)
    check(f"grade/ledger-{name}.jsonl", settle("".join(f"{one}\n" for one in lines)))


def test_variants_by_seed(graded):
    """The seed is always the same here; it decides how boards are turned."""
    texts = query(
        graded,
        "SELECT name, bytes FROM case_file JOIN content USING (sha256) WHERE kind = 'image'"
        " ORDER BY name",
    )
    check("grade/variants.gtp", "".join(f"--- {name}\n{text.decode()}" for name, text in texts))


# The signed columns of each table.
PLANNED = ("key", "kind", "name", "sha256", "build")
SIGNED = {
    "seed": ("value",),
    "run": ("id", "started", "version", "assignment", "digest", "options"),
    "case_file": ("run", "position", "kind", "name", "sha256", "path"),
    "submission": ("run", "key", "record"),
    "wanted": ("run", "basis", *PLANNED),
    "result": (
        *("basis", "number", "token", "result", "started", "pid"),
        *("seconds", "cpu", "memory", "own_cpu", "figures", "last"),
    ),
    "mark": ("id", "run", "key", "given", "marks", "submission", "bases"),
}


def join(*values):
    """Return values as bytes, each with its length before it."""
    texts = (repr(float(one)) if isinstance(one, int | float) else str(one) for one in values)
    return b"".join(b"%d:%b" % (len(one), one) for one in (text.encode() for text in texts))


@pytest.mark.parametrize("table", SIGNED)
def test_signatures(table, graded):
    """As an auditor computes them: keyed BLAKE2b of each value, of the row, and of the chain."""
    key = bytes.fromhex((graded / "graded" / "ledger.sqlite.key").read_text())

    def mac(data, size=16):
        return blake2b(data, digest_size=size, key=key).hexdigest()

    columns = ", ".join(SIGNED[table])
    source = "wanted JOIN attempt USING (basis)" if table == "wanted" else table
    prefix = "wanted." if table == "wanted" else ""
    order = f"ORDER BY {prefix}link"
    rows = query(
        graded, f"SELECT {columns}, {prefix}link, {prefix}signature FROM {source} {order}"
    )
    assert rows
    before = ""
    for number, (*values, link, signature) in enumerate(rows, 1):
        assert link == number
        place = join(table, link)
        parts = [mac(place + join(i, value)) for i, value in enumerate(values)]
        own = mac(place + join(*parts))
        before = mac(join("chain", own, before))
        assert signature == " ".join([own, before, *(part[:8] for part in parts)])
    ((length, digest, unsigned, seal),) = query(
        graded, f"SELECT length, digest, unsigned, seal FROM chain WHERE name = '{table}'"
    )
    assert (length, digest, unsigned) == (len(rows), before, 0)
    assert seal == mac(join("head", table, length, digest, unsigned))
    assert query(graded, "SELECT name FROM signer") == [(mac(b"name", 8),)]


def test_a_ledger_that_was_edited_is_refused(graded, tmp_path):
    for name in ("ledger.sqlite", "ledger.sqlite.key"):
        (tmp_path / name).write_bytes((graded / "graded" / name).read_bytes())
    assert harness(["ledger", "check", "ledger.sqlite"], tmp_path).status == 0
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as db, db:
        db.execute("UPDATE mark SET marks = replace(marks, '4/3', '3') WHERE key = 'bob'")
    done = harness(["ledger", "check", "ledger.sqlite"], tmp_path)
    assert done.status == 1
    assert "mark 3 (submission bob) was changed after it was written: marks" in done.out + done.err


# --- marks that were given ---------------------------------------------------------------------


def test_marks_that_would_change_are_told_and_stay(graded, tmp_path):
    folder = shutil.copytree(graded, tmp_path / "again")
    toml = folder / "scoring" / "assignment.toml"
    toml.write_text(toml.read_text().replace("points = 3", "points = 4"))
    words = ["grade", "--marks-only", "--assignment", "scoring", "--output", "graded"]
    changed = harness(words, folder)
    assert changed.status == 1, changed.err
    assert query(folder, "SELECT count(*) FROM mark") == [(9,)]
    assert harness([*words, "--accept"], folder).status == 0
    given = query(folder, "SELECT key, marks FROM mark WHERE id > 9 ORDER BY key")
    totals = [f"{key} {json.loads(marks)['total']}\n" for key, marks in given]
    check("grade/accepted.txt", "".join(totals))
