"""The build step: whose fault what is, its limits, and what it can do to nobody."""

import os
import re
import stat
import subprocess
import sys

import pytest

from harness.assignments import assignment, build_steps, workspace
from harness.assignments.assignment import BuildSteps
from harness.assignments.build_steps import build
from harness.core.errors import SandboxError, UsageError
from harness.reading import shipped
from harness.sandbox import levels, untrusted_folders
from harness.work import records
from tests.harness.test_sandbox_boxes import needs

pytestmark = pytest.mark.processes

LEVELS = ("3", "2", "1")


@pytest.fixture
def stage():
    with workspace.workspace() as room:
        folder = room / "stage" / "assignment1"
        folder.mkdir(parents=True)
        (folder / "main.c").write_text("int main(void) { return 0; }\n")
        yield room / "stage"


@pytest.fixture(params=LEVELS)
def box(request):
    """A level of sandbox."""
    needs(int(request.param))
    return request.param


@pytest.fixture(params=[*LEVELS, "off"])
def sandbox(request):
    """A level of sandbox, or none."""
    if request.param != "off":
        needs(int(request.param))
    return request.param


def steps(*commands: str, **limits):
    found = assignment.find("go-scoring")
    words = tuple(("sh", "-c", command) for command in commands)
    settings = {"makes": (), "time": 20.0, "memory": 1 << 28, "output": 1 << 12} | limits
    return found._replace(build=BuildSteps(steps=words, **settings))


def test_nothing_to_build(stage):
    assert build(assignment.find("go-scoring"), stage) is None


@pytest.mark.parametrize("sandbox", ["3", "off"], indirect=True)
def test_steps_run_in_order_in_the_folder(stage, sandbox):
    built = build(steps("pwd; echo one > made", "cat made; echo two >&2"), stage, sandbox)
    assert built == (True, f"{stage}/assignment1\none\ntwo\n".replace(f"{stage}/", ""), "")


@pytest.mark.parametrize("sandbox", ["3", "off"], indirect=True)
def test_a_step_that_fails_ends_the_build(stage, sandbox):
    built = build(steps("echo it is an error; exit 3", "echo never"), stage, sandbox)
    assert built is not None
    assert (built.ok, built.output) == (False, "it is an error\n")
    assert "ended with exit status 3: it is an error" in built.message


def test_what_a_step_writes_can_be_told_whatever_it_is(stage):
    """A NUL was taken for nonsense of the worker, which was killed for it: a harness error."""
    built = build(steps(r"printf 'an error: \000\377\033\n'; exit 3"), stage)
    event = records.BuildFinished("basis", built, 1.0)
    assert records.parse(records.line(event)) == (event, None)
    assert built.output == "an error: \\x00\ufffd\033\n"


@pytest.mark.parametrize(
    ("command", "limits", "said"),
    [
        ("sleep 60", {"time": 0.5}, "did not end within 0.5 s"),
        ("while :; do echo y; done", {"time": 0.5}, "did not end within 0.5 s"),
        ("kill -9 $$", {}, "was killed by SIGKILL"),
        ("exit 0", {"makes": ("program", "*.class")}, "made no program or *.class"),
        ("ln -s /bin/sh program", {"makes": ("program",)}, "made no program"),
        ("mkfifo program || :", {"makes": ("program",)}, "made no program"),
    ],
)
def test_what_is_the_submissions_own_fault(command, limits, said, stage):
    built = build(steps(command, **limits), stage)
    assert built is not None
    assert not built.ok
    assert said in built.message
    assert len(built.output) < 1 << 13


def test_memory_is_limited(stage):
    command = "exec python3 -c 'x = b\"x\" * (1 << 29)\nimport time\ntime.sleep(9)'"
    built = build(steps(command), stage)
    assert built is not None
    assert "went over its memory limit" in built.message


def test_a_compiler_that_is_not_there_is_nobodys_fault(stage):
    found = steps()
    found = found._replace(build=found.build._replace(steps=(("no-such-compiler",),)))
    with pytest.raises(UsageError, match="no program 'no-such-compiler'"):
        build(found, stage)


def test_a_sandbox_that_fails_is_the_harnesss_fault(stage, monkeypatch):
    def raise_escape(*_):
        raise levels.EscapeError("level 3 does not hold: an engine could write")

    monkeypatch.setattr(levels, "choose", raise_escape)
    with pytest.raises(SandboxError, match="does not hold"):
        build(steps("echo never"), stage)


def test_where_no_sandbox_works_auto_does_without(stage, monkeypatch):
    def none(*_, **__):
        raise SandboxError("no sandbox works on this machine")

    monkeypatch.setattr(levels, "choose", none)
    built = build(steps("echo done"), stage)
    assert built == (True, "done\n", "")


def test_a_step_writes_into_the_folder_and_nowhere_else(stage, box):
    beside = stage / "beside"
    built = build(steps(f"echo x > {beside}; echo x > /usr/x; echo x > $TMPDIR/x"), stage, box)
    assert built is not None
    assert built.ok
    assert not beside.exists()
    assert not os.path.exists("/usr/x")


def test_a_step_sees_neither_harness_nor_cases(stage, box):
    secret = shipped.folder() / "go-scoring" / "assignment.toml"
    built = build(steps(f"cat {secret} || echo hidden"), stage, box)
    assert built is not None
    assert "hidden" in built.output
    assert "title" not in built.output


