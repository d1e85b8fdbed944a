"""Drawn system calls, for a moment; ``python -m tests.benchmarks syscalls`` takes ten minutes."""

import pytest

from tests.harness.syscall_fuzzer import fuzz
from tests.harness.test_sandbox_boxes import LEVELS, needs

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("level", LEVELS)
def test_no_drawn_call_gets_out(level: int) -> None:
    needs(level)
    outcome = fuzz(level, 1.6, seed=level)
    assert outcome.escapes == ()
    assert outcome.drawn > 300, "they did not live to tell"
