"""A soak of the slow tier; ``python -m tests.benchmarks soak`` counts all."""

import os
import subprocess

import pytest

from tests.harness.soak import QUICK, apart, count, kinds, own_groups, soak
from tests.harness.test_sandbox_boxes import needs


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("level", [3, 2])
def test_good_and_broken_engines_four_at_a_time(level: int) -> None:
    needs(level)
    assert min(kinds(QUICK).values()) > 15
    outcome = soak(2_000, str(level), QUICK, seed=level)
    assert outcome.wrong == []
    assert outcome.after == outcome.before


@pytest.mark.processes
def test_what_is_left_is_counted() -> None:
    """A count that cannot fail would prove nothing."""
    mark = f"soak-{os.urandom(8).hex()}"
    with apart() as folder:
        before = count(mark)
        (folder / "left").mkdir()
        reading, writing = os.pipe()
        groups = [group / "gtp-harness-left" for group in own_groups()]
        for group in groups:
            group.mkdir()
        with subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE) as sleeper:
            more = count(mark)
            sleeper.kill()
            os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
            dead = count(mark)
        for descriptor in (reading, writing):
            os.close(descriptor)
        for place in (*groups, folder / "left"):
            place.rmdir()
        after = count(mark)
    counted = bool(groups)
    assert more._replace(processes=0) == before._replace(
        processes=0,
        folders=before.folders + 1,
        descriptors=before.descriptors + 3,
        groups=before.groups + len(groups),
    )
    assert more.processes == before.processes + counted
    assert dead.zombies == before.zombies + 1
    assert after == before
