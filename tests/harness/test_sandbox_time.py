"""Processor time of children that nobody waits for: counted, or else estimated."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox.watch import Estimate, ProcessSample

FORGOTTEN = """
import os, signal, time
from harness.sandbox.watch import BoxClock
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
clock = BoxClock()
reading, writing = os.pipe()
for _ in range(10):
    if os.fork() == 0:
        os.close(reading)
        while time.process_time() < 0.04: pass
        os._exit(0)
os.close(writing)
os.read(reading, 1)  # until the last one has ended
print(clock._counter >= 0, clock.seconds())
clock.close()
"""


@pytest.mark.processes
def test_the_clock_counts_what_nobody_waits_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, check=True
    )
    counted, seconds = done.stdout.split()
    if counted == "False":
        assert os.geteuid() != 0 or "Seccomp:\t2" in Path("/proc/self/status").read_text()
        assert seconds == "None"
    else:
        assert 0.38 <= float(seconds) < 1.5


LOOK = 0.05  # seconds between looks


def estimate_lost(
    life: float, gap: float, waits: bool, seconds: float, seed: int
) -> tuple[float, float]:
    """Return what is estimated to be lost, and what is, for one child after the other."""
    rng, lost_time = random.Random(seed), Estimate()
    begun, spent, waited, number, lost = -rng.random() * (life + gap), 0.0, 0.0, 100, 0.0
    now = 0.0
    while now < seconds:
        pause = LOOK * rng.uniform(0.8, 1.2)
        now += pause
        while begun + life < now:
            spent += life
            waited += life if waits else 0.0
            begun += life + gap
            number += 1
        seen = {1: ProcessSample(0.0, int(waited * 100) / 100, 0.0)}
        if begun <= now:
            seen[number] = ProcessSample(int((now - begun) * 100) / 100, 0.0, 1.0)
        lost = lost_time.look(seen, pause)
    return lost, spent


@pytest.mark.parametrize("life", [0.002, 0.008, 0.04, 0.1, 0.7, 3.0])
@pytest.mark.parametrize("gap", [0.001, 0.03])
def test_what_is_lost_is_estimated(life: float, gap: float) -> None:
    pairs = [estimate_lost(life, gap, False, 30, seed) for seed in range(8)]
    lost, spent = (sum(part) for part in zip(*pairs, strict=True))
    assert spent / 1.25 < lost < spent * 1.25


@pytest.mark.parametrize("life", [0.002, 0.008, 0.04, 0.1, 0.7])
def test_what_is_waited_for_is_not_lost(life: float) -> None:
    for seed in range(8):
        lost, spent = estimate_lost(life, 0.001, True, 60, seed)
        assert lost < 0.1 * spent, (lost, spent)


def test_a_parent_takes_what_it_waited_for_along() -> None:
    """It ends with its own time and that of its children; its parent then has it all."""
    estimate = Estimate()
    estimate.look({1: ProcessSample(0, 0, 0), 2: ProcessSample(0.5, 2.0, 0)}, LOOK)
    assert estimate.look({1: ProcessSample(0, 2.5, 0)}, LOOK) == 0
    estimate.look({1: ProcessSample(0, 2.5, 0), 3: ProcessSample(0.5, 2.0, 0)}, LOOK)
    assert estimate.look({1: ProcessSample(0, 2.5, 0)}, LOOK) == 2.5


def test_a_loss_step_by_step() -> None:
    """A child is seen twice for 0.5 s in all, and gone; its parent has waited for 0.2 s of it."""
    lost = Estimate()
    assert lost.look({1: ProcessSample(0.0, 0.0, 0.0)}, 1.0) == 0.0
    both = {1: ProcessSample(0.0, 0.0, 0.0), 2: ProcessSample(0.1, 0.05, 1.0)}
    assert lost.look(both, 0.25) == 0.0
    assert lost.look(both, 0.25) == 0.0
    assert lost.look({1: ProcessSample(0.0, 0.2, 0.0)}, 0.25) == pytest.approx(0.35)
    assert lost.look({1: ProcessSample(0.0, 0.9, 0.0)}, 0.25) == 0.0
    longer = {2: ProcessSample(3.0, 0.0, 1.0)}
    fresh = Estimate()
    fresh.look(longer, 0.25)
    assert fresh.look({}, 0.25) == pytest.approx(3.0)
