"""An engine that somebody else kills, such as a machine that is short of memory, costs no mark."""

import contextlib
import os
import signal
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

from harness.assignments import assignment
from harness.core.processes import descendants
from harness.grading import grade
from harness.grading.attempts.attempt_plan import GradeOptions
from tests.harness import small_class
from tests.harness.small_class import Student
from tests.tiers import long_if

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_workers")]
RIGHT = "time.sleep(0.5); return 2 * n"
SUICIDE = "os.kill(os.getpid(), 9)"


def grade_one(place, body, level):
    """Return the marks of a class of one."""
    room = small_class.make(place, (Student("Ada Right", body, 7),))
    (room / "graded").mkdir()
    options = GradeOptions(
        assignment.find(str(room / "counting")), room / "submissions", room / "graded",
        sandbox=level, images=False, jobs=1, go_on=True,
    )  # fmt: skip
    (marks,) = [one.marks for one in grade.grade(options).graded if one.attempts]
    return marks


def is_engine(pid):
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"python3" in words[0] and words[-2].endswith(b"/engine.py")


def kill_once(over):
    """Kill the first engine below this process; return whether there was one."""
    while not over.wait(0.02):
        for pid in filter(is_engine, descendants(os.getpid())):
            time.sleep(0.3)  # by then it computes an answer
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
    return False


@pytest.mark.parametrize("level", ["3", *(long_if(True, level) for level in "21"), "off"])
def test_it_is_run_again(level, open_place):
    over, was_killed = threading.Event(), []
    killer = threading.Thread(target=lambda: was_killed.append(kill_once(over)))
    killer.start()
    try:
        marks = grade_one(open_place, RIGHT, level)
    finally:
        over.set()
        killer.join()
    assert was_killed == [True]
    assert (marks.total, marks.note) == (Fraction(7), "")


def test_one_that_kills_itself_fails_each_time(open_place):
    marks = grade_one(open_place, SUICIDE, "3")
    assert (marks.total, marks.withheld) == (Fraction(0), False)
