"""What a judge shows drawn scripts to, one by one or many at once. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from harness.vocabulary.script import Script, Trace


class HeardScript(NamedTuple):
    """What an engine did with a script, and what its process had been sent by then."""

    trace: Trace
    sent: list[Script]
    length: int  # of them, this one the last

    @property
    def said(self) -> list[Script]:
        """All that the process was sent up to this."""
        return self.sent[: self.length]


class SentScripts(Protocol):
    """Scripts under way to an engine."""

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""

    def collect(self) -> Iterator[HeardScript]:
        """Yield what the engine does with each script."""


class ScriptSearch(Protocol):
    """Looks for a script that shows something."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be tried."""

    def shows(self, script: Script) -> bool:
        """Whether a script shows something."""

    def begin(self, scripts: Sequence[Script]) -> SentScripts:
        """Send scripts, whose answers :meth:`has_news` is to look at."""

    def has_news(self, heard: HeardScript) -> bool:
        """Whether what an engine did shows something."""
