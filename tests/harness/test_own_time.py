"""Time limits are about the engine: not about a busy machine, nor about one that stood still."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.core.errors import EngineError, EngineIdleError, SandboxError, StarvedError
from harness.core.options import BoxLimits, Limits
from harness.core.processes import descendants
from harness.core.records import CaseFile, FailureKind
from harness.engine import engine_clock
from harness.engine.engine_clock import EngineClock, Thread, Use
from harness.engine.engine_session import EngineSession
from harness.engine.launch import PlainLauncher
from harness.engine.process import EngineProcess
from harness.sandbox import levels
from harness.sandbox.boxed_engines import Sandbox
from harness.specifications import EVERYONES
from tests.harness.busy import busy

ENGINES = Path(__file__).parent.parent / "engines"
LIMIT = 1.0
LIMITS = Limits(timeout=LIMIT, startup=20, quit=2)
BUSY = 2  # processes for each core: whoever computes has half of one
SHARE = 20  # a core is this many times slower at the worst: others have work as well
ROWS = [  # what an engine does, whether it is in time, seconds after which the latest is known
    ("burn 0.85", True, 0),
    ("sleep 60", False, LIMIT),
    ("spin 0", False, LIMIT * SHARE),
]


def ask_engine(
    how: str, launcher, limits: Limits = LIMITS, patience: float = 0.0
) -> tuple[float, EngineError | None]:
    """Ask an engine; return the seconds of its answer as they count, or how it broke."""
    words = [levels.interpreter(), str(ENGINES / "takes_time.py"), *how.split()]
    process = EngineProcess(launcher, words, str(ENGINES), limits)
    session, replies = EngineSession(process, limits, patience=patience), []
    try:
        session.ask([b"name\n"], replies)
        session.ask([b"fault\n"], replies)
    except EngineError as error:
        return 0.0, error
    finally:
        session.close()
    return replies[-1].seconds, None


@contextlib.contextmanager
def launcher(sandbox: str, folder: Path = ENGINES):
    """Give what starts engines of a folder, or skip where there is no such sandbox."""
    if sandbox == "off":
        yield PlainLauncher()
        return
    try:
        box = Sandbox(sandbox, BoxLimits(cpu=60), (), (), EVERYONES)
    except SandboxError as error:
        pytest.skip(str(error))
    with contextlib.closing(box):
        yield box.launcher(CaseFile("a.gtp", (), ()), [str(folder)])


@pytest.mark.long(5)
@pytest.mark.processes
@pytest.mark.parametrize(
    "sandbox", ["3", *(pytest.param(one, marks=pytest.mark.slow) for one in ("2", "1", "off"))]
)
def test_on_a_busy_machine_only_engines_that_are_late_by_their_own_time_are_late(sandbox):
    """They are asked at the same time: each keeps the others from the processor, too."""
    computing = sum(not how.startswith("sleep") for how, *_ in ROWS)
    with contextlib.ExitStack() as meanwhile:
        launchers = [meanwhile.enter_context(launcher(sandbox)) for _ in ROWS]
        meanwhile.enter_context(busy(BUSY * os.cpu_count() - computing))
        pool = meanwhile.enter_context(ThreadPoolExecutor(len(ROWS)))
        asking = [pool.submit(find_fault, *row) for row in zip(ROWS, launchers, strict=True)]
    assert [one.result() for one in asking] == [""] * len(ROWS)


def find_fault(row: tuple[str, bool, float], starts) -> str:
    """Return what is wrong with the judgement on a row's engine, or ""."""
    how, in_time, seconds = row
    begun = time.monotonic()
    took, broken = ask_engine(how, starts)
    elapsed = time.monotonic() - begun
    if in_time:
        # What it waited between two looks at it may be in it; most of its waiting is not.
        right = broken is None and took < 1.5 * LIMIT
    else:
        late = "did not answer 'fault' within 1 s"
        right = broken is not None and broken.kind is FailureKind.TIMEOUT
        right = right and late in broken.message and elapsed < 30 + seconds
    return "" if right else f"{how}: took {took:.2f} s of {elapsed:.2f}, {broken}"


