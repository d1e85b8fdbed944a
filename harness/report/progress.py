"""The live lines while a run lasts: one for each file under way, one for all files.

Only for a terminal, and only for runs that last: importing rich takes longer than most of them.
"""

from __future__ import annotations

import time

from harness.runs import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    import rich.progress

_PATIENCE = 0.4  # seconds before anything is drawn


class LiveProgress:
    """Draws on standard error; :meth:`hide` before writing anything else, :meth:`stop` at last."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._begin = time.monotonic()
        self._running: dict[int, Progress] = {}
        self._done = 0
        self._live: rich.progress.Progress | None = None
        self._tasks: dict[int, rich.progress.TaskID] = {}

    def update(self, progress: Progress) -> None:
        """Take in where a file is, and draw it once the run has lasted a while."""
        if progress.result is not None:
            self._finish(progress.place)
        else:
            self._running[progress.place] = progress
        if time.monotonic() - self._begin > _PATIENCE:
            self._draw()

    def _finish(self, place: int) -> None:
        self._done += 1
        self._running.pop(place, None)
        if self._live and place in self._tasks:
            self._live.remove_task(self._tasks.pop(place))

    def _draw(self) -> None:
        live = self._shown()
        for place, progress in self._running.items():
            if place not in self._tasks:
                self._tasks[place] = live.add_task("", total=progress.total)
            failed = f"  {progress.failed} FAILED" if progress.failed else ""
            live.update(
                self._tasks[place],
                total=progress.total,
                completed=progress.done,
                description=f"{progress.path}{failed}",
            )
        if -1 in self._tasks:
            live.update(self._tasks[-1], completed=self._done)

    def _shown(self) -> rich.progress.Progress:
        if self._live is None:
            self._live = _make()
            if self._files > 1:
                self._tasks[-1] = self._live.add_task("files", total=self._files)
        self._live.start()
        return self._live

    def hide(self) -> None:
        """Take the lines away; the next update draws them again."""
        if self._live:
            self._live.stop()

    stop = hide


def _make() -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Rich

    return Rich(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=8,
    )
