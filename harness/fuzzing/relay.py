"""Batches of scripts on their way: to the engine, then to the reference, then to be judged.

Both are at work at the same time, and beside the harness: while the engine answers one batch, the
reference answers the one before, with the moves that the engine has chosen there; and the one
before that is judged, and the next one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from harness.fuzzing.batch_judging import HeardScript, ScriptSearch, SentScripts
from harness.records import Reply
from harness.vocabulary.script import Script, Trace


class Replies(Protocol):
    """Conversations under way to a reference."""

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""

    def replies(self) -> list[tuple[Reply, ...]]:
        """Wait, and return the right replies to each conversation."""


class Answered(NamedTuple):
    """A script that both have answered."""

    heard: HeardScript
    said: tuple[str, ...]  # what the reference was asked: moves instead of choices
    right: tuple[Reply, ...]  # its replies


class Relay:
    """Hands batches on."""

    def __init__(
        self,
        looking: ScriptSearch,
        said: Callable[[Trace], tuple[str, ...]],
        begin: Callable[[Sequence[tuple[str, ...]]], Replies],
    ) -> None:
        """``said``: what the reference is asked. ``begin``: asks it, and does not wait."""
        self._looking = looking
        self._said = said
        self._begin = begin
        self._asked: SentScripts | None = None
        self._told: Replies | None = None

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""
        if self._asked:
            self._asked.go_on()
        if self._told:
            self._told.go_on()

    def run(self, batches: Iterator[Sequence[Script]]) -> Iterator[list[Answered]]:
        """Yield each batch when both have answered it; the last but one is drawn by then."""
        before: list[tuple[HeardScript, tuple[str, ...]]] = []
        batch: Sequence[Script] = next(batches, ())
        while batch or self._asked or self._told:
            heard = list(self._asked.collect()) if self._asked else []
            right = self._told.replies() if self._told else []
            self._asked = self._looking.begin(batch) if batch else None
            both = [(one, self._said(one.trace)) for one in heard]
            self._told = self._begin([said for _, said in both]) if both else None
            yield [Answered(*one, replies) for one, replies in zip(before, right, strict=True)]
            before, batch = both, next(batches, ())
