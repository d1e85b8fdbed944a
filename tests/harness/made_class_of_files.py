"""A class that hands in Go 1 of 2018 with another main file each, graded from start to end."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.harness.small_class import archive

SUBMISSIONS = Path(__file__).parents[1] / "submissions"
GO = SUBMISSIONS / "go-scoring"

ASSIGNMENT = """\
title = "Go scoring"
specification = "go-scoring"

[archive]
name = "a1.tgz"
folder = "assignment1"

[files]
required = ["Go1.py"]
allowed = ["*.py"]
forbidden = ["util/"]

[engine]
command = "python3 {folder}/Go1.py"
overlay = "util"

[cases]
public = ["*.gtp"]
private = ["private/*.gtp"]
%(cases)s

[limits]
timeout = %(timeout)s
cpu = 20

[[marks]]
name = "private tests"
points = %(points)s
judged_by = "private"
rule = "share"

[late]
deduction = 20
"""
PUBLIC = "boardsize 5\nclear_board\nkomi 0.5\nplay b c3\n10 score\n#? [B\\+24\\.5]\n"


def scene(number: int, vertex: str, before: str = "boardsize 5\nclear_board\n") -> str:
    """Return a test of a lone black stone, which owns the board; komi is set once for all."""
    return f"{before}play b {vertex}\n{number} score\n#? [B\\+18\\.5]\n"


def write_class(
    room: Path,
    files: Mapping[str, str],
    private: str,
    *,
    timeout: float = 20,
    cases: str = "",
    points: int = 18,
) -> Path:
    """Write an assignment and what was handed in; ``files``: a Go1.py for each student."""
    folder, downloaded = room / "go", room / "submissions"
    (folder / "private").mkdir(parents=True)
    downloaded.mkdir()
    shutil.copytree(GO / "util", folder / "util", ignore=shutil.ignore_patterns("__pycache__"))
    text = ASSIGNMENT % {"timeout": timeout, "cases": cases, "points": points}
    (folder / "assignment.toml").write_text(text)
    (folder / "public.gtp").write_text(PUBLIC)
    (folder / "private" / "private.gtp").write_text(private)
    for number, (name, main) in enumerate(files.items()):
        own = {"Go1.py": main}
        own["gtp_connection_go1.py"] = (GO / "assignment1" / "gtp_connection_go1.py").read_text()
        path = downloaded / f"{name}_{100 + number}_{900 + number}_a1.tgz"
        path.write_bytes(archive(own))
    return room


def faulty(*names: str) -> dict[str, str]:
    """Return submissions of students with an engine of ``faults``; ``right``: the right one."""
    return {
        name.replace("_", ""): (
            GO / "assignment1" / "Go1.py" if name == "right" else GO / "faults" / f"{name}.py"
        ).read_text()
        for name in names
    }


def grade_class(room: Path, *more: str, status: int = 0) -> str:
    """Grade it; return what was said."""
    words = [sys.executable, "-m", "harness.cli", "grade", str(room / "submissions")]
    words += [
        "--assignment",
        str(room / "go"),
        "--output",
        str(room / "out"),
        "--no-images",
        *more,
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def marks(room: Path) -> dict[str, Fraction]:
    """Return the marks in force, by the name that the student has in the download."""
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        rows = db.execute("SELECT key, marks FROM mark ORDER BY id").fetchall()
    return {key.partition("_")[0]: Fraction(json.loads(text)["total"]) for key, text in rows}


def results(room: Path, name: str = "private.gtp") -> dict[str, list[dict[str, Any]]]:
    """Return by the student's name the results of each run of a case file."""
    query = (
        "SELECT key, result FROM result JOIN attempt USING (basis) WHERE name = ? ORDER BY number"
    )
    found: dict[str, list[dict[str, Any]]] = {}
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        for key, text in db.execute(query, (name,)):
            found.setdefault(key.partition("_")[0], []).append(json.loads(text))
    return found
