"""The box server's decisions about one engine, without an engine: the words of a box, times."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


# --- when to look, and how long to wait


# --- processes


@pytest.mark.processes
def test_little_is_loaded_by_a_server_that_every_command_starts():
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import harness.sandbox.server;"
        " print(*{'json', 're', 'enum', 'socket', 'signal', 'typing'} & set(sys.modules))"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"\n"


ENDING = """
import os, signal, time
from harness.sandbox import server
pids = []
for _ in range(3):
    pids.append(os.fork())
    if not pids[-1]:
        time.sleep(60)
        os._exit(0)
begun = time.monotonic()
server._wait_for(pids[0], 0.05)
assert time.monotonic() - begun >= 0.05
os.kill(pids[0], signal.SIGKILL)
server._wait_for(pids[0], 60)
assert time.monotonic() - begun < 30
server.end_children(lambda pid: pids if pid == os.getpid() else [])
assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)
server.end_children()
"""


@pytest.mark.processes
def test_children_are_ended_and_reaped():
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