@pytest.mark.processes
@pytest.mark.parametrize(
    ("how", "broken"),
    [
        ("sleep 0.1", None),
        ("sleep 60", EngineIdleError),
        ("burn 0.6", None),  # longer than the short limit: it is waited for
        ("spin 0", EngineError),
    ],
)
def test_by_a_short_limit_only_an_engine_that_sleeps_may_be_left(how, broken):
    _, error = ask_engine(how, PlainLauncher(), patience=0.3)
    assert (type(error) if error else None) is broken
    assert error is None or "did not answer 'fault' within 1 s" in error.message


# --- standing still

SCRIPT = """\
import sys
from harness.engine.launch import PlainLauncher
from tests.harness.test_own_time import ask_engine
print("begin", flush=True)
seconds, broken = ask_engine(sys.argv[1], PlainLauncher())
print(broken.message if broken else f"in time: {seconds:.2f}", flush=True)
"""


@pytest.mark.processes
@pytest.mark.parametrize(
    ("how", "who", "seconds", "expected"),
    [
        pytest.param("burn 0.8", "harness", 2.0, "in time", marks=pytest.mark.long(2)),
        ("sleep 0.8", "both", 2.0, "in time"),
        ("burn 0.8", "engine", 0.6, "in time"),
        ("sleep 60", "both", 2.0, "did not answer"),
    ],
)
def test_time_in_which_all_stood_still_counts_for_nobody(how, who, seconds, expected):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, how],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as harness:
        engine = engine_of(harness)
        stopped = {"harness": [harness.pid], "engine": [engine], "both": [harness.pid, engine]}
        for pid in stopped[who]:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        for pid in reversed(stopped[who]):
            os.kill(pid, signal.SIGCONT)
        assert expected in harness.communicate(timeout=60)[0]


def engine_of(harness: subprocess.Popen[str]) -> int:
    """Wait until the harness has started its engine; return the engine's process id."""
    assert harness.stdout
    assert harness.stdout.readline() == "begin\n"
    ends = time.monotonic() + 60
    while not (found := [pid for pid in descendants(harness.pid) if is_engine(pid)]):
        assert time.monotonic() < ends
        time.sleep(0.01)
    time.sleep(0.3)  # until it is at its answer, on a machine that is not busy
    return found[0]


def is_engine(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"takes_time" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


@pytest.mark.processes
def test_an_engine_that_stops_itself_hangs():
    words = [sys.executable, str(ENGINES / "stops_itself.py")]
    process = EngineProcess(PlainLauncher(), words, str(ENGINES), LIMITS)
    session, replies = EngineSession(process, LIMITS), []
    try:
        session.ask([b"name\n"], replies)
        begun = time.monotonic()
        with pytest.raises(EngineError, match="did not answer 'fault' within 1 s"):
            session.ask([b"fault\n"], replies)
    finally:
        session.close()
    assert time.monotonic() - begun < 20


ANSWERS = """
import os, pathlib, sys
os.write(2, b"a note")
os.write(1, b"= answer\\n\\n")
pathlib.Path("answered").touch()
sys.stdin.readline()
"""


@pytest.mark.processes
def test_what_was_answered_in_time_counts_though_nobody_looked_until_later(tmp_path):
    """Also of an engine that writes to standard error: it was said to hang."""
    process = EngineProcess(
        PlainLauncher(), [sys.executable, "-c", ANSWERS], str(tmp_path), LIMITS
    )
    try:
        ends = time.monotonic() + 60
        while not (tmp_path / "answered").exists():
            assert time.monotonic() < ends
            time.sleep(0.01)
        assert process.read(process.clock.now() - 0.01) == b"= answer\n\n"
        process.write(b"\n", process.clock.now() + 60)
        while not process.output.stirs():
            assert time.monotonic() < ends
            time.sleep(0.01)
        with pytest.raises(EngineError, match="ended with exit status 0"):
            process.read(process.clock.now() - 0.01)
    finally:
        process.finish(0)


# --- the figures

S, R, T = "S", "R", "T"


def thread(ran, waited, state=""):
    return Thread(ran, waited, 0, state, 0.0, 0.0)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({}, {}, Use(0, 0, False)),
        ({}, {1: thread(0.2, 0.7)}, Use(0.2, 0.7, False)),
        ({1: thread(5, 5)}, {1: thread(5.2, 5.7)}, Use(0.2, 0.7, False)),
        ({1: thread(5, 5)}, {1: thread(5.5, 5.25), 2: thread(0, 0.5)}, Use(0.5, 0.5, False)),
        ({1: thread(5, 5)}, {1: thread(5, 9)}, Use(0, 4, False)),  # from before the first look on
        ({1: thread(5, 5), 2: thread(9, 9)}, {1: thread(5, 5, T)}, Use(0, 0, True)),
        ({1: thread(5, 5)}, {1: thread(5, 5, T), 2: thread(0.5, 0)}, Use(0.5, 0, False)),
    ],
)
def test_what_an_engine_did_between_two_looks(before, after, expected):
    assert engine_clock.use(before, after, 1.0) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("seconds", "ran", "waited", "still", "counted"),
    [
        (1.0, 1.0, 0.0, 0.0, 1.0),
        (1.0, 0.0, 0.0, 0.0, 1.0),  # it slept
        (1.0, 0.2, 0.8, 0.0, 0.2),
        (3.0, 0.0, 0.0, 2.5, 0.5),  # it slept, and all stood still meanwhile
        (3.0, 0.1, 0.4, 2.5, 0.1),  # all stood still, then it waited for its turn
        (3.0, 2.0, 0.0, 2.5, 0.5),  # the harness alone stood still
    ],
)
def test_what_of_the_time_between_two_looks_counts(seconds, ran, waited, still, counted):
    one = EngineClock(lambda: [os.getpid()])
    one._unseen_until, one._cores = 0.0, 2
    before = one._lost
    one._count(Use(ran, waited, stopped=False), seconds, still)
    assert seconds - (one._lost - before) == pytest.approx(counted)


