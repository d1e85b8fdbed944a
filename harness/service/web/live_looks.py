"""Live news of submissions: one look at the database serves all pages that watch."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from harness.service.storage import queue, uploads
from harness.service.storage.database import Database

_FRESH = 0.25  # seconds for which a look is as good as a new one


class Look(NamedTuple):
    """A submission at one moment, as the database has it."""

    words: tuple[tuple[int, str], ...] = ()  # what a worker said: numbers, which grow, and JSON
    was_read: bool = False  # whether its check read it
    is_running: bool = False  # whether it is being checked, or waits for that


class LiveLooks:
    """Looks for those who watch. It may be shared by threads; fifty pages ask as one."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._watched: Counter[str] = Counter()  # by the IDs of submissions
        self._looks: dict[str, Look] = {}
        self._at = 0.0  # of the last look
        self._counting = threading.Lock()
        self._looking = threading.Lock()

    def begin(self, upload: str) -> None:
        """Watch a submission from now on; :meth:`end` is for each that began."""
        with self._counting:
            self._watched[upload] += 1

    def end(self, upload: str) -> None:
        """Let one watch a submission no longer."""
        with self._counting:
            self._watched[upload] -= 1
            if not self._watched[upload]:
                del self._watched[upload]
                self._looks.pop(upload, None)

    def find_fresh(self, upload: str) -> Look | None:
        """Return the last look at a submission, without waiting, or None if it is too old."""
        with self._counting:
            is_fresh = self._clock() - self._at < _FRESH
            return self._looks.get(upload) if is_fresh else None

    def look(self, upload: str) -> Look:
        """Look at a submission that is watched; raises as the database."""
        with self._looking:  # who waits for another's look has it too
            known = self.find_fresh(upload)
            return known or self._look_at_all().get(upload, Look())

    def _look_at_all(self) -> dict[str, Look]:
        at, wanted = self._clock(), self._list_watched()
        found = _read(self._database, wanted)
        with self._counting:
            self._looks = {name: look for name, look in found.items() if self._watched[name]}
            self._at = at
        return found

    def _list_watched(self) -> list[str]:
        with self._counting:
            return sorted(self._watched)


def _read(database: Database, wanted: list[str]) -> dict[str, Look]:
    with database.reading() as db:
        jobs = queue.checks(db, about=wanted)
        words = uploads.words(db, wanted)
        read = uploads.list_read(db, wanted)
    running = {name for name, job in jobs.items() if job.is_unfinished}
    return {
        name: Look(tuple(words.get(name, ())), name in read, name in running) for name in wanted
    }
