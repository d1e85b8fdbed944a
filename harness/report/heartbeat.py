"""A line on standard error every half minute, where no live line can be drawn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from harness.visible import one_line

SECONDS = 30.0  # between two lines
_NAMES, _NAME = 3, 40  # how many are named, and with how many characters


class Heartbeat:
    """Says now and then how far something is. To be asked often: it has no thread of its own."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._next = self._begun + SECONDS

    def beat(self, say: Callable[[], str]) -> None:
        """Write what ``say`` returns after the time since the beginning, if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + SECONDS
            minutes, seconds = divmod(round(now - self._begun), 60)
            print(f"{minutes}:{seconds:02} {say()}", file=sys.stderr, flush=True)


def waiting_for(names: Sequence[str]) -> str:
    """Return for whom or what one waits, the first few by name; empty: for nothing."""
    shown = [one_line(name, _NAME) for name in names[:_NAMES]]
    more = [f"{len(names) - _NAMES} more"] if len(names) > _NAMES else []
    return f"; waiting for {', '.join([*shown, *more])}" if names else ""
