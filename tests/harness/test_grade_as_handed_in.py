"""Submissions as real classes hand them in, and as a spy would: each is graded at every level.

Their files are those of ``tests/submissions/counting``, with the first line, the mode and the
files beside them that matter here.
"""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.assignments import assignment
from harness.assignments.build_steps import build
from harness.assignments.public_tests import run_public_tests
from harness.core.options import Options
from harness.core.records import Verdict
from tests.harness import small_class, test_grade
from tests.harness.test_sandbox_boxes import LEVELS, needs

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_workers")]

SUBMISSIONS = Path(__file__).parents[1] / "submissions" / "counting"
ALIKE = 4  # the exit status: several submissions are the same


class Submission(NamedTuple):
    """Files by their names, an engine's first line, and the points it must get of 7."""

    engine: str
    first: str = ""
    mode: int = 0o644
    beside: dict[str, str] = {}  # noqa: RUF012
    points: int = 7


# GRADED is the folder of the marks, with the ledger; TOOLS one with the teacher's programs.
HANDED_IN = {
    "nothing odd": Submission("right"),
    "a python that is not here": Submission("right", "#!/usr/local/bin/python3\n", 0o755),
    "a python of homebrew": Submission("right", "#!/opt/homebrew/bin/python3\n", 0o755),
    "a python of another year": Submission("right", "#!/usr/bin/env python3.6\n", 0o755),
    "lines of Windows": Submission("right", "#!/usr/bin/env python3\r\n", 0o755),
    "an apostrophe": Submission("right", "#!/usr/bin/python3 it's mine\n", 0o755),
    "an open quote": Submission("right", '#!/usr/bin/env "python3\n', 0o755),
    "nothing behind the mark": Submission("right", "#!\n", 0o755),
    "an environment": Submission("right", beside={"pyvenv.cfg": "home = /usr/bin\n"}),
    "a log where it starts": Submission("logs", beside={"starts.txt": ""}),
    "one of the teacher": Submission("spy", beside={"pyvenv.cfg": "home = GRADED\n"}, points=1),
    "the whole disk": Submission("spy", beside={"pyvenv.cfg": "home = ../../../..\n"}, points=1),
    "a program of the teacher": Submission("spy", "#!TOOLS/gen.sh\n", 0o755, points=1),
    "a long way to it": Submission("spy", "#!/usr/bin/env -S TOOLS/gen.sh\n", 0o755, points=1),
}


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder that every user may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-test-") as name:
        place = Path(name)
        place.chmod(0o755)
        tools = place / "tools"
        tools.mkdir(mode=0o755)
        (tools / "gen.sh").write_text("#!/bin/sh\n")
        (tools / "gen.sh").chmod(0o755)
        yield place


def files_of(one: Submission, room: Path) -> dict[str, tuple[str, int]]:
    """Return texts and modes by name."""
    places = {"GRADED": f"{room}/out", "TOOLS": f"{room}/tools"}
    private = places["TOOLS"] if "TOOLS" in one.first else places["GRADED"]
    engine = one.first + (SUBMISSIONS / f"{one.engine}.py").read_text()
    found = {"engine.py": (engine, one.mode), "readme.txt": ("Me.\n", 0o644)}
    found |= {name: (text, 0o644) for name, text in one.beside.items()}
    for word, path in {**places, "PRIVATE": private}.items():
        found = {name: (text.replace(word, path), mode) for name, (text, mode) in found.items()}
    return found


def archive(files: dict[str, tuple[str, int]]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for name, (text, mode) in files.items():
            member = tarfile.TarInfo(f"assignment1/{name}")
            member.size, member.mode = len(text.encode()), mode
            tar.addfile(member, io.BytesIO(text.encode()))
    return gzip.compress(written.getvalue(), mtime=0)


def make_class(room: Path, submissions: dict[str, Submission], **changes: str) -> None:
    """Write the assignment and the download of a class."""
    small_class.make(room, ())
    toml = room / "counting" / "assignment.toml"
    changes |= {"python3 {folder}": "{python} {folder}", '["*.py"]': '["*"]'}
    text = toml.read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    toml.write_text(text)
    for path in (room / "submissions").iterdir():
        path.unlink()
    for number, one in enumerate(submissions.values()):
        name = f"student{number:02}_{100 + number}_{900 + number}_a1.tgz"
        (room / "submissions" / name).write_bytes(archive(files_of(one, room)))


def marks(room: Path, submissions: dict[str, Submission]) -> dict[str, Fraction]:
    """Return the marks by the submissions' titles."""
    found = test_grade.marks(room)
    return {
        title: next(mark for key, mark in found.items() if f"_{100 + number}" in key)
        for number, title in enumerate(submissions)
    }


@pytest.mark.long(2)
@pytest.mark.parametrize("level", LEVELS)
def test_what_a_submission_says_of_itself_changes_no_mark(level: int, room: Path) -> None:
    """Not its first lines, modes and settings: no right one loses a point, no spy gets one."""
    needs(level)
    make_class(room, HANDED_IN)
    test_grade.grade(room, "--no-images", "--sandbox", str(level), status=ALIKE)
    expected = {title: Fraction(one.points) for title, one in HANDED_IN.items()}
    assert marks(room, HANDED_IN) == expected


@pytest.mark.parametrize("level", LEVELS)
def test_check_lets_an_engine_write_where_it_starts_and_keeps_nothing(
    level: int, room: Path
) -> None:
    needs(level)
    make_class(room, {})
    home = room / "stage" / "assignment1"
    home.mkdir(parents=True)
    (room / "stage").chmod(0o755)
    files = files_of(HANDED_IN["a log where it starts"], room)
    for name, (text, _) in files.items():
        (home / name).write_text(text)
    found = assignment.find(str(room / "counting"))
    result = run_public_tests(found, room / "stage", Options(sandbox=str(level))).result
    verdicts = [outcome.verdict for file in result.files for outcome in file.outcomes]
    assert verdicts == [Verdict.PASSED] * len(verdicts) != []
    assert {path.name: path.read_text() for path in home.iterdir()} == {
        name: text for name, (text, _) in files.items()
    }


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["pyvenv.cfg", "build.sh", "run"])
def test_neither_does_it_show_anything_to_a_build_step(level: int, name: str, room: Path) -> None:
    needs(level)
    home = room / "stage" / "assignment1"
    home.mkdir(parents=True)
    (room / "stage").chmod(0o755)
    first = f"#!{room}/tools/gen.sh\n"
    texts = {"pyvenv.cfg": f"home = {room}/tools\n", "build.sh": first, "run": first}
    (home / name).write_text(texts[name])
    (home / name).chmod(0o755)
    (home / "main.py").write_text(
        f"import os\ntry: print(os.listdir('{room}/tools'))\nexcept OSError: print('refused')\n"
    )
    python = "/usr/bin/python3" if os.geteuid() == 0 else "python3"
    steps = ((python, "{folder}/main.py", f"{{folder}}/{name}", name),)
    found = assignment.find("go-scoring")
    wanted = assignment.BuildSteps(steps, (), 20.0, 1 << 28, 1 << 12)
    built = build(found._replace(build=wanted), room / "stage", str(level))
    assert built == (True, "refused\n", "")
