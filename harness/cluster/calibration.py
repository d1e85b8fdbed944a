"""Measure how fast this machine computes, compared with the reference machine.

The reference is fixed: a machine that takes :data:`REFERENCE` for the work below. It is neither
the grading machine nor the first worker. So no limit depends on which worker joined first, or on
how busy a machine was when it was measured.
"""

from __future__ import annotations

import hashlib
import time

REFERENCE = 0.09  # seconds that the reference machine takes for a round
_ROUNDS = 7  # the quickest counts: the others were disturbed
_WORK = 1_000_000  # steps of a round


def pace() -> float:
    """Return how many seconds this machine computes for what the reference does in one.

    Nothing should compute beside it.
    """
    return round(min(_round() for _ in range(_ROUNDS)) / REFERENCE, 4)


def _round() -> float:
    """Return the seconds of CPU time of one round: as engines are, most of it is Python."""
    begun = time.process_time()
    found, state = 0, hashlib.sha256()
    for number in range(_WORK):
        found = (found * 31 + number) & 0xFFFFFFFF
        if not number % 64:
            state.update(found.to_bytes(4))
    return time.process_time() - begun
