"""One live line while a grading lasts: how much of it is done, time left, failures so far.

Off a terminal, a line every half minute says the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.grading.attempts.units import Broke, Built, Done, Unit, Word
from harness.report.heartbeat import Heartbeat, waiting_for
from harness.visible import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import rich.progress

_NAME = 24  # characters of the submission under way


class GradingProgress:
    """Drawn on standard error if that is a terminal; use it as a context.

    It has no thread of its own, for processes are forked meanwhile: each word draws it anew.
    """

    def __init__(self, total: int) -> None:
        self._failed: set[str] = set()
        self._broke = 0
        self._done, self._total = 0, total
        self._heartbeat = Heartbeat()
        self._live = _make() if sys.stderr.isatty() and total else None
        if self._live:
            self._line = self._live.add_task("", total=total)

    def __enter__(self) -> GradingProgress:
        if self._live:
            self._live.start()
            self._live.refresh()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def on_word(self, unit: Unit, word: Word) -> None:
        """Take in what a worker says."""
        key = unit.submission.key
        if isinstance(word, Broke):
            self._broke += 1
        elif isinstance(word, Done) and word.failed:
            self._failed.add(key)
        # What is in doubt is not done: its second run will be.
        done = isinstance(word, Done) and not word.doubtful
        self._done += done
        if self._live and not isinstance(word, Built):
            said = f"{self._said()}  {one_line(key, _NAME)}"
            self._live.update(self._line, advance=int(done), description=said)
            self._live.refresh()

    def on_time(self, under_way: Sequence[Unit]) -> None:
        """Say how far it is, if that cannot be drawn and was not said for a while."""
        if not self._live:
            keys = sorted({unit.submission.key for unit in under_way})
            far = f"{self._done} of {self._total} case files done"
            self._heartbeat.beat(lambda: f"{far}, {self._said()}{waiting_for(keys)}")

    def _said(self) -> str:
        broke = f", the harness broke {self._broke} times" if self._broke else ""
        return f"{len(self._failed)} with failures{broke}"


def _make() -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    )
