"""The live lines while a run lasts, and a line every half minute where no live line can be."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf

from harness.core.text import at_most, one_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    import rich.progress

    from harness.core.records import Progress, Waiting

SECONDS = 30.0  # between two lines
_NAMES, _NAME = 3, 40  # how many are named, and with how many characters


class Heartbeat:
    """Says now and then how far something is. To be asked often: it has no thread of its own.

    ``write`` is given each line; ``start``: of ``time.monotonic()``, where it is not now.
    """

    def __init__(
        self, write: Callable[[str], object] | None = None, start: float | None = None
    ) -> None:
        self._write = write or _to_stderr
        self._begun = time.monotonic() if start is None else start
        self._next = self._begun + SECONDS

    def beat(self, describe: Callable[[], str]) -> None:
        """Write what ``describe`` returns after the time since the beginning, if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + SECONDS
            self._write(f"{as_time(now - self._begun)} {describe()}")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def as_time(seconds: float) -> str:
    """Return minutes and seconds, such as ``1:05``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def describe_waiting(paths: Mapping[str, Waiting]) -> str:
    """Return for which commands one waits, by case file, and how long at most; "": for none."""
    shown = []
    for path, one in paths.items():
        command = one_line(one.command, _NAME)
        what = f"'{command}'" if one.command else "the engine's first reply"
        left = f"{as_time(max(0.0, one.left))} left" if one.left < inf else "no time limit"
        shown.append(f"{short_path(path)} has waited {as_time(one.seconds)} for {what}, {left}")
    return "; ".join(at_most(shown, _NAMES, "{} more"))


def short_path(path: str, limit: int = _NAME) -> str:
    """Return a path fit to be shown on one line: of a long one the end, which has the name."""
    line = one_line(path)
    return line if len(line) <= limit else f"…{line[len(line) - limit + 1 :]}"


def waiting_for(names: Sequence[str]) -> str:
    """Return for whom or what one waits, the first few by name; empty: for nothing."""
    shown = at_most(map(one_line, names), _NAMES, "{} more")
    return f"; waiting for {', '.join(shown)}" if names else ""


# --- The live lines while a run lasts: one for each file under way, one for all files ------------
# Only for a terminal, and only for runs that last: importing rich takes longer than most of them.


_PATIENCE = 0.4  # seconds before anything is drawn


class LiveProgress:
    """Draws on standard error; all else is written while it is :meth:`hide`.

    A timer begins it, for a file's first command may take minutes without any news. It is started
    by the first news: all processes that are forked have been by then.
    """

    def __init__(self, files: int) -> None:
        self._files = files
        self._done = 0
        self._running: dict[int, Progress] = {}
        self._lines: dict[int, rich.progress.TaskID] = {}
        self._all: rich.progress.TaskID | None = None
        self._live: rich.progress.Progress | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def update(self, progress: Progress) -> None:
        """Take in where a file is."""
        with self._lock:
            place = progress.place
            if progress.result is None:
                self._running[place] = progress
            else:
                self._done += 1
                self._running.pop(place, None)
                if self._live and place in self._lines:
                    self._live.remove_task(self._lines.pop(place))
            if self._timer is None:
                self._timer = threading.Timer(_PATIENCE, self._begin)
                self._timer.daemon = True
                self._timer.start()
            elif self._live:
                self._draw(self._live)

    @contextlib.contextmanager
    def hide(self) -> Iterator[None]:
        """Take the lines away while something else is written; the next news draw them again."""
        with self._lock:
            if self._live:
                self._live.stop()
            yield

    def stop(self) -> None:
        """Take the lines away for good."""
        with self.hide():
            self._stopped = True

    def _begin(self) -> None:
        live = bars()
        with self._lock:
            if self._stopped:
                return
            self._live = live
            if self._files > 1:
                self._all = live.add_task("files", total=self._files)
            self._draw(live)

    def _draw(self, live: rich.progress.Progress) -> None:
        if self._all is not None:
            live.update(self._all, completed=self._done)
        for place, progress in self._running.items():
            if place not in self._lines:
                self._lines[place] = live.add_task("", total=progress.total)
            failed = f"  {progress.failed} FAILED" if progress.failed else ""
            path = short_path(progress.path)
            if progress.waiting:
                path = describe_waiting({progress.path: progress.waiting})
            live.update(self._lines[place], completed=progress.done, description=f"{path}{failed}")
        live.start()


def bars(*, refresh: bool = True) -> rich.progress.Progress:
    """Return the bars of everything that lasts; they go away at the end.

    ``refresh``: whether they are drawn anew by a thread, which who forks cannot have.
    """
    from rich import console, progress

    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(bar_width=24),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        console=console.Console(stderr=True),
        transient=True,
        auto_refresh=refresh,
        refresh_per_second=8,
    )