@pytest.mark.parametrize(
    ("pace", "ran", "counted"),
    [
        (1.0, 0.8, 1.0),
        (2.0, 0.8, 0.6),  # 0.4 s of the reference machine, and 0.2 s of sleep
        (2.0, 0.0, 1.0),  # it slept, which takes as long everywhere
        (0.5, 0.8, 1.8),
    ],
)
@pytest.mark.parametrize("beside", [1.0, 2.0])
def test_what_is_computed_counts_in_seconds_of_the_reference_machine(pace, ran, counted, beside):
    one = EngineClock(lambda: [os.getpid()])
    one._unseen_until, one._cores, one.pace, one.beside = 0.0, 2, pace, beside
    before = one._lost
    one._count(Use(ran, 0.0, stopped=False), 1.0, 0.0)
    assert 1.0 - (one._lost - before) == pytest.approx(counted)
    assert one.computed == pytest.approx(ran / pace)
    assert one._forgiven == pytest.approx(ran / pace * (1 - 1 / beside))


@pytest.fixture
def wait_for_look(monkeypatch):
    """Return what looks at a thread again some seconds later, and returns how long it waited."""
    files = {"schedstat": b"1000000000 500000000 7", "stat": b"1 (a b) R 1 2"}
    monkeypatch.setattr(engine_clock, "_read", lambda path: files[path.rpartition("/")[2]])
    monkeypatch.setattr(os, "listdir", lambda _: ["1"])
    seen, now = {}, [100.0]
    monkeypatch.setattr(engine_clock, "monotonic", lambda: now[0])

    def look(seconds, **changed):
        nonlocal seen
        files.update({name: value.encode() for name, value in changed.items()})
        now[0] += seconds
        seen = engine_clock.look([1], seen)
        return pytest.approx(seen[1].waited)

    return look


def test_a_thread_that_waits_still_is_told_from_one_that_sleeps(wait_for_look):
    """The kernel adds the time in the queue when it is over; nothing may count twice."""
    assert wait_for_look(1) == 0.5
    assert wait_for_look(1) == 1.5  # ready all along, and not yet running
    assert wait_for_look(2) == 3.5
    assert wait_for_look(1, schedstat="1100000000 4000000000 8") == 4.0
    assert wait_for_look(1, stat="1 (a b) S 1 2") == 4.0
    assert wait_for_look(1) == 4.0
    assert wait_for_look(1, stat="1 (a b) R 1 2") == 5.0
    assert wait_for_look(1, schedstat="1200000000 4100000000 9") == 5.0


