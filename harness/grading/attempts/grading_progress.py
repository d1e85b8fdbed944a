"""Show a live line while units run: how many are done, the time, the findings so far.

If the output is not a terminal, a line every half minute says the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.escaping import one_line
from harness.grading.attempts.units import GradingUnit
from harness.report.heartbeat import Heartbeat, as_time, short_path, waiting_for
from harness.text import number_of
from harness.work.worker_events import (
    AttemptEvent,
    AttemptFinished,
    BuildFinished,
    CaseStarted,
    HarnessFailed,
    ProgressEvent,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    import rich.progress

_NAME = 24  # characters of the submission under way
_FILE = 24  # characters of its case file


class UnitsProgress:
    """Drawn on standard error if that is a terminal; use it as a context.

    It has no thread of its own, because processes are forked meanwhile: each event redraws it.
    """

    what = ""  # is counted, in the plural, and what happened to it

    def __init__(
        self, total: int, make: Callable[[], rich.progress.Progress], name: str = ""
    ) -> None:
        """Prepare a line of that name on the bars that ``make`` returns."""
        self._done, self._total = 0, total
        self._heartbeat = Heartbeat()
        self._files: dict[str, tuple[str, float]] = {}  # that run, and since when, by submission
        self._live = make() if sys.stderr.isatty() and total else None
        if self._live:
            self._line = self._live.add_task(name, total=total)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
            self._live.refresh()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def _draw(self, said: str) -> None:
        if self._live:
            self._live.update(self._line, completed=self._done, description=said)
            self._live.refresh()

    def on_time(self, under_way: Sequence[GradingUnit]) -> None:
        """Say how far it is and what is waited for: drawn, or if it was not said for a while."""
        units = {unit.submission.key: unit for unit in under_way}
        waits = [self._describe(units[key]) for key in sorted(units)]
        if self._live and waits:
            self._draw(f"{self._summarize()}  {waits[0]}")
        elif not self._live:
            far = f"{self._done} of {self._total} {self.what}"
            self._heartbeat.beat(lambda: f"{far}, {self._summarize()}{waiting_for(waits)}")

    def _describe(self, unit: GradingUnit) -> str:
        """Return what of a unit is waited for, why, and how long at most."""
        key = unit.submission.key
        name, since = self._files.get(key, ("", 0.0))
        if not name:
            return one_line(key, _NAME)
        so_far = as_time(time.monotonic() - since)
        why = f" ({unit.why})" if unit.why else ""
        return f"{one_line(key, _NAME)}: {short_path(name, _FILE)} for {so_far}{why}"

    def on_progress(self, unit: GradingUnit, word: ProgressEvent) -> None:
        """Take note of the case file that runs; whole ones are counted."""
        if isinstance(word, CaseStarted):
            names = {task.basis: Path(task.case.path).name for task in unit.tasks}
            now = time.monotonic()
            self._files[unit.submission.key] = (names.get(word.basis, ""), now)

    def _summarize(self) -> str:
        """Return what was found so far."""
        raise NotImplementedError


class GradingProgress(UnitsProgress):
    """Show how many case files are done, and how many submissions have failures."""

    what = "case files done"

    def __init__(self, total: int) -> None:
        super().__init__(total, _make)
        self._failed: set[str] = set()
        self._broke = 0

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Take in what a worker says."""
        key = unit.submission.key
        if isinstance(word, HarnessFailed):
            self._broke += 1
        elif isinstance(word, AttemptFinished) and word.failed:
            self._failed.add(key)
        # What is in doubt is not done: its second run will be.
        self._done += isinstance(word, AttemptFinished) and not word.doubtful
        if not isinstance(word, BuildFinished):
            self._draw(f"{self._summarize()}  {one_line(key, _NAME)}")

    def _summarize(self) -> str:
        broke = f", {number_of(self._broke, 'harness error')}" if self._broke else ""
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
