"""Style and types of all code: what ``tox -e lint`` calls, beside the other tests.

The types of what decides and is shipped are checked with what decides, those of the tests with
the rest: that takes as long again.
"""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def commands() -> list[str]:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    return tox["testenv:lint"]["commands"].split("\n")[1:]


@pytest.mark.processes
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            command, marks=[pytest.mark.long(30), *[pytest.mark.full] * (command != "mypy")]
        )
        for command in commands()
    ],
)
def test_nothing_is_found(command: str) -> None:
    name, *words = command.split()
    program = shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
