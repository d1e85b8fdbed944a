"""Systems that are not Linux: each is tried in a Python without what that system has not.

``tests/elsewhere`` has a ``sitecustomize`` for each.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import _WITHOUT_ENGINES

pytestmark = [pytest.mark.processes, pytest.mark.long(40)]

TESTS = Path(__file__).parent
NOGO = TESTS / "own_games" / "nogo"
GO = TESTS / "submissions" / "go-scoring"
PROGRAMS = Path(sys.executable).parent


def call_on_system(
    system: str, folder: Path, *words: object, said: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run ``gtp-harness`` or ``gtp-oracle`` as on a system; "": on this one."""
    environment = os.environ | {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "COLUMNS": "80"}
    if system:
        environment["PYTHONPATH"] = str(TESTS / "elsewhere" / system)
    return subprocess.run(
        [PROGRAMS / str(words[0]), *map(str, words[1:])],
        cwd=folder,
        env=environment,
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


ORACLE = "gtp-oracle gtp"
WRONG = f"{ORACLE} --mistake points-add-up"
ON_MACOS = [
    ("run --jobs 2 --output pages --json - {WRONG} @go-scoring/public", 1, '"FAILED"'),
    ("run --sandbox auto {ORACLE} @go-scoring", 3, "a sandbox needs Linux, and this is macOS"),
    ("verify @go-scoring/public", 0, "nothing found"),
    ("calibrate {NOGO}", 3, 'sandbox = "off" in assignment.toml'),
    ("generate --assignment go-scoring -n 3 -o made.gtp --sandbox off --engine {WRONG}", 1,
     "1 of 1 engine caught"),
    ("fuzz {ORACLE} --assignment go-scoring", 3, "--sandbox off"),
    ("grade class --assignment go-scoring --public-only --overlay {GO}/util --output graded", 3,
     "--unsafe-no-sandbox runs them with your own rights"),
    ("grade class --assignment go-scoring --public-only --overlay {GO}/util --output graded"
     " --unsafe-no-sandbox", 0, "1 mark, 0 withheld"),
    ("doctor", 1, "levels 3 to 1   no: a sandbox needs Linux"),
]  # fmt: skip


ON_WINDOWS = [
    ("verify @go-scoring/public @gosensei", 0, "nothing found"),
    ("cases go-scoring --copy mine", 0, "mine"),
    ("generate --assignment go-scoring -n 3 -o made.gtp", 0, "3 tests"),
    ("history none.db", 2, "there is no such file"),
    ("run {ORACLE} @go-scoring", 2, "gtp-harness run does not work on Windows: use WSL"),
    ("grade x", 2, "gtp-harness grade does not work on Windows: use WSL"),
    ("verify @go-scoring --assignment go-scoring --against x", 2, "--against does not work on"),
    ("verify {NOGO}/cases --assignment {NOGO}", 2, "starting a reference does not work on"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "status", "told"), ON_MACOS)
def test_commands_on_macos(course, line, status, told):
    see_answered("macos", course, line, status, told)


@pytest.mark.parametrize(("line", "status", "told"), ON_WINDOWS)
def test_commands_on_windows(tmp_path, line, status, told):
    see_answered("windows", tmp_path, line, status, told)


def test_the_commands_for_windows_are_told():
    text = (TESTS.parent / "docs" / "platforms.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"```text\n(.*)\n```", text)
    assert told.split() == sorted(_WITHOUT_ENGINES)


def test_the_oracle_answers_on_windows(tmp_path):
    asked = "boardsize 5\nplay b c3\nscore\nquit\n"
    found = call_on_system("windows", tmp_path, "gtp-oracle", "gtp", said=asked)
    assert (found.returncode, found.stdout) == (0, "= \n\n= \n\n= B+25\n\n= \n\n")
    case = TESTS.parent / "cases" / "go-scoring" / "area.gtp"
    found = call_on_system("windows", tmp_path, "gtp-oracle", "score", case)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a folder with a submission, a class of one, and an assignment that is trusted."""
    (tmp_path / "class").mkdir()
    shutil.copytree(GO / "assignment1", tmp_path / "assignment1")
    subprocess.run(["tar", "-czf", "class/a.tgz", "assignment1"], cwd=tmp_path, check=True)
    shutil.copytree(NOGO, tmp_path / "trusted")
    declared = tmp_path / "trusted" / "assignment.toml"
    declared.write_text(
        declared.read_text().replace("[reference]\n", '[reference]\nsandbox = "off"\n')
    )
    return tmp_path


def see_answered(system: str, folder: Path, line: str, status: int, told: str) -> None:
    names = {"ORACLE": ORACLE, "WRONG": WRONG, "NOGO": NOGO, "GO": GO}
    words = [word.format(**names) for word in line.split()]
    found = call_on_system(system, folder, "gtp-harness", *words)
    said = found.stdout + found.stderr
    assert (found.returncode, told in said) == (status, True), said
    assert "Traceback" not in said


# Engines that break in each way, and the part of their report that is the same everywhere.
BROKEN = ["dies_in_reply", "never_answers", "not_utf8"]


@pytest.mark.parametrize("engine", BROKEN)
def test_engines_end_as_on_linux(tmp_path, engine):
    (tmp_path / "a.gtp").write_text("1 one\n#? [.*]\n2 fault\n#? [.*]\n3 three\n#? [.*]\n")
    words = ["gtp-harness", "run", "--timeout", "1", "--startup-timeout", "3", "--no-color"]
    words += ["--tap", "-"]
    program = f"python3 {TESTS}/engines/{engine}.py"
    here, there = (
        call_on_system(system, tmp_path, *words, program, "a.gtp") for system in ("", "macos")
    )
    assert without_times(there) == without_times(here)


def without_times(found: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    """Return how a command ended and what it said, without what differs from run to run."""
    said = (re.sub(r"\d+\.\d+", "…", text) for text in (found.stdout, found.stderr))
    return (found.returncode, *said)


def test_an_engine_ignores_no_signal_that_we_ignore(tmp_path):
    engine = tmp_path / "engine"
    engine.write_text(
        "#!/bin/sh\n"
        'while read word; do printf "= %s\\n\\n" "$(grep SigIgn /proc/$$/status)"; done\n'
    )
    engine.chmod(0o755)
    (tmp_path / "a.gtp").write_text("1 traps\n#? [SigIgn:\\s0+]\n")
    found = subprocess.run(
        ["sh", "-c", f"trap '' INT TERM; exec {PROGRAMS}/gtp-harness run ./engine a.gtp"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS / "elsewhere" / "macos")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_what_macos_lacks_is_gone(tmp_path):
    """The environment of these tests hides what it says."""
    script = (
        "import os, sys, ctypes\n"
        "assert sys.platform == 'darwin' and not hasattr(os, 'pidfd_open')\n"
        "assert not hasattr(ctypes.CDLL(None), 'prctl')\n"
        "for path in ('/proc/self/stat', '/sys/fs'):\n"
        "    try: open(path)\n"
        "    except FileNotFoundError: continue\n"
        "    sys.exit(path)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(TESTS / "elsewhere" / "macos")}
    subprocess.run([sys.executable, "-c", script], env=environment, cwd=tmp_path, check=True)
