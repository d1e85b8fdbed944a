"""Calls behind an adapter and build steps have time of their own, too.

They are not late because of a busy machine, a stop signal or a clock that jumps. What hangs is.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import adapters
from harness.adapters import ADAPTERS
from harness.adapters.inside import calling
from harness.adapters.inside.adapter_protocol import AdapterBoard, TimeOut
from harness.adapters.inside.calling import TimeLeft, count_seconds
from harness.adapters.inside.java_go import Methods
from harness.assignments import workspace
from harness.core.options import Limits
from harness.core.processes import descendants
from harness.engine.engine_session import EngineSession
from harness.engine.process import EngineProcess
from harness.sandbox import levels
from tests.harness.busy import a_cpu, busy, jumping_clock
from tests.harness.test_building import sandbox, stage, steps  # noqa: F401 - fixtures
from tests.harness.test_own_time import launcher

ROOT = Path(__file__).parents[2]
OTHERS = 3  # programs on the same processor: each of four has a quarter of it
# A call of Java may take eight times its limit by the clock.
MANY_OTHERS = 14

# --- the arithmetic -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "used", "expected"),
    [
        (0.2, 0.0, 0.2),  # it sleeps
        (0.2, 0.0009, 0.2),  # or wakes up now and then
        (0.2, 0.05, 0.05),  # it computes a quarter of the time, and waits the rest
        (0.2, 0.005, 0.02),  # a tenth counts always
        (0.2, 0.5, 0.2),  # with several threads
        (9.0, 0.0, 0.5),  # we stood still
        (9.0, 9.0, 0.5),
    ],
)
def test_what_counts_of_the_time_between_two_looks(seconds, used, expected):
    assert count_seconds(seconds, used, 0.5) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.0, 1.0), (1.0, 1.0), (0.5, 2.0), (0.2, 5.0), (0.021, 10.0)],
)
def test_the_limit_by_the_clock_for_one_that_has_a_share_of_a_processor(
    monkeypatch, share, expected
):
    now, own = [50.0], [0.3]
    monkeypatch.setattr(calling.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(calling.time, "clock_gettime", lambda _: own[0])
    one = TimeLeft(1, 1.0)
    while left := one.left():
        now[0] += left
        own[0] += left * share
    assert now[0] - 50 == pytest.approx(expected, rel=0.05)


# --- calls of a program -------------------------------------------------------------------------

CALLER = """\
import os, pathlib, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from inside import calling
cpu, seconds, what = sys.argv[1:]
calling.PATIENCE = float(seconds)
for line in sys.stdin:
    if line == "call\\n":
        os.sched_setaffinity(0, [int(cpu)])
        words = [sys.executable, "-I", "-S", "-c", "import time\\n" + what]
        called = calling.call(words, pathlib.Path("."), 1)
        print("=", called.trouble or called.output.strip(), end="\\n\\n", flush=True)
    else:
        print("= ", end="\\n\\n", flush=True)
"""
BURN = "while time.process_time() < 0.3: pass\nprint('done')"
SLEEP = "time.sleep(60)"


@pytest.fixture(scope="module")
def caller():
    """A program that calls another one as an adapter does."""
    with workspace.workspace() as room:
        shutil.copytree(Path(adapters.__file__).parent / "inside", room / "inside")
        (room / "caller.py").write_text(CALLER)
        yield room / "caller.py"


@pytest.mark.processes
@pytest.mark.parametrize(
    "level",
    [
        "3",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("2", "1", "off")),
    ],
)
def test_a_call_on_a_busy_machine_is_not_late(level, caller):
    limits = Limits(timeout=30, startup=30)
    words = [levels.interpreter(), str(caller), str(a_cpu()), "0.8", BURN]
    with (
        launcher(level, caller.parent) as starts,
        contextlib.closing(
            EngineSession(EngineProcess(starts, words, "/", limits), limits)
        ) as session,
    ):
        replies = []
        session.ask([b"name\n"], replies)
        with busy(OTHERS, a_cpu()):
            session.ask([b"call\n"], replies)
    assert replies[-1].text == "done"


def call(caller, what, environment=None):
    """Begin a call by a program of our own; return that."""
    words = [sys.executable, str(caller), str(a_cpu()), "0.8", what]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    program = subprocess.Popen(words, env=environment, **pipes)
    program.stdin.write("call\n")
    program.stdin.flush()
    return program


@pytest.mark.processes
@pytest.mark.parametrize(("what", "expected"), [(BURN, "done"), (SLEEP, "did not end")])
def test_a_call_is_not_late_because_all_stood_still(what, expected, caller):
    with call(caller, what) as program:
        stand_still(program.pid)
        assert expected in program.communicate(timeout=60)[0]


def stand_still(pid):
    """Stop a program and the one that it calls for longer than the limits of these tests."""
    ends = time.monotonic() + 60
    while not (found := descendants(pid)):
        assert time.monotonic() < ends
    everybody = [pid, *found]
    for each in everybody:
        os.kill(each, signal.SIGSTOP)
    time.sleep(1.5)
    for each in reversed(everybody):
        os.kill(each, signal.SIGCONT)


# --- methods and games in Java ------------------------------------------------------------------

SETTINGS = {key: field.default for key, field in ADAPTERS["java-go"].items()}
SETTINGS |= {"classes": "classes", "seconds": 0.25, "axes": "x is the column"}
JAVA = """
import java.lang.management.*;
public class Go {
    static void compute(double seconds) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        while (threads.getCurrentThreadCpuTime() < seconds * 1e9) {}
    }
    public static boolean isCaptured(int[][] board, int x, int y) throws Exception {
        if (x == 1) compute(0.2);
        if (x == 2) Thread.sleep(60000);
        if (x == 3) compute(60);
        return true;
    }
    public static int score(int[][] board, int color) { return 7; }
    public static boolean isLegal(int[][] board, int x, int y, int color) { return true; }
    public static void main(String[] arguments) throws Exception {
        System.in.read();
        Thread.sleep(60000);
    }
}
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory, java):
    """A folder with a class that computes or sleeps, and what asks it."""
    folder = tmp_path_factory.mktemp("classes")
    (folder / "Go.java").write_text(JAVA)
    shim = Path(adapters.__file__).parent / "inside" / "Shim.java"
    words = ["javac", "-J-XX:TieredStopAtLevel=1", "-d", folder / "classes", folder / "Go.java"]
    subprocess.run([*words, shim], check=True)
    return folder