def test_what_is_left_can_be_read_and_programs_be_run(stage, sandbox):
    """Whatever it is called: at level 1 a compiler cannot make its program executable."""
    lines = ["umask 077", "mkdir d", "echo '#!/bin/sh' > d/program", "echo x > d/data"]
    lines += ["echo x > one", "ln one two"]  # what has two names may also be something else
    command = "; ".join([*lines, "chmod 644 d/program", "ln -s /etc/passwd p"])
    built = build(steps(command), stage, sandbox)
    assert built is not None
    assert built.ok, built
    folder = stage / "assignment1"
    modes = {name: stat.S_IMODE((folder / name).stat().st_mode) for name in ("d", "d/program")}
    assert modes == {"d": 0o755, "d/program": 0o755}
    assert stat.S_IMODE((folder / "d/data").stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "one").stat().st_mode) == 0o600
    assert stat.S_IMODE(os.stat("/etc/passwd").st_mode) == 0o644


# --- what a build step leaves, and takes --------------------------------------------------------

DEEP = """
import os
for _ in range(1100):  # deeper than Python calls itself
    os.mkdir("d")
    os.chdir("d")
"""
ODD = r"""
import os
for name in (b"\xff\xfe", b"new\nline", b"-rf", b" ", b"x" * 255, b"\x1b[2J"):
    os.mkdir(name)
    open(name + b"/" + name, "w").close()
    os.chmod(name, 0)
os.symlink("/", "root")
os.symlink("self", "self")
try:
    os.mkfifo("pipe")
except PermissionError:  # at level 1
    pass
"""
UNLINKED = """
import os, time
for number in range(60):
    file = os.open("hidden", os.O_CREAT | os.O_RDWR)
    os.unlink("hidden")
    os.write(file, bytes(1 << 20))
    time.sleep(0.03)
"""
MAPPED = """
import mmap, os, time
areas = []
for number in range(60):
    with open("hidden", "w+b") as file:
        file.write(bytes(1 << 20))
        areas.append(mmap.mmap(file.fileno(), 4096))
    os.unlink("hidden")
    time.sleep(0.03)
"""
SHUT = """
import os, time
os.mkdir("shut")
for number in range(60):
    with open(f"shut/{number}", "wb") as file:
        os.chmod("shut", 0o300)
        file.write(bytes(1 << 20))
    time.sleep(0.03)
os.chmod("shut", 0)
time.sleep(1)
"""
DEEP_DOWN = """
import os, time
for _ in range(40):  # 10,000 bytes: no path reaches it, and a count does
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
for number in range(60):
    open(f"{number}", "wb").write(bytes(1 << 20))
    time.sleep(0.03)
"""
ALLOCATED = """
import os, time
for number in range(60):
    file = os.open(f"{number}", os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(file, 0, 1 << 20)
    time.sleep(0.03)
"""
LIMIT = 24 << 20


@pytest.fixture
def python():
    """The command of a Python that a box can execute."""
    return (levels.interpreter(), "-I", "-S", "-c")


@pytest.mark.parametrize("sandbox", ["3", "off"], indirect=True)
def test_whatever_is_left_is_a_build_like_another(python, stage, sandbox):
    wanted = steps()
    words = ((*python, ODD + DEEP), ("sh", "-c", "echo done > made"))
    wanted = wanted._replace(build=wanted.build._replace(steps=words, makes=("made",)))
    built = build(wanted, stage, sandbox)
    assert built == (True, "", "")
    room = stage.parent
    untrusted_folders.remove(str(room))
    assert not room.exists()


WRITES = """
import time
with open("much", "wb") as file:
    for _ in range(128):
        file.write(bytes(1 << 20))
        time.sleep(0.005)
"""


@pytest.mark.parametrize("box", ["1"], indirect=True)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees what files others have mapped")
def test_what_others_write_meanwhile_is_nobodys_fault(python, stage, box, monkeypatch, tmp_path):
    """A step that has some files mapped without a name, beside a program that writes much."""
    monkeypatch.setattr(build_steps, "_DISK", LIMIT)
    words = (*python, MAPPED.replace("range(60)", "range(12)"))
    wanted = steps()
    wanted = wanted._replace(build=wanted.build._replace(steps=(words,)))
    with subprocess.Popen([sys.executable, "-c", WRITES], cwd=tmp_path) as other:
        built = build(wanted, stage, box)
        other.kill()
    assert built is not None
    assert built.ok, built


@pytest.mark.parametrize(
    ("program", "box"),
    [
        *((UNLINKED, level) for level in LEVELS),
        *((MAPPED, "2"), (SHUT, "1"), (DEEP_DOWN, "3"), (ALLOCATED, "2")),
    ],
    ids=["unlinked", "unlinked", "unlinked", "mapped", "shut", "deep", "allocated"],
    indirect=["box"],
)
def test_disk_is_limited_however_it_is_used(program, python, stage, box, monkeypatch):
    monkeypatch.setattr(build_steps, "_DISK", LIMIT)
    wanted = steps()
    wanted = wanted._replace(build=wanted.build._replace(steps=((*python, program),)))
    built = build(wanted, stage, box)
    assert built is not None
    said = re.search(r"went over its disk limit: ([\d.]+) MiB used, 24 MiB allowed", built.message)
    assert said, built
    assert float(said[1]) <= 1.25 * 24, built
