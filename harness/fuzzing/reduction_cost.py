"""The cost of a reduction: the same on a busy machine as on a quiet one.

What counts is the processor's time: this process's, the engines' and the reference's. An engine
that hangs may use none, and keeps everybody waiting: so the wait for it counts as well.
"""

from __future__ import annotations

from time import monotonic

from harness.processes import processor_seconds
from harness.records import FailureKind
from harness.vocabulary.script import Trace


class Spending:
    """Seconds since it began; ``most``: how many there may be, ``longest``: in wall time."""

    def __init__(self, most: float, longest: float) -> None:
        self._most = most
        self._longest = longest
        self._began, self._computed = monotonic(), processor_seconds()
        self._hung = 0.0  # seconds that hanging engines were waited for
        self._looked = self._began

    @property
    def is_over(self) -> bool:
        """Whether all is spent."""
        waited = monotonic() - self._began
        return waited >= self._longest or min(waited, self._seconds) >= self._most

    @property
    def _seconds(self) -> float:
        """Others in this process may compute at the same time: then it is more than was spent."""
        return processor_seconds() - self._computed + self._hung

    def note(self, trace: Trace) -> None:
        """Take what an engine did since the last time."""
        before, self._looked = self._looked, monotonic()
        if trace.failure and trace.failure.kind is FailureKind.TIMEOUT:
            self._hung += self._looked - before
