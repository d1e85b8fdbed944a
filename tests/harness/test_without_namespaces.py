"""Where namespaces are refused, as in Docker and in a chroot, the level that is left works."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.sandbox import landlock, levels
from tests.harness import small_class
from tests.harness.small_class import CLASS
from tests.harness.test_grade import marks, of

pytestmark = [pytest.mark.processes, pytest.mark.long(10)]

ROOT = Path(__file__).resolve().parents[2]
CONFINE = str(Path(__file__).with_name("without_namespaces.py"))


@pytest.fixture(params=["docker", "chroot"])
def confined_command(request) -> list[str]:
    """What runs a command without namespaces."""
    if not landlock.abi():
        pytest.skip("no level is left: this kernel has no Landlock")
    words = [sys.executable, CONFINE, request.param]
    if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("only root may chroot, where mounts are not refused")
    return words


def harness(confined, *words, cwd=ROOT, program="harness.cli") -> tuple[int, str]:
    done = subprocess.run(
        [*confined, sys.executable, "-m", program, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    return done.returncode, said


def test_doctor_names_the_level_that_is_left(confined_command):
    status, said = harness(confined_command, "doctor")
    assert status == 0, said
    assert "level 3         no: " in said
    assert "level 2         no: " in said
    assert f"does not hold: {levels.GAPS[1]}" in said
    assert "Engines are run at level 1." in said


@pytest.fixture
def place():
    """A folder that an engine of any user may read."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-confined-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_run_uses_it_and_a_level_that_is_not_there_is_refused(confined_command, place):
    engine, case = place / "engine.sh", place / "a.gtp"
    engine.write_text("#!/bin/sh\nwhile read -r line; do printf '= %s\\n\\n' \"$line\"; done\n")
    engine.chmod(0o755)
    case.write_text("say a\n#? [say a]\nsay b\n#? [say c]\n")
    status, said = harness(confined_command, "run", "--report", "--sandbox", "auto", engine, case)
    assert (status, "2 tests, 1 FAILED, 1 passed" in said) == (1, True), said
    status, said = harness(confined_command, "run", "--report", "--sandbox", "2", engine, case)
    assert status == 3
    assert said.startswith("gtp-harness: level 2 does not work here: ")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "confined_command", ["docker", pytest.param("chroot", marks=pytest.mark.slow)], indirect=True
)
def test_a_class_gets_the_same_marks(confined_command, tmp_path):
    room = small_class.make(tmp_path, CLASS[:4])
    words = (room / "submissions", "--assignment", room / "counting", "--output", room / "out")
    status, said = harness(confined_command, "grade", *words, "--no-images")
    assert status in (0, 4), said
    found = marks(room)
    assert [of(one, found) for one in CLASS[:4]] == [one.mark for one in CLASS[:4]]
    assert "level 1" in (room / "out" / "class.html").read_text()
