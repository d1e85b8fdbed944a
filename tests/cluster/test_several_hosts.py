"""A class graded on several hosts while they are killed, stopped, cut off, slowed and filled."""

import json
import re
import subprocess
import sys
from typing import NamedTuple

import pytest

from tests.cluster import invariants, lab
from tests.cluster.disturbances import DISTURBANCES
from tests.cluster.invariants import Written
from tests.cluster.lab import ROOT, WORKERS
from tests.harness.test_sandbox_boxes import needs

SEED = 18


class Size(NamedTuple):
    """How large a trial is."""

    students: int  # with eight case files each
    seconds: float  # that a disturbance lasts
    wait: float  # seconds before each answer
    least: int  # disturbances


# The short one takes about a minute, which is not enough for all kinds. They come in turn.
SHORT, LONG = Size(10, 5, 0.5, 5), Size(250, 20, 0.1, 40)
_RARE = 2  # the least of a kind in a long one
_PATIENCE = 7200  # seconds; on a busy machine


def ran(module, *words):
    """Return what a module that makes a lab says of it."""
    if reason := lab.why_not():
        pytest.skip(reason)
    command = lab.inside(sys.executable, "-m", module, *map(str, words))
    found = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, timeout=_PATIENCE, check=True
    )
    return json.loads(found.stdout)


@pytest.mark.processes
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(SHORT, marks=[pytest.mark.long(90), pytest.mark.slow]),
        pytest.param(LONG, marks=[pytest.mark.long(900), pytest.mark.slow]),
    ],
    ids=["short", "long"],
)
def test_whatever_happens_to_hosts_each_attempt_has_one_result(size):
    needs(3)
    report = ran("tests.cluster.several_hosts", size.students, size.seconds, size.wait, SEED)
    told = json.dumps(report, indent=1)
    print(told)  # pytest -rP shows the figures of a trial that held
    assert report["wrong"] == [], told
    assert report["attempts"] == 8 * size.students, told
    assert len(report["on"]) > 1, told
    counts = [report["disturbances"].get(kind.name, 0) for kind in DISTURBANCES]
    assert sum(counts) >= size.least, told
    assert min(counts) >= (0 if size is SHORT else _RARE), told
    assert report["at once"] > 1, told
    # Else that no attempt was run by a worker without its level would say nothing.
    assert report["weak workers seen"], told


# --- the invariants tell when something is wrong ---

ROW = Written(
    "a",
    1,
    place=1,
    token="lease",
    held="lease",
    last=True,
    machine="worker1",
    sandbox="level 3: all",
    result="{}",
)
FIRST = ROW._replace(last=False)
SECOND = ROW._replace(number=2, place=2)
OTHER = ROW._replace(basis="b", place=2, token="next", held="next")


def find_broken_rules(*rows, wanted=("a",), state="done", faults=(), deaths=0):
    states, counts = dict.fromkeys(wanted, state), dict(faults)
    return invariants.find_violations(states, rows, WORKERS, "level 3", counts, deaths)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ((), "without a result"),
        ((ROW, ROW), r"the numbers \[1, 1\]"),
        ((SECOND,), r"the numbers \[2\]"),
        ((FIRST, SECOND, ROW._replace(number=3)), r"the numbers \[1, 2, 3\]"),
        ((ROW, SECOND), "after the last one"),
        ((ROW._replace(token=""),), "without a lease"),
        ((ROW._replace(held="next"),), "without the lease"),
        ((ROW, OTHER, ROW._replace(basis="c", place=3)), "the lease lease: a result after"),
        ((ROW, ROW._replace(basis="b")), "nobody wants"),
        ((ROW._replace(machine="weak-worker1"),), "run on 'weak-worker1'"),
        ((ROW._replace(sandbox="level 2: less"),), "run in 'level 2: less' on worker1"),
    ],
)
def test_a_record_that_does_not_hold(rows, what):
    assert find_broken_rules(ROW) == []
    assert [told for told in find_broken_rules(*rows) if re.search(what, told)]
