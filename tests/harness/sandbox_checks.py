"""What must hold of a box at every level, for root and for an ordinary user.

Plain functions without pytest, because each is run twice: by the test suite's own user, and by
another one. ``python -m tests.harness.sandbox_checks LEVEL [NAME…]`` runs these, or all, each in a
process of its own that has loaded everything. A check that fails raises.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import SandboxError
from harness.core.options import MIB, BoxLimits
from harness.sandbox import cgroup, levels, view
from harness.sandbox.launcher import Boxed, BoxLauncher
from harness.sandbox.plan import BoxEnd
from harness.sandbox.redteam import referee
from harness.sandbox.redteam.attack_table import PYTHON, ROSTER, Attack

LIMITS = BoxLimits()
PATIENCE = 30.0  # seconds; finds a hang, not a busy machine


class Result(NamedTuple):
    """What a program in a box did."""

    end: BoxEnd
    out: str
    err: str


def start(launcher: BoxLauncher, code: str, *arguments: str, folder: str = "/") -> Boxed:
    words = [levels.interpreter(), "-I", "-S", "-c", code, *arguments]
    return launcher.start(view.of_program(words[:1], folder, hidden=view.own_folders()), words)


def finish(box: Boxed) -> Result:
    box.stdin.close()
    end = box.wait(PATIENCE)
    assert end is not None, "it did not end"
    out, err = (stream.readall().decode() for stream in (box.stdout, box.stderr))
    box.close()
    return Result(end, out, err)


def python(launcher: BoxLauncher, code: str, *arguments: str, folder: str = "/") -> Result:
    return finish(start(launcher, code, *arguments, folder=folder))


@contextmanager
def launcher_at(level: int, limits: BoxLimits = LIMITS) -> Iterator[BoxLauncher]:
    with closing(BoxLauncher(level, limits)) as launcher:
        yield launcher


def gone(mark: str) -> bool:
    """Whether all processes with ``mark`` among their arguments are gone; waits a little."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not running(mark):
            return True
        time.sleep(0.02)
    return False


def fresh_mark() -> str:
    """Return a word by which the processes of one check are known among those of others."""
    return f"mark-{os.urandom(8).hex()}"