@pytest.fixture(scope="module")
def methods(classes):
    """The methods, asked once already: the first call takes the time of loading."""
    with contextlib.closing(Methods(SETTINGS, classes)) as found:
        assert ask(found, 1) == "true"
        yield found


def ask(methods, how):
    return methods.ask("isCaptured", AdapterBoard(2, 2, {}), how, 0)


@pytest.mark.long(9)
def test_a_method_on_a_busy_machine_is_not_late(methods):
    pid = methods._java.pid
    allowed = os.sched_getaffinity(0)
    with busy(MANY_OTHERS, a_cpu()):
        pin(pid, {a_cpu()})
        try:
            begun = time.monotonic()
            assert ask(methods, 1) == "true"
            assert time.monotonic() - begun > 8 * SETTINGS["seconds"]  # else this shows nothing
        finally:
            pin(pid, allowed)


def pin(pid, cpus):
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):  # it may have ended
            os.sched_setaffinity(int(thread), cpus)


def test_a_method_is_not_late_because_all_stood_still(methods):
    ask(methods, 0)
    pid = methods._java.pid
    with stopped_after(pid, 0.1, 2.5):
        assert ask(methods, 1) == "true"


@contextlib.contextmanager
def stopped_after(pid, first, seconds):
    """Let a shell stop a process for some seconds, while something is waited for."""
    script = f"sleep {first}; kill -STOP {pid}; sleep {seconds}; kill -CONT {pid}"
    with subprocess.Popen(["sh", "-c", script]):
        yield


@pytest.mark.parametrize("how", [2, 3])
def test_a_method_that_sleeps_or_computes_for_ever_is_late(how, methods):
    with pytest.raises(TimeOut, match=r"did not return within 0\.25 s"):
        ask(methods, how)


# --- a clock that jumps -------------------------------------------------------------------------


def test_a_clock_that_jumps_is_not_heeded_in_calls(caller, tmp_path, cc):
    jumping = jumping_clock(tmp_path, cc)
    for what, expected in ((BURN, "done"), (SLEEP, "did not end")):
        with call(caller, what, jumping) as program:
            assert expected in program.communicate(timeout=30)[0]


ENGINE = str(ROOT / "tests" / "engines" / "takes_time.py")


@pytest.mark.parametrize(("how", "status"), [("burn 0.3", 0), ("sleep 60", 2)])
def test_a_clock_that_jumps_is_not_heeded_by_the_harness(how, status, tmp_path, cc):
    (tmp_path / "one.gtp").write_text("10 fault\n")
    words = ["run", "--timeout", "1", f"{sys.executable} {ENGINE} {how}", "one.gtp"]
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        env=jumping_clock(tmp_path, cc) | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert (status == 0) is ("did not answer" not in done.stdout + done.stderr)


# --- build steps --------------------------------------------------------------------------------


def step(what):
    """Return an assignment with one build step, which may take 0.6 s."""
    wanted = steps(time=0.6)
    program = f"import os, time\nos.sched_setaffinity(0, [{a_cpu()}])\n{what}"
    words = (levels.interpreter(), "-I", "-S", "-c", program)
    return wanted._replace(build=wanted.build._replace(steps=(words,)))


BUILDER = """\
import pathlib, sys
from harness.assignments import assignment, build_steps
steps = (tuple(sys.argv[2:]),)
limits = assignment.BuildSteps(steps, (), time=0.6, memory=1 << 28, output=99)
wanted = assignment.find("go-scoring")._replace(build=limits)
print(build_steps.build(wanted, pathlib.Path(sys.argv[1]), "off"))
"""


@pytest.mark.processes
def test_a_build_step_is_not_late_because_all_stood_still(stage):  # noqa: F811
    words = [sys.executable, "-c", BUILDER, stage, *step(BURN).build.steps[0]]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as builder:
        stand_still(builder.pid)
        assert "ok=True" in builder.communicate(timeout=60)[0]
