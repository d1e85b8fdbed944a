"""A sixth assignment costs six new files beside its case files, and a line in each of two tables.

``sixth_assignment`` beside this file has the files, in folders as in the tree. They are put into a
copy of it, and every command that is handed a specification is used there.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.long(10)]

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "sixth_assignment"
PACKAGES = ("oracle", "harness", "cases")
KEY = "count-stones"
LINES = {
    "oracle/gtp/__init__.py": ("GAMES = {\n", f'    "{KEY}": "count_stones",\n'),
    "oracle/assignments.py": ("ASSIGNMENTS = {\n", f'    "{KEY}": "{KEY}",\n'),
}

# Plays without captures: what a student might hand in.
ENGINE = """\
import sys

stones = {}
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    answer = ""
    if words[0] in ("boardsize", "clear_board"):
        stones.clear()
    elif words[0] == "play":
        stones[words[2].lower()] = words[1].lower()[0]
    elif words[0] == "stones":
        answer = sum(color == words[1].lower()[0] for color in stones.values())
    print(f"={number} {answer}\\n", flush=True)
    if words[0] == "quit":
        break
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree, with the assignment. Not to be written into."""
    copy = tmp_path_factory.mktemp("tree")
    no_bytecode = shutil.ignore_patterns("__pycache__")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, copy / name, ignore=no_bytecode)
    shutil.copytree(FILES, copy, ignore=no_bytecode, dirs_exist_ok=True)
    for name, (above, line) in LINES.items():
        text = (copy / name).read_text()
        assert text.count(above) == 1
        (copy / name).write_text(text.replace(above, above + line))
    return copy


def sources(root):
    found = (path for name in PACKAGES for path in (root / name).rglob("*") if path.is_file())
    return {path.relative_to(root) for path in found if "__pycache__" not in path.parts}


def test_it_costs_six_new_files_and_two_lines_elsewhere(tree):
    new = sources(tree) - sources(ROOT)
    assert len([path for path in new if path.suffix != ".gtp"]) == 6
    assert {path.parent for path in new if path.suffix == ".gtp"} == {Path("cases", KEY)}
    assert not sources(ROOT) - sources(tree)
    _, changed, _ = filecmp.cmpfiles(ROOT, tree, map(str, sources(ROOT)), shallow=False)
    assert set(changed) == set(LINES)
    for name in changed:
        new = (tree / name).read_text().splitlines()
        assert len(new) == len((ROOT / name).read_text().splitlines()) + 1


@pytest.fixture(scope="module")
def command(tree):
    """Run a command of the copy, and return what it said."""

    def run(*words, status=0, module="harness.cli"):
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, words)],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def cases(tmp_path_factory, command):
    """Tests of it that were made."""
    path = tmp_path_factory.mktemp("cases") / "made.gtp"
    command("generate", "--assignment", KEY, "-n", "4", "--seed", "1", "-o", path)
    return path


def oracle(*words):
    return f"{sys.executable} -m oracle gtp --game {KEY} {' '.join(words)}"


def test_tests_are_made_and_verified(command, cases):
    assert "stones " in cases.read_text()
    assert command("verify", "--assignment", KEY, cases) == "4 tests in 1 file: nothing found\n"
    wrong = cases.with_name("wrong.gtp")
    wrong.write_text("boardsize 3\nclear_board\nplay b a1\n10 stones b\n#? [2]\n")
    assert "wrong.gtp:4" in command("verify", wrong, status=1), "told by its commands"


def test_they_catch_its_mistakes(command, cases):
    said = command("strength", cases, "--assignment", KEY, "--at-least", "100")
    assert "kill rate 100 % (2 of 2 mistakes)" in said


def test_a_right_engine_passes_them_and_a_mistake_is_named(command, cases, tmp_path):
    command("run", oracle(), cases)
    found = tmp_path / "found.json"
    program = oracle("--mistake", "captured-stones-counted")
    command("run", program, cases, "--json", found, status=1)
    (diagnosis,) = json.loads(found.read_text())["diagnoses"]
    assert "captured stones were still there" in diagnosis["text"]


@pytest.fixture(scope="module")
def course(tmp_path_factory, tree, cases):
    """The assignment's folder as a teacher has it, with the tests as public ones."""
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(tree / "cases" / KEY, course / KEY)
    shutil.copy(cases, course / KEY)
    return course


def test_a_submission_is_checked_and_graded(command, course):
    from tests.harness.test_check import works

    if not works():
        pytest.skip("no sandbox works on this machine")
    own = course / "submissions" / "ada"
    (own / "assignment6").mkdir(parents=True)
    (own / "assignment6" / "engine.py").write_text(ENGINE)
    said = command("check", own / "assignment6", "--assignment", course / KEY, status=1)
    assert "diagnosis: it answers as if captured stones were still there: 4 of 4 failures" in said
    with tarfile.open(own / "a6.tgz") as archive:
        assert "assignment6/engine.py" in archive.getnames()
    shutil.rmtree(own / "assignment6")
    command("grade", course / "submissions", "--assignment", course / KEY,
            "--output", course / "graded")  # fmt: skip
    (ada,) = json.loads((course / "graded" / "class.json").read_text())["submissions"]
    assert ada["marks"]["total"]["exact"] == "2"
    assert {one["kind"] for one in ada["attempts"]} == {"public", "image"}