def running(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


# --- what an engine finds

SURROUNDINGS = """
import os, json, signal
status = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "environment": dict(os.environ), "folder": os.getcwd(), "user": os.getuid(),
    "groups": os.getgroups(), "session": os.getsid(0) == os.getpid() or os.getpid() < 4,
    "open": [int(n) for n in os.listdir("/proc/self/fd")], "core": status["CoreDumping"].strip(),
    "capabilities": [int(status["Cap" + kind], 16) for kind in ("Eff", "Prm", "Inh", "Amb")],
    "blocked": int(status["SigBlk"], 16), "umask": int(status["Umask"], 8),
}))
"""


def surroundings(level: int) -> None:
    """Nothing of the harness's environment, descriptors, rights or signal handling gets in."""
    os.environ["GTP_HARNESS_SECRET"] = "secret"
    with launcher_at(level) as launcher:
        end, out, err = python(launcher, SURROUNDINGS, folder="/usr")
    assert not err, err
    found = json.loads(out)
    names = {"PATH", "HOME", "LANG", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}
    names |= {"TMPDIR"} if level == 1 else set()
    assert set(found["environment"]) - {"PWD", "LC_CTYPE"} == names
    assert found["environment"]["OPENBLAS_NUM_THREADS"] == "1"
    assert found["folder"] == "/usr"
    assert found["user"] != 0
    assert sorted(found["open"]) == [0, 1, 2, 3], found  # the last is the one that lists them
    assert found["capabilities"] == [0, 0, 0, 0]
    assert found["blocked"] == 0
    assert found["umask"] == 0o022
    assert found["groups"] == [] or os.getuid()  # those of an ordinary user stay
    assert found["session"]
    assert end.status == 0


def writable_places(level: int) -> None:
    """Home and working directory can be written, and at levels 3 and 2 shared memory."""
    code = """
import os, sys
places = {name: name for name in ("/tmp", "/dev/shm", "/", "/usr", "/dev", "/etc", "/proc")}
for name, place in {".": ".", "home": os.environ["HOME"], **places}.items():
    try:
        open(os.path.join(place, "new"), "w").close()
        print(name)
    except OSError:
        pass
"""
    with tempfile.TemporaryDirectory() as folder, launcher_at(level) as launcher:
        os.chmod(folder, 0o755)
        _, out, _ = python(launcher, code, folder=folder)
        assert os.listdir(folder) == []
    assert out.split() == [".", "home", *(["/tmp", "/dev/shm"] if level > 1 else [])]


OWN_COPY = """
import os, shutil, sys
def tried(action, *arguments):
    try:
        return action(*arguments)
    except OSError as error:
        return type(error).__name__
os.chdir(os.path.dirname(os.path.abspath(__file__)))
assert not os.path.exists("gtp_log"), "left by the engine before"
open("gtp_log", "w").write("begun")
open("data", "a").write(" and more")
open("deep/er/new", "w").write("new")
os.makedirs("__pycache__", exist_ok=True)
open("__pycache__/engine.pyc", "w").write("compiled")
os.rename("deep", "renamed")
os.symlink("data", "link")
os.unlink("old")
assert open("link").read() == "data and more"
assert os.access("program", os.X_OK) and not os.access("data", os.X_OK)
assert os.stat("program").st_mtime == 1000000000
assert open("../beside/course").read() == "the course's"
print(tried(open, "../beside/course", "a"), tried(open, "outside"), os.path.exists("a.gtp"))
"""


def a_copy_of_its_own(level: int) -> None:
    """An engine may change its folder as it likes; the next one finds it as it was."""
    with tempfile.TemporaryDirectory() as name, launcher_at(level) as launcher:
        stage = Path(name)
        stage.chmod(0o755)
        place = stage / "submission"
        (place / "deep" / "er").mkdir(parents=True)
        (stage / "beside").mkdir()
        texts = {"engine.py": OWN_COPY, "data": "data", "old": "", "a.gtp": "expected"}
        for file, text in texts.items():
            (place / file).write_text(text)
        (place / "program").write_text("#!/bin/sh\n")
        (place / "program").chmod(0o755)
        os.utime(place / "program", (10**9, 10**9))
        (place / "outside").symlink_to(stage / "secret")
        (stage / "secret").write_text("secret")
        (stage / "beside" / "course").write_text("the course's")
        before = _tree(stage)
        words = [levels.interpreter(), "-I", "-S", str(place / "engine.py")]
        beside, hidden = [str(stage / "beside")], [str(place / "a.gtp")]
        seen = view.of_program(words, str(place), beside, hidden, str(place))
        for _ in range(2):
            end, out, err = finish(launcher.start(seen, words))
            assert end.status == 0, err
            refused, missing, case = out.split()
            assert refused in ("OSError", "PermissionError")
            assert missing in ("FileNotFoundError", "PermissionError")
            assert case == "False"
            assert _tree(stage) == before


def _tree(folder: Path) -> dict[str, tuple[object, ...]]:
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, _content(path))
        for path in folder.rglob("*")
    }


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""


FILLS = """
import os, time
os.chdir(os.path.dirname(os.path.abspath(__file__)))
for number in range(40):
    try:
        open(str(number), "wb").write(bytes(1 << 20))
    except OSError:
        break
    time.sleep(0.01)
print(number)
time.sleep(20)
"""


def its_own_files_take_no_room(level: int) -> None:
    """A submission as large as the limit may write as much as any; and no more."""
    limits = MEAGRE._replace(file_size=6 * MIB, processes=1, threads=1)  # its own files are larger
    with tempfile.TemporaryDirectory() as name, launcher_at(level, limits) as launcher:
        os.chmod(name, 0o755)
        place = Path(name, "submission")
        place.mkdir()
        for number in range(2):
            (place / f"large{number}").write_bytes(bytes(7 * MIB))
        code = "import os, time; assert os.path.getsize('large0') == os.path.getsize('large1') > 0"
        code += "\nopen('half', 'wb').write(bytes(6 << 20)); time.sleep(0.3)"
        (place / "fair.py").write_text(code)
        (place / "fills.py").write_text(FILLS)
        for script, hit in (("fair.py", None), ("fills.py", "disk")):
            words = [levels.interpreter(), "-I", "-S", script]
            seen = view.of_program(words, str(place), submission=str(place))
            result = finish(launcher.start(seen, words))
            if hit:
                _assert_hit(result, hit)
            else:
                assert result.end.hit is None, result
                assert result.end.status == 0, result


