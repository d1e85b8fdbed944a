"""A program behind an adapter that takes all the time of a call: was it slow, or the machine?

Two C programs are graded. Ada's hangs in the very first call, as if others had the processor, and
never again; Ben's has an endless loop in one command.
"""

import csv
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.assignments import assignment
from tests.harness.small_class import archive
from tests.harness.spoilt_submissions import SPOILT, SUBMISSIONS

# Together: they share what takes seconds to make.
pytestmark = [pytest.mark.processes, pytest.mark.long(20)]

SOURCE = SUBMISSIONS / "gosensei" / "gosensei"
ASKED = ("eyes.gtp", "twoeyes.gtp")


@pytest.fixture(scope="module")
def graded_folder(tmp_path_factory, c_tools) -> tuple[Path, str]:
    """The folder of a grading, and what it said."""
    room = tmp_path_factory.mktemp("slow")
    _assignment(room / "quick")
    (room / "class").mkdir()
    (room / "class" / "ada.tgz").write_bytes(_ada(room / "flag"))
    (room / "class" / "ben.tgz").write_bytes(_ben())
    words = ["class", "--assignment", "quick", "--public-only", "--no-images"]
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "grade", *words, "--unsafe-no-sandbox"],
        cwd=room,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return room / "graded", done.stdout


def _assignment(folder: Path) -> None:
    """Write the assignment with less time, and the first two tests of two case files."""
    folder.mkdir()
    place = assignment.find("gosensei").place
    toml = (place / "assignment.toml").read_text(encoding="utf-8")
    assert "\nseconds = 2\n" in toml
    (folder / "assignment.toml").write_text(toml.replace("\nseconds = 2\n", "\nseconds = 1\n"))
    for name in ASKED:
        tests = (place / name).read_text(encoding="utf-8").split("\n\n")
        (folder / name).write_text("\n\n".join(tests[:3]) + "\n", encoding="utf-8")


def _files() -> dict[str, str]:
    found = [path for path in SOURCE.rglob("*") if path.is_file()]
    return {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in found}


def _ada(flag: Path) -> bytes:
    files = _files()
    hang = f'if (fopen("{flag}", "r") == NULL && fopen("{flag}", "w") != NULL) while (1) {{}}'
    begin = "   int count;\n"
    assert begin in files["src/main.c"]
    files["src/main.c"] = files["src/main.c"].replace(begin, f"{begin}   {hang}\n")
    return archive(files, "gosensei")


def _ben() -> bytes:
    files, loop = _files(), SPOILT["endless loop"]
    assert loop.old in files[loop.file]
    files[loop.file] = files[loop.file].replace(loop.old, loop.new)
    return archive(files, "gosensei")


def test_what_may_be_the_machine_s_fault_is_run_again_alone_and_nothing_else(graded_folder):
    folder, _ = graded_folder
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as db:
        query = "SELECT key, name FROM result JOIN attempt USING (basis) WHERE number = 2"
        assert sorted(db.execute(query)) == [("ada", "eyes.gtp"), ("ben", "twoeyes.gtp")]


def test_only_who_was_slow_alone_loses_points(graded_folder):
    folder, _ = graded_folder
    with (folder / "marks.csv").open(encoding="utf-8", newline="") as file:
        marks = {row["key"]: float(row["total"]) for row in csv.DictReader(file)}
    assert marks["ada"] == 25 > marks["ben"] > 0


def test_the_teacher_hears_of_both(graded_folder):
    _, said = graded_folder
    assert re.search(r"flaky, judged by its last run: \S+ in eyes.gtp", said)
    assert "'twoeyes' timed out alone as well" in said


def test_the_student_hears_what_was_too_slow(graded_folder):
    folder, _ = graded_folder
    page = (folder / "feedback" / "ben.html").read_text(encoding="utf-8")
    assert "time-out: gosensei -doubleeyes BOARD was ended after 1 s of CPU time" in page
    assert "time-out" not in (folder / "feedback" / "ada.html").read_text(encoding="utf-8")
