"""On which processors the harness and an engine are, and may be."""

import os
import sys
from pathlib import Path

import pytest

from harness.engine.launch import PlainLauncher
from harness.engine.process import EngineProcess
from harness.options import Limits
from harness.processes import move_to, processor_of

pytestmark = pytest.mark.processes

ENGINES = Path(__file__).parents[1] / "engines"


@pytest.mark.parametrize("processor", sorted(os.sched_getaffinity(0)))
def test_who_moves_may_go_anywhere_again(processor):
    before = os.sched_getaffinity(0)
    move_to(processor)
    assert os.sched_getaffinity(0) == before
    assert processor_of(os.getpid()) in before


def test_who_may_be_on_one_processor_alone_stays_there():
    before = os.sched_getaffinity(0)
    own = min(before)
    os.sched_setaffinity(0, {own})
    try:
        move_to(own + 1)
        assert os.sched_getaffinity(0) == {own}
        assert processor_of(os.getpid()) == own
    finally:
        os.sched_setaffinity(0, before)


def test_an_engine_beside_which_the_harness_sits_may_go_anywhere():
    words = [sys.executable, str(ENGINES / "in_order.py")]
    process = EngineProcess(PlainLauncher(), words, str(ENGINES), Limits())
    (engine,) = process._process.processes()
    try:
        process.sit_beside()
        assert os.sched_getaffinity(engine) == os.sched_getaffinity(0)
    finally:
        process.finish(0.0)
    process.sit_beside()  # an engine that has ended is nowhere