# --- how it ends

ENDINGS: dict[str, int] = {
    "pass": 0,
    "sys.exit(1)": 1,
    "sys.exit(3)": 3,
    "sys.exit(126)": 126,
    "os._exit(127)": 127,
    "os.kill(os.getpid(), 9)": -9,
    "os.kill(os.getpid(), 15)": -15,
    "os.kill(os.getpid(), 11)": -11,
    "os.abort()": -6,
}


def endings(level: int) -> None:
    """Exit status and signal are the engine's own; no way to end is taken for a failed sandbox."""
    with launcher_at(level) as launcher:
        for code, status in ENDINGS.items():
            end, _, err = python(launcher, f"import os, sys; {code}")
            assert end.status == status, (code, end, err)
            assert end.hit is None
            assert end.unstarted == ""


def no_such_program(level: int) -> None:
    """A file that is no program is told from one that fails (bubblewrap cannot: see README)."""
    with tempfile.TemporaryDirectory() as folder, launcher_at(level) as launcher:
        os.chmod(folder, 0o755)
        program = Path(folder, "engine")
        program.write_text("this is neither a binary nor a script\n")
        program.chmod(0o755)
        seen = view.of_program([str(program)], "/")
        end, _, _ = finish(launcher.start(seen, [str(program)]))
    assert end.unstarted or (level == 3 and end.status), end


def ends_by_force(level: int) -> None:
    """What ignores everything, has stopped, or writes without end is gone at once."""
    codes = (
        "import signal, time\nfor n in range(1, 65):\n try: signal.signal(n, signal.SIG_IGN)\n"
        " except (OSError, ValueError): pass\nprint(flush=True); time.sleep(60)",
        "import os, signal\nprint(flush=True)\nos.kill(os.getpid(), signal.SIGSTOP)",
        "while True: print('x' * 1000)",
        "import os\nprint(flush=True)\nos.fork() or os.setsid(); os.fork()\nwhile True: pass",
    )
    mark = fresh_mark()
    with launcher_at(level) as launcher:
        for code in codes:
            box = start(launcher, code, mark)
            assert box.stdout.read(1)
            before = time.monotonic()
            end = box.close()
            assert end.status is None
            assert time.monotonic() - before < PATIENCE
            assert not running(mark), code


def leaves_nothing(level: int, count: int = 30) -> None:
    """Engines of all kinds, started and ended, leave no descriptor, process, mount or folder."""
    kinds = (
        "pass",
        "import os; os.fork() or os.fork() or os.setsid()",
        "import os, time; os.fork(); time.sleep(60)",
        "import os; os.kill(os.getpid(), 11)",
        "import os; os.access('/tmp', os.W_OK) and open('/tmp/x', 'w').write('x')",
    )
    mark = fresh_mark()
    with launcher_at(level) as launcher:
        python(launcher, "pass")
        before = _inventory()
        for number in range(count):
            box = start(launcher, kinds[number % len(kinds)], mark)
            if number % 2:
                box.wait(0.03)
            with suppress(SandboxError):  # a busy machine had not made it yet
                box.close()
        assert _inventory() == before
        assert not running(mark)
        server = launcher._server.pid
        assert _open_descriptors(server) < 12
        groups = _own_groups(server)
    assert not Path(f"/proc/{server}").exists()
    assert not [group for group in groups if group.exists()]


def _inventory() -> tuple[object, ...]:
    mounts = Path("/proc/self/mountinfo").read_text().count("\n")
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return _open_descriptors(os.getpid()), mounts, children


def _open_descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def _own_groups(server: int) -> list[Path]:
    """Return the folders of the control groups that a server has made for itself."""
    lines = Path(f"/proc/{server}/cgroup").read_text().splitlines()
    own = [line.split(":", 2) for line in lines if "gtp-harness-" in line]
    return [Path("/sys/fs/cgroup", controller + path) for _, controller, path in own]


