"""An interrupt at the worst moment: just after the kernel has told what it tells only once."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from harness.core import signals
from harness.core.options import BoxLimits
from harness.core.records import CaseFile
from harness.core.signals import Terminated, block_interrupts, end_on_sigterm, ending_on_signals
from harness.engine import launch
from harness.engine.launch import PlainLauncher
from harness.running.jobs import run_all
from harness.sandbox import plan
from harness.sandbox.boxed_engines import Sandbox
from harness.specifications import EVERYONES
from tests.harness.test_grade import sandbox  # noqa: F401 - a fixture

pytestmark = pytest.mark.processes

PROGRAM = [sys.executable, "-I", "-S", "-c", "print('= 1')"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def then_sent(function, number):
    """Return a function that sends this process a signal, once, when it has its answer."""
    left = [number]

    def call_and_interrupt(*arguments):
        answer = function(*arguments)
        if left:
            os.kill(os.getpid(), left.pop())
        return answer

    return call_and_interrupt


def wait_for(engine):
    while engine.status() is None:
        time.sleep(0.001)


@pytest.mark.parametrize("number", SIGNALS)
def test_an_engine_is_collected_once(tmp_path, monkeypatch, number):
    launcher = PlainLauncher()
    engine = launcher.start(PROGRAM, str(tmp_path))
    wait_for(engine)
    monkeypatch.setattr(os, "waitpid", then_sent(os.waitpid, number))
    with ending_on_signals(), pytest.raises(KeyboardInterrupt):
        launcher.end(engine)
    assert launcher.end(engine) == []
    assert engine.status() == 0


def test_an_engine_that_was_ended_with_all_others_can_be_ended(tmp_path):
    """A reference program, which is ended when this process is, showed a traceback."""
    launcher = PlainLauncher()
    with pytest.raises(KeyboardInterrupt), launch.end_on_exit():
        engine = launcher.start(["sleep", "100"], str(tmp_path))
        raise KeyboardInterrupt
    assert engine.status() == -signal.SIGKILL
    launcher.end(engine)
    assert engine.status() == -signal.SIGKILL


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_box_is_waited_for_once(tmp_path, monkeypatch, number):
    """The box server would never have said it again, and the harness would have hung."""
    tmp_path.chmod(0o755)
    case = CaseFile(str(tmp_path / "case.gtp"), (), ())
    with closing(Sandbox("auto", BoxLimits(), (), (), EVERYONES)) as own:
        launcher = own.launcher(case)
        engine = launcher.start(PROGRAM, str(tmp_path))
        monkeypatch.setattr(plan, "unpack_report", then_sent(plan.unpack_report, number))
        with ending_on_signals(), pytest.raises(KeyboardInterrupt):
            wait_for(engine)
        assert launcher.end(engine) == []
        assert engine.status() == 0


def test_the_exit_status_is_that_of_the_last_end():
    """A program that went on after SIGTERM, as a library's user may, ended by Ctrl-C with 143."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with ending_on_signals(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        assert signals.exit_status() == 128 + number


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("threads", [0, 3])
def test_what_interrupts_comes_at_the_end(number, threads):
    """The kernel gives a signal to any thread of a process."""
    done, over = [], threading.Event()
    others = [threading.Thread(target=over.wait) for _ in range(threads)]
    for one in others:
        one.start()
    try:
        with ending_on_signals(), pytest.raises(KeyboardInterrupt), block_interrupts():
            with block_interrupts():
                os.kill(os.getpid(), number)
                time.sleep(0.01)
            done.append("all of it")
    finally:
        over.set()
        for one in others:
            one.join()
    assert done


def test_a_worker_is_interrupted_once_at_the_end_of_it(monkeypatch):
    monkeypatch.setattr(signals, "_times", [])  # a signal soon after another one is its echo
    done = []
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # put back in the end
    former = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGALRM)}
    try:
        end_on_sigterm()
        with pytest.raises(Terminated), block_interrupts():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
            done.append("all of it")
        os.kill(os.getpid(), signal.SIGTERM)  # what is done at the end is not broken off
        time.sleep(0.01)
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    assert done


def test_nothing_waits_outside():
    with ending_on_signals(), pytest.raises(Terminated):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
    with ending_on_signals(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


LOST = """\
import os, signal, time, weakref
from harness.core.signals import end_on_sigterm

end_on_sigterm()
class Connection: pass
one = Connection()
told = weakref.ref(one, lambda _: os.kill(os.getpid(), signal.SIGTERM))
ends = time.monotonic() + 20
try:
    del one
    while time.monotonic() < ends:
        time.sleep(0.01)
    print("lost")
except KeyboardInterrupt:
    print("ended")
"""


def test_a_signal_that_comes_within_a_callback_ends_a_worker_all_the_same():
    """Python only prints what a callback of a weak reference raises: the signal would be lost."""
    done = subprocess.run(
        [sys.executable, "-c", LOST],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("ended\n", "")


def test_a_signal_at_any_step_of_a_pool_ends_it_and_is_not_taken_for_a_fault():
    """Also while a worker is being hired or let go, as when a file ends just then."""
    steps, others = 0, set(launch.children())  # of tests before
    while _ended_at_step(steps):
        steps += 1
    assert steps > 30
    own = set(launch.children()) - others
    states = [Path(f"/proc/{pid}/stat").read_text() for pid in own]
    assert all(state.rpartition(")")[2].split()[0] == "Z" for state in states)


def _ended_at_step(step: int) -> bool:
    """Send a signal before one line that hires or dismisses workers; return whether it came."""
    left = [step]

    def on_line(_frame, event, _argument):
        if event == "line":
            left[0] -= 1
            if left[0] == -1:
                signal.raise_signal(signal.SIGHUP)
        return on_line

    def on_call(frame, _event, _argument):
        return on_line if frame.f_code.co_name in {"_hire", "_employ", "_dismiss"} else None

    former = sys.gettrace()
    with ending_on_signals():
        sys.settrace(on_call)
        try:
            list(run_all([1, 2, 3], lambda task, _: task, 2, lambda *_: None))
        except Terminated:
            return True
        finally:
            sys.settrace(former)
    return False