def test_a_thread_that_is_moved_to_another_queue_has_not_waited_twice(wait_for_look):
    """The kernel tells of its waiting then, though it had no turn; it goes on waiting."""
    assert wait_for_look(1) == 0.5
    assert wait_for_look(1) == 1.5
    assert wait_for_look(1, schedstat="1000000000 2300000000 7") == 2.5  # told at 2.3
    assert wait_for_look(1) == 3.5
    assert wait_for_look(1, schedstat="1000000000 4400000000 7") == 4.5  # and once more
    assert wait_for_look(1, schedstat="1100000000 5200000000 8") == 5.2  # its turn
    assert wait_for_look(1) == 6.2


@pytest.mark.long(6)
@pytest.mark.processes
def test_what_computes_beside_others_has_more_time_and_what_sleeps_has_not():
    for how, broken in (("burn 1.4", False), ("sleep 1.4", True), ("spin 0", True)):
        words = [sys.executable, str(ENGINES / "takes_time.py"), *how.split()]
        process = EngineProcess(PlainLauncher(), words, str(ENGINES), LIMITS)
        process.clock.beside = 2.0
        session, replies = EngineSession(process, LIMITS), []
        try:
            with pytest.raises(EngineError) if broken else contextlib.nullcontext():
                session.ask([b"name\n", b"fault\n"], replies)
        finally:
            session.close()
        if not broken:
            assert replies[1].seconds > 1.3  # as it was


@pytest.mark.quick
@pytest.mark.parametrize(
    ("told", "ours"),
    [
        (b"2000000000 500000000 7\n", (2.0, 0.5)),
        (b"1 0 1\n", (1e-9, 0.0)),
        (b"0 5 1\n", None),  # this kernel keeps no figures
        (b"5 5\n", None),
        (None, None),
    ],
)
def test_how_long_we_ran_is_read_where_the_kernel_tells_it(told, ours, monkeypatch):
    def read(path: str) -> bytes:
        assert path == "/proc/thread-self/schedstat"
        if told is None:
            raise FileNotFoundError(path)
        return told

    monkeypatch.setattr(engine_clock, "_read", read)
    assert engine_clock._ours() == (pytest.approx(ours) if ours else None)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("left", "wall", "over"),
    [
        (1.0, 9.9, False),
        (1.0, 10.0, None),
        (1.0, 11.0, None),
        (0.0, 1.0, True),
        (-1.0, 11.0, True),
    ],
)
def test_a_deadline_that_does_not_come_is_the_machine_s_fault(left, wall, over, monkeypatch):
    """``wall``: seconds since the wait began, of ten at most."""
    one = EngineClock(list)
    one.wait_until(5.0)
    monkeypatch.setattr(one, "_count_left", lambda: left)
    monkeypatch.setattr(one, "look", lambda: None)
    monkeypatch.setattr(engine_clock, "monotonic", lambda: 1000.0 + wall)
    one._began, one._ends = 1000.0, 1010.0
    if over is None:
        with pytest.raises(StarvedError) as told:
            one.is_over()
        assert str(told.value) == (
            f"the machine is too busy: an engine had not used up its time limit after {wall:.0f} s"
        )
    else:
        assert one.is_over() is over


@pytest.mark.processes
def test_a_machine_that_is_too_busy_to_tell_is_nobodys_fault(monkeypatch):
    monkeypatch.setattr(engine_clock, "_AT_LEAST", 0.5)
    monkeypatch.setattr(engine_clock, "_MOST", 0)
    monkeypatch.setattr(
        engine_clock, "use", lambda _before, _after, seconds: Use(0, seconds, False)
    )
    with pytest.raises(StarvedError, match=re.escape("the machine is too busy: an engine")):
        ask_engine("sleep 60", PlainLauncher())


def test_without_figures_all_time_counts(monkeypatch):
    monkeypatch.setattr(engine_clock, "_ours", lambda: None)
    one = EngineClock(lambda: [os.getpid()])
    one.wait_until(one.now() + 0.05)
    time.sleep(0.06)
    assert one.is_over()
    for told in (one.own, one.now):
        before = time.monotonic()
        assert before <= told() <= time.monotonic()


def test_processes_that_cannot_be_seen_are_not_waited_for(monkeypatch):
    monkeypatch.setattr(engine_clock, "_UNSEEN", 0.05)
    one = EngineClock(list)
    one.wait_until(one.now() + 0.2)
    ends = time.monotonic() + 10
    while not one.is_over():
        assert time.monotonic() < ends
        time.sleep(0.02)
        one.look_if_due()