ORPHAN = """
import sys
from tests.harness.sandbox_checks import *
with launcher_at(int(sys.argv[1])) as launcher:
    box = start(launcher, "print(flush=True); import time; time.sleep(60)", sys.argv[2])
    box.stdout.read(1)
    print("started", flush=True)
    sys.stdin.read()
"""


def dies_with_the_harness(level: int) -> None:
    """When the harness is killed, its engines go too."""
    mark = fresh_mark()
    words = [sys.executable, "-c", ORPHAN, str(level), mark]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline() == b"started\n"
        assert running(mark)
        harness.kill()
    assert gone(mark)


def dies_with_the_server(level: int) -> None:
    """When the box server is killed, its engine goes too, whatever it ignores."""
    mark = fresh_mark()
    code = "import os, signal, time; os.fork(); print(flush=True); time.sleep(60)"
    with launcher_at(level) as launcher:
        box = start(launcher, code, mark)
        box.stdout.read(1)
        os.kill(launcher._server.pid, signal.SIGKILL)
        assert gone(mark)


def outlives_the_thread_that_started_it(level: int) -> None:
    """ "Die with parent" is about threads: one that starts an engine and ends must not end it."""
    with launcher_at(level) as launcher:
        started: list[Boxed] = []
        code = "import sys; print(flush=True); sys.stdin.read(); print('alive')"
        thread = threading.Thread(target=lambda: started.append(start(launcher, code)))
        thread.start()
        thread.join()
        time.sleep(0.1)
        end, out, _ = finish(started[0])
    assert end.status == 0
    assert out == "\nalive\n"


# --- limits

HUNGRY = {
    "time": "while True: pass",
    "memory": "block = [bytearray(b'x') * (8 << 20) for _ in range(100)]",
    "processes": """
import os, time
for _ in range(60):
    try:
        if not os.fork():
            time.sleep(20)
            os._exit(0)
    except OSError:
        pass
time.sleep(20)
""",
    "disk": """
import os, time
for number in range(8):
    try:
        open(f"{os.environ['HOME']}/{number}", "wb").write(bytes(4 << 20))
    except OSError:
        time.sleep(20)
""",
}
# Too much, and the end before anybody can have looked.
DISK_AT_THE_END = """
import os
for number in range(4):
    with open(f"{os.environ['HOME']}/{number}", "wb", 0) as file:
        file.write(bytes(4 << 20))
"""
SHARED_MEMORY_OUT_OF_SIGHT = """
import mmap, time
areas = []
for _ in range(50):
    areas.append(mmap.mmap(-1, 16 << 20))
    areas[-1].write(bytes(16 << 20))
    areas[-1].madvise(mmap.MADV_DONTNEED)
    time.sleep(0.01)
"""
MEMORY_OF_MANY = """
import os, time
for _ in range(8):
    if not os.fork():
        block = bytearray(b"x") * (40 << 20)
        time.sleep(20)
time.sleep(20)
"""
THE_SAME_MEMORY_IN_MANY = """
import os, time
block = bytearray(b"x") * (60 << 20)
for _ in range(9):
    if not os.fork():
        time.sleep(0.5)
        os._exit(0)
time.sleep(0.6)
"""
MEAGRE = BoxLimits(
    memory=200 * MIB, cpu=1, processes=20, threads=60, scratch=12 * MIB, file_size=8 * MIB
)


def hits(level: int) -> None:
    """Each limit is a verdict of its own, with the figure."""
    with launcher_at(level, MEAGRE) as launcher:
        for limit, code in HUNGRY.items():
            _assert_hit(python(launcher, code), limit)
        if level == 1:  # elsewhere the file system refuses more
            _assert_hit(python(launcher, DISK_AT_THE_END), "disk")


def hits_without_control_groups(level: int) -> None:
    """Where control groups are not ours, the tree is watched: memory, shared memory too."""
    cgroup.usable_parents, former = list, cgroup.usable_parents
    try:
        with launcher_at(level, MEAGRE) as launcher:
            for code in (HUNGRY["memory"], MEMORY_OF_MANY, SHARED_MEMORY_OUT_OF_SIGHT):
                _assert_hit(python(launcher, code), "memory")
            fair = python(launcher, THE_SAME_MEMORY_IN_MANY)
            assert fair.end.hit is None, fair
    finally:
        cgroup.usable_parents = former


