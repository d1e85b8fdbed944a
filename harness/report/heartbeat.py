"""A line on standard error every half minute, where no live line can be drawn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from math import inf

from harness.escaping import one_line
from harness.text import at_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.records import Waiting

SECONDS = 30.0  # between two lines
_NAMES, _NAME = 3, 40  # how many are named, and with how many characters


class Heartbeat:
    """Says now and then how far something is. To be asked often: it has no thread of its own.

    ``write`` is given each line; ``begun``: of ``time.monotonic()``, where it is not now.
    """

    def __init__(
        self, write: Callable[[str], object] | None = None, begun: float | None = None
    ) -> None:
        self._write = write or _to_stderr
        self._begun = time.monotonic() if begun is None else begun
        self._next = self._begun + SECONDS

    def beat(self, say: Callable[[], str]) -> None:
        """Write what ``say`` returns after the time since the beginning, if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + SECONDS
            self._write(f"{as_time(now - self._begun)} {say()}")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def as_time(seconds: float) -> str:
    """Return minutes and seconds, such as ``1:05``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def describe_waiting(paths: Mapping[str, Waiting]) -> str:
    """Return for which commands one waits, by case file, and how long at most; "": for none."""
    shown = (f"{short_path(path)} {_waits(one)}" for path, one in paths.items())
    return "; ".join(at_most(shown, _NAMES, "{} more"))


def short_path(path: str, limit: int = _NAME) -> str:
    """Return a path fit to be shown on one line: of a long one the end, which has the name."""
    line = one_line(path)
    return line if len(line) <= limit else f"…{line[len(line) - limit + 1 :]}"


def _waits(one: Waiting) -> str:
    what = f"'{one_line(one.command, _NAME)}'" if one.command else "the engine's first reply"
    left = f"{as_time(max(0.0, one.left))} left" if one.left < inf else "no time limit"
    return f"has waited {as_time(one.seconds)} for {what}, {left}"


def waiting_for(names: Sequence[str]) -> str:
    """Return for whom or what one waits, the first few by name; empty: for nothing."""
    shown = at_most(map(one_line, names), _NAMES, "{} more")
    return f"; waiting for {', '.join(shown)}" if names else ""
