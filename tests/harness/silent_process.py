"""An engine's process on paper, which answers so often and then breaks, by a clock of its own."""

from types import SimpleNamespace
from typing import Any

from harness.core.errors import EngineError
from harness.core.records import Failure, FailureKind

SILENT = EngineError(Failure(FailureKind.TIMEOUT, "did not answer in time"))


class SilentProcess:
    """As much of :class:`harness.engine.process.EngineProcess` as a conversation needs."""

    def __init__(
        self,
        breaks: EngineError = SILENT,
        unfinished: bytes = b"",
        answers: tuple[float, ...] = (),
    ) -> None:
        """``answers``: the time of each reply. ``breaks``: what comes then, at the deadline."""
        self.now = 0.0
        self.unfinished = unfinished
        self.stderr = SimpleNamespace(text=lambda: "")
        self._breaks = breaks
        self._answers = list(answers)
        self.clock: Any = SimpleNamespace(
            now=lambda: self.now,
            own=lambda: self.now,
            begin_command=self._begin_command,
            note_arrival=lambda: (self.now, self.now),
            computed=0.0,
            counted=0.0,
        )

    def _begin_command(self) -> tuple[float, float]:
        self.clock.computed = self.clock.counted = 0.0
        return self.now, self.now

    def write(self, data: bytes, deadline: float) -> None:
        """Take a command in."""

    def read(self, deadline: float) -> bytes:
        """Answer, or break a moment after the deadline."""
        if self._answers:
            self.now = self._answers.pop(0)
            return b"= \n\n"
        self.now = deadline + 0.05
        raise self._breaks