LOCKS = """
import fcntl, os, sqlite3
os.chdir(os.environ["HOME"])
with open("mine", "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.lockf(file, fcntl.LOCK_EX)
with sqlite3.connect("data") as data:
    data.execute("CREATE TABLE t (n)")
    data.execute("INSERT INTO t VALUES (7)")
print(sqlite3.connect("data").execute("SELECT n FROM t").fetchone()[0])
"""


def locks_succeed(level: int) -> None:
    """They hold nobody, but a program that takes one for its own files goes on."""
    with launcher_at(level) as launcher:
        done = python(launcher, LOCKS)
        assert (done.out, done.err) == ("7\n", ""), done


SHARES_A_PAGE = """
import mmap, time
page = mmap.mmap(-1, 4096)
page[:1] = b"x"
print("ready", flush=True)
time.sleep(1)
"""


def is_not_ended_for_what_others_share(level: int) -> None:
    """The machine's shared memory grows by more than the limit: that is not the engine's."""
    cgroup.usable_parents, former = list, cgroup.usable_parents
    try:
        with launcher_at(level, MEAGRE) as launcher, closing(mmap.mmap(-1, 300 * MIB)) as others:
            box = start(launcher, SHARES_A_PAGE)
            assert box.stdout.read(5) == b"ready"
            others.write(bytes(300 * MIB))
            end = finish(box).end
            assert (end.hit, end.status) == (None, 0), end
    finally:
        cgroup.usable_parents = former


def holds_memory_without_control_groups(level: int) -> None:
    """However an engine holds memory, it gets at most a quarter more than it is allowed."""
    if os.getuid():
        return  # an ordinary user has none: the red team has shown it already
    cgroup.usable_parents, former = list, cgroup.usable_parents
    try:
        counted = tuple(one for one in ROSTER if one.source == "holding" and _is_counted(one))
        assert len(counted) >= 15
        played = referee.play_at_once((level,), counted)
        # With so many, on a busy machine, the count comes late: those play once more.
        again = tuple(finding.attack for finding in played if finding.escapes)
        for finding in referee.play_at_once((level,), again):
            assert finding.escapes == (), finding
    finally:
        cgroup.usable_parents = former


def _is_counted(attack: Attack) -> bool:
    return attack.layer[3] != "seccomp"


def _assert_hit(result: Result, limit: str) -> None:
    assert result.end.hit is not None, (limit, result)
    assert result.end.hit.name == limit, (limit, result)
    used, allowed = result.end.hit.used, result.end.hit.allowed
    assert used is not None
    assert allowed <= used < 8 * allowed


def a_large_file(level: int) -> None:
    """The signal for too large a file is a limit as well."""
    code = """
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open(os.environ["HOME"] + "/large", "wb") as file:
    for _ in range(100):
        file.write(bytes(1 << 20))
"""
    with launcher_at(level, MEAGRE) as launcher:
        end = python(launcher, code).end
    assert str(end.hit) == "disk limit: 8 MiB used, 8 MiB allowed"


def scratch_in_two_folders(level: int) -> None:
    """Home and working directory, each within the limit, are over it together."""
    code = """
import os, time
for place in (".", os.environ["HOME"]):
    with open(os.path.join(place, "half"), "wb") as file:
        file.write(bytes(7 << 20))
time.sleep(20)
"""
    with tempfile.TemporaryDirectory() as folder, launcher_at(level, MEAGRE) as launcher:
        os.chmod(folder, 0o755)
        end = python(launcher, code, folder=folder).end
    # Looked at while the second file is being written, it may be less than both.
    assert end.hit is not None
    told = re.fullmatch(r"disk limit: ([\d.]+) MiB used, 12 MiB allowed", str(end.hit))
    assert told, end.hit
    assert 12 < float(told[1]) <= 14.1, end.hit


FORKING = """
import os
print("begun", flush=True)
input()
for _ in range(5):
    if not os.fork():
        os._exit(0)
    os.wait()
print("fine")
"""


