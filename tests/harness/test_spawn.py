"""How a program is started: what it is given, and what of ours it must not have."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.engine import spawn as spawning
from harness.engine.spawn import spawn

pytestmark = pytest.mark.processes

# Prints what a program can see of how it was started.
TELLS = """
import json, os, signal
own = os.getpid()
ignored = [int(n) for n in signal.valid_signals() if signal.getsignal(n) == signal.SIG_IGN]
print(json.dumps({
    "folder": os.getcwd(),
    "leads": os.getsid(0) == own,
    "open": sorted(set(map(int, os.listdir("/proc/self/fd"))) - {3}),
    "blocked": [int(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
    "ignored": ignored,
}), flush=True)
input()
"""
# Of Python's own: it ignores these as it starts.
PYTHONS = {signal.SIGPIPE, signal.SIGXFSZ}


def read_child_facts(folder: Path) -> dict[str, object]:
    started = spawn(sys.executable, [sys.executable, "-c", TELLS], str(folder))
    try:
        assert started.stdout
        found: dict[str, object] = json.loads(started.stdout.readline())
        return found
    finally:
        for stream in (started.stdin, started.stdout, started.stderr):
            stream.close()
        os.waitpid(started.pid, 0)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_program_starts_in_its_folder_with_nothing_of_ours(tmp_path, monkeypatch, at_once):
    if not at_once:  # as with C libraries that cannot
        monkeypatch.setattr(spawning, "_closes_at_once", lambda: False)
    here = os.getcwd()
    ours = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(ours, True)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        found = read_child_facts(tmp_path)
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == {signal.SIGUSR1}
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
        signal.signal(signal.SIGHUP, before)
        os.close(ours)
    assert os.getcwd() == here
    assert set(found.pop("ignored")) <= PYTHONS  # type: ignore[call-overload]
    assert found == {"folder": str(tmp_path), "leads": True, "open": [0, 1, 2], "blocked": []}


def test_a_program_has_the_variables_that_we_have_now(monkeypatch):
    monkeypatch.setenv("OF_THIS_TEST", "é\n=")
    monkeypatch.delenv("HOME", raising=False)
    started = spawn("/usr/bin/env", ["env", "-0"], "/")
    with started.stdin, started.stderr:
        assert started.stdout
        with started.stdout as output:
            found = output.readall()
    os.waitpid(started.pid, 0)
    # The C library may know more of them: readline(3), which pytest loads, sets COLUMNS.
    assert set(found.split(b"\0")) >= set(map(b"=".join, os.environb.items()))
    assert b"HOME=" not in found


@pytest.mark.parametrize("closed", [(0,), (1,), (0, 1), (0, 1, 2)])
def test_its_streams_are_its_own_where_ours_are_closed(closed):
    """Then the pipes themselves get the numbers of standard streams."""
    code = (
        "import os, sys; from harness.engine.spawn import spawn;"
        f" report = os.dup(2); [os.close(one) for one in {closed}];"
        " one = spawn('/bin/sh', ['sh', '-c', 'read x; echo \"$x\"; echo no >&2'], '/');"
        " one.stdin.write(b'yes\\n');"
        " os.write(report, one.stdout.readline() + one.stderr.readline()); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=True)
    assert done.stderr == b"yes\nno\n"


@pytest.mark.parametrize(("path", "folder"), [("/nowhere/engine", "/"), ("/bin/sh", "/nowhere")])
def test_what_cannot_be_started_leaves_nothing_open(path, folder):
    here, before = os.getcwd(), os.listdir("/proc/self/fd")
    with pytest.raises(FileNotFoundError):
        spawn(path, [path], folder)
    assert (os.getcwd(), os.listdir("/proc/self/fd")) == (here, before)
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


# Sends itself SIGINT at one line after the other of spawn.py; then it must be where it was.
INTERRUPTED = """
import os, signal, sys
from harness.engine import spawn
here = os.getcwd()
at = 0
while True:
    at, seen = at + 1, 0
    def step(frame, event, _):
        global seen
        if frame.f_code.co_filename != spawn.__file__:
            return None
        seen += event == "line"
        if event == "line" and seen == at:
            os.kill(os.getpid(), signal.SIGINT)
        return step
    sys.settrace(step)
    try:
        one = spawn.spawn("/bin/true", ["true"], "/")
    except KeyboardInterrupt:
        pass
    sys.settrace(None)
    os.closerange(3, 100)
    if seen < at:
        break
    assert os.getcwd() == here, at
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()), at
print(at)
"""


def test_ctrl_c_at_any_line_leaves_the_folder_and_the_signals_as_they_were():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_threads_start_programs_in_folders_of_their_own(tmp_path):
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(len(folders)) as pool:
        found = list(pool.map(lambda folder: read_child_facts(folder)["folder"], folders * 2))
    assert found == list(map(str, folders * 2))
