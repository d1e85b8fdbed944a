"""What a box's keeper does before the engine is executed, step by step; groups; the canary."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox import canary
from harness.sandbox.plan import LaunchPlan, Mount, Watched

PLAN = LaunchPlan(
    *(2, ("/bin/engine", "x"), "/folder", {"A": "1"}, 0, (Mount("proc", "/proc"),)),
    *((("/", 5),), 4, "", b"", ((7, 3, 4),), 9, Watched(1, 2, 3, 40, 5), (), (), (24, 1)),
)


class Exited(BaseException):
    """In place of the end of a process."""


class System:
    """In place of :mod:`os` in one module: what is set here, and all else as it is."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


# --- control groups, in plain folders


# --- the canary


TRIED = [
    ("reads a private file", ("open", "/secret", os.O_RDONLY)),
    ("signals the harness", ("kill", 77, 0)),
    ("reads the harness's environment", ("open", "/proc/77/environ", os.O_RDONLY)),
    ("opens a socket", ("socket",)),
    ("writes outside", ("open", "/usr", os.O_RDWR | os.O_TMPFILE)),
    ("sets the kernel's settings", ("open", "/proc/sys/kernel/core_pattern", os.O_WRONLY)),
    ("opens the terminal", ("open", "/dev/tty", os.O_RDWR)),
]


def test_the_ways_out_that_a_canary_tries(monkeypatch):
    import _socket

    done: list[tuple[object, ...]] = []
    fake: Any = System()
    fake.open = lambda *given: done.append(("open", *given))
    fake.kill = lambda *given: done.append(("kill", *given))
    monkeypatch.setattr(canary, "os", fake)
    monkeypatch.setattr(_socket, "socket", lambda *given: sockets.append(given))
    sockets: list[tuple[object, ...]] = []
    for name, attempt in canary.ATTEMPTS:
        attempt("/secret", 77)
        if sockets:
            assert sockets == [(_socket.AF_INET, _socket.SOCK_DGRAM)]
            sockets.clear()
            done.append(("socket",))
        assert (name, done.pop()) in TRIED
        assert not done
    assert [name for name, _ in canary.ATTEMPTS] == [name for name, _ in TRIED]


@pytest.mark.processes
@pytest.mark.quick
def test_a_canary_writes_to_its_egg_and_comes_back(tmp_path):
    (tmp_path / "egg").write_text("egg")
    script = Path(canary.__file__).read_text(encoding="ascii")
    words = [sys.executable, "-I", "-S", "-c", script, str(tmp_path / "egg"), "1", "1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    assert said[0] == "reads a private file"
    assert said[-1] == "done"
    assert (tmp_path / "egg").read_text() == "eggegg"