def others_do_not_count(level: int) -> None:
    """What the user runs beside leaves an engine its share: RLIMIT_NPROC would count it.

    A browser that is opened while a class is graded has some hundred threads.
    """
    with launcher_at(level, BoxLimits(processes=16, threads=32)) as launcher, _threads(150):
        box = start(launcher, FORKING)
        assert box.stdout.readline() == b"begun\n"
        with _threads(100):
            box.stdin.write(b"\n")
            assert finish(box).out == "fine\n"


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Have so many threads that wait."""
    over = threading.Event()
    waiting = [threading.Thread(target=over.wait) for _ in range(count)]
    for one in waiting:
        one.start()
    try:
        yield
    finally:
        over.set()
        for one in waiting:
            one.join()


BUILD = """
import os, sys
open("main.o", "w").write("compiled")
os.makedirs("deep/er")
for place in (sys.argv[1], sys.argv[2]):
    try:
        open(os.path.join(place, "stray"), "w")
    except OSError:
        pass
"""
BUILD_TOO_MUCH = """
import time
for number in range(30):
    open(f"{number}.o", "wb").write(bytes(1 << 20))
time.sleep(20)
"""


def a_build_step(level: int) -> None:
    """What is built lasts, in the folder for it and nowhere else, and up to the limit."""
    with tempfile.TemporaryDirectory() as name, launcher_at(level, MEAGRE) as launcher:
        folder = Path(name)
        folder.chmod(0o755)
        for inner in ("build", "beside"):
            (folder / inner).mkdir(mode=0o755)
        launcher.give(folder / "build")
        build = str(folder / "build")
        words = [levels.interpreter(), "-I", "-S", "-c"]
        seen = view.of_program(words[:1], build)._replace(writable=(build,))
        paths = (str(folder / "beside"), str(folder))
        end, _, err = finish(launcher.start(seen, [*words, BUILD, *paths]))
        assert end.status == 0, err
        found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        assert found == ["beside", "build", "build/deep", "build/deep/er", "build/main.o"]
        _assert_hit(finish(launcher.start(seen, [*words, BUILD_TOO_MUCH])), "disk")


def signals_on_an_older_kernel(level: int) -> None:
    """Where Landlock has no scopes yet, level 1 keeps signals in by the filter."""
    names = {"signal_harness", "signal_everybody", "daemonise", "run_away", "fork_bomb"}
    attacks = tuple(attack for attack in ROSTER if attack.program in names)
    if level == 1:
        with launcher_at(level, referee.LIMITS) as launcher:
            launcher._landlock = 3
            for finding in referee.play(launcher, attacks):
                assert finding.escapes == (), finding


OURS = ("namespace", "mounts", "tmpfs", "mask")


def what_level_2_makes_itself_holds(level: int) -> None:
    """Its namespaces and mounts are our own work; all else is as at the other levels.

    So is what an attack is written in.
    """
    if level == 2:
        attacks = tuple(
            attack
            for attack in ROSTER
            if any(word in attack.layer[2] for word in OURS)
            and attack.source in PYTHON
            and not attack.receiver
        )
        assert len(attacks) > 50
        for finding in referee.play_at_once((level,), attacks):
            assert finding.escapes == (), finding


CHECKS: dict[str, Callable[[int], None]] = {
    check.__name__: check
    for check in (
        surroundings,
        writable_places,
        a_copy_of_its_own,
        its_own_files_take_no_room,
        endings,
        no_such_program,
        ends_by_force,
        leaves_nothing,
        dies_with_the_harness,
        dies_with_the_server,
        outlives_the_thread_that_started_it,
        hits,
        hits_without_control_groups,
        locks_succeed,
        is_not_ended_for_what_others_share,
        holds_memory_without_control_groups,
        a_large_file,
        scratch_in_two_folders,
        a_build_step,
        others_do_not_count,
        signals_on_an_older_kernel,
        what_level_2_makes_itself_holds,
    )
}


def failing(level: int, names: list[str]) -> list[str]:
    """Run checks, each in a process of its own; return the names of those that fail."""
    found = []
    for name in names or CHECKS:
        child = os.fork()
        if not child:
            CHECKS[name](level)
            sys.exit()  # and if it raises, by that, with its traceback
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            found.append(name)
    return found


if __name__ == "__main__":
    wrong = failing(int(sys.argv[1]), sys.argv[2:])
    sys.exit(f"failed: {', '.join(wrong)}" if wrong else None)
