"""What else a machine computes while an engine is waited for, and what that makes of its time."""

from __future__ import annotations

from math import nan

import pytest

from harness.engine import engine_clock
from harness.engine.engine_clock import EngineClock, MachineLoad


@pytest.mark.parametrize(
    ("busy", "shares", "expected"),
    [
        (2.0, False, 1.0),  # the engine, and nothing else
        (2.2, False, 1.0),  # and a little of the harness
        (3.5, False, 1.2),
        (3.5, True, 2.0),  # another half of its core may be at work
        (2.0, True, 1.0),
        (nan, False, 1.2),  # the system does not tell
        (0.0, False, 1.2),  # or not the truth
    ],
)
def test_beside_others_an_engine_may_take_longer(busy, shares, expected, monkeypatch):
    """``busy``: seconds in which all processors were, while the engine computed for two."""
    now, told = [0.0], [7.0]
    monkeypatch.setattr(engine_clock, "monotonic", lambda: now[0])
    monkeypatch.setattr(engine_clock, "busy_seconds", lambda: told[0])
    monkeypatch.setattr(engine_clock, "_shares_cores", lambda: shares)
    beside = MachineLoad(2.0)
    assert beside.slowdown(0.0) == (2.0 if shares else 1.2)  # nothing is known yet
    now[0], told[0] = 2.0, 7.0 + busy
    assert beside.slowdown(2.0) == expected


def test_nobody_who_is_run_alone_gets_longer(monkeypatch):
    monkeypatch.setattr(engine_clock, "_shares_cores", lambda: True)
    assert MachineLoad(1.0).slowdown(0.0) == 1.0


def test_what_was_computed_so_far_counts_by_that_too(monkeypatch):
    monkeypatch.setattr(engine_clock, "_shares_cores", lambda: False)
    clock = EngineClock(list)
    clock.beside = 2.0
    clock.computed, clock._forgiven = 3.0, 1.5  # beside others
    clock.watch_machine()
    assert clock.counted == pytest.approx(3.0 / 1.2)
