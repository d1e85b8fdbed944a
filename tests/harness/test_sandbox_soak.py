"""A short soak; ``python -m tests.benchmarks soak`` takes the full number."""

import pytest

from tests.harness.soak import QUICK, kinds, soak
from tests.harness.test_sandbox_boxes import needs


@pytest.mark.parametrize("level", [3, 2])
def test_good_and_broken_engines_four_at_a_time(level: int) -> None:
    needs(level)
    assert min(kinds(QUICK).values()) > 15
    outcome = soak(100, str(level), QUICK, seed=level)
    assert outcome.wrong == []
    # Others may make groups and folders meanwhile; of ours nothing stays.
    assert outcome.after[:4] == outcome.before[:4]
