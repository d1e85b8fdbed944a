"""The wait for engines once several of a submission hung, and what happens to them.

An engine that does not answer within a short limit then is left alone, asleep, and the file goes
on with another one. At its end all that were left are waited for together. So they hang side by
side, for their full limit each; one that does anything meanwhile may not have hung at all, and
makes the whole run worth nothing: it is *late*.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from harness.engine.engine_clock import LOOK
from harness.engine.engine_session import EngineSession

HANGS = 3  # with the full limit, before it gets short
PART = 10  # the short limit is this part of the full one
LEAST = 1.0  # seconds


class Hangs:
    """How often each of some submissions has hung, known to all processes that grade them.

    To be made before they are forked. Two that count at the same moment may count one: then one
    more hang has the full limit.
    """

    def __init__(self, count: int) -> None:
        import mmap

        self._counts = mmap.mmap(-1, max(1, count))  # a byte each, shared with forked processes

    def of(self, place: int) -> int:
        """Return how often a submission has hung, up to 255 times."""
        return self._counts[place]

    def add(self, place: int) -> None:
        """Count one more hang."""
        self._counts[place] = min(self._counts[place] + 1, 255)


class HangPolicy:
    """The known hangs of a submission; ``late``: those of the file run last."""

    def __init__(self, hangs: Hangs | None = None, place: int = 0) -> None:
        """Take what counts the hangs, and the submission's place in it."""
        self._hangs = hangs or Hangs(1)
        self._place = place
        self.late = False

    @property
    def hangs(self) -> int:
        """How often it has hung with its full limit."""
        return self._hangs.of(self._place)

    def note_hang(self) -> None:
        """Take note that it has hung with its full limit."""
        self._hangs.add(self._place)

    def begin_file(self) -> None:
        """Let another case file begin."""
        self.late = False

    def seconds(self, limit: float) -> float:
        """Return the short limit of a command that has ``limit`` seconds, or 0."""
        short = max(LEAST, limit / PART)
        return short if self.hangs >= HANGS and short < limit else 0.0


def do_anything(left: Sequence[EngineSession]) -> bool:
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
