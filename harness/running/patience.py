"""How long engines are waited for once several of a submission hung, and what becomes of them.

An engine that does not answer within a short limit then is left alone, asleep, and the file goes
on with another one. At its end all that were left are waited for together. So they hang side by
side, for their full limit each; one that does anything meanwhile may not have hung at all, and
makes the whole run worth nothing: it is *late*.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from harness.engine.clock import LOOK
from harness.engine.session import Session

HANGS = 3  # with the full limit, before it gets short
PART = 10  # the short limit is this part of the full one
LEAST = 1.0  # seconds


class Patience:
    """What is known of the hangs of a submission; ``late``: of the file run last."""

    def __init__(self) -> None:
        self.hangs = 0
        self.late = False

    def begin_file(self) -> None:
        """Let another case file begin."""
        self.late = False

    def seconds(self, limit: float) -> float:
        """Return the short limit of a command that has ``limit`` seconds; 0: there is none."""
        short = max(LEAST, limit / PART)
        return short if self.hangs >= HANGS and short < limit else 0.0


def do_anything(left: Sequence[Session]) -> bool:
    """Wait for engines that were left until their limits are over, for all at the same time.

    Returns at once when one of them writes something or ends; False: each of them hung.

    Raises:
        StarvedError: the machine is too busy to tell.
    """
    waiting = list(left)
    for session in waiting:
        session.wait_on()
    while waiting:
        if any(session.stirs() for session in waiting):
            return True
        begun = time.monotonic()
        time.sleep(LOOK)
        slept = min(time.monotonic() - begun, LOOK + 0.001)
        waiting = [session for session in waiting if not session.is_over(slept)]
    return any(session.stirs() for session in left)
