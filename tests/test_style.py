"""Style of all code, and types of what is shipped: what ``tox -e lint`` calls."""

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
@pytest.mark.long(30)
@pytest.mark.full
@pytest.mark.parametrize("command", commands())
def test_nothing_is_found(command: str) -> None:
    name, *words = command.split()
    program = shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
