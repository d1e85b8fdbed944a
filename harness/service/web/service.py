"""Shared state of a process's requests: the open service, limits, and live news of submissions."""

import collections
import math
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from harness.grading.ledger.places import Store
from harness.service.monitoring import Counter
from harness.service.people import oidc
from harness.service.settings import Settings
from harness.service.storage import queue, uploads
from harness.service.storage.database import Database

# --- How often somebody may ask, and how much at a time ------------------------------------------
# A bucket for each person is filled as time goes by; requests under way are counted by person.

_MOST = 10_000  # buckets that are kept, before full ones are thrown away


class RequestsUnderWay:
    """Counts what people have under way in this process. It may be shared by threads."""

    def __init__(self, most: int) -> None:
        """``most``: of one person at a time."""
        self.most = most
        self._counts: collections.Counter[str] = collections.Counter()
        self._lock = threading.Lock()

    def begin(self, person: str) -> bool:
        """Count one more; False, and it does not count: there are as many as may be.

        ``person``: the ID; if empty (nobody signed in), nothing is counted.
        """
        with self._lock:
            if person and self._counts[person] >= self.most:
                return False
            self._counts[person] += 1
            return True

    def end(self, person: str) -> None:
        """Count one less; for each that began."""
        with self._lock:
            self._counts[person] -= 1
            if not self._counts[person]:
                del self._counts[person]


class Rates:
    """Counts requests in this process. It may be shared by threads."""

    def __init__(self, each_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """``each_minute``: requests of one person, all at once or one after the other."""
        self._most = float(each_minute)
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}  # requests, and when they were counted
        self._lock = threading.Lock()

    def take(self, key: str) -> int:
        """Count a request; return 0, or after how many seconds it may be tried again."""
        now = self._clock()
        with self._lock:
            left = self._now(key, now)
            if left < 1:
                return math.ceil((1 - left) * 60 / self._most)
            if len(self._left) >= _MOST:
                kept = self._left.items()
                self._left = {k: value for k, value in kept if self._now(k, now) < self._most}
            self._left[key] = (left - 1, now)
        return 0

    def _now(self, key: str, now: float) -> float:
        left, then = self._left.get(key, (self._most, now))
        return min(self._most, left + (now - then) * self._most / 60)


# --- Live news of submissions: one look at the database serves all pages that watch --------------

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
        self._watched: collections.Counter[str] = collections.Counter()  # by IDs of submissions
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
            return self._looks.get(upload) if self._clock() - self._at < _FRESH else None

    def look(self, upload: str) -> Look:
        """Look at a submission that is watched; raises as the database."""
        with self._looking:  # who waits for another's look has it too
            known = self.find_fresh(upload)
            if known is not None:
                return known
            with self._counting:
                at, wanted = self._clock(), sorted(self._watched)
            with self._database.reading() as db:
                jobs = queue.checks(db, about=wanted)
                words = uploads.words(db, wanted)
                read = uploads.list_read(db, wanted)
            running = {name for name, job in jobs.items() if job.is_unfinished}
            found = {
                name: Look(tuple(words.get(name, ())), name in read, name in running)
                for name in wanted
            }
            with self._counting:
                self._looks = {name: look for name, look in found.items() if self._watched[name]}
                self._at = at
            return found.get(upload, Look())


_AT_A_TIME = 4  # of one person
_ASKED = 30  # links that may be asked for in a minute from one address, maybe of a whole campus


class Service:
    """A service that is open: what all requests of a process share."""

    def __init__(self, settings: Settings, how: Callable[[Settings], Database] = Database) -> None:
        """Open the store and, by ``how``, the database; raises as that and :func:`oidc.check`."""
        self.settings = settings
        self.database = how(settings)
        self.store = Store(settings.originals)
        self.rates = Rates(settings.rate)  # by people, with an API token
        self.requests = Counter()
        self.provider = oidc.Provider(settings) if settings.oidc else None  # of sign-in
        self.under_way = RequestsUnderWay(_AT_A_TIME)  # requests with a body
        self.asking = Rates(_ASKED)  # for links: by addresses of the network
        self.page_rates = Rates(settings.page_rate)  # by people, as the other ones
        self.watching = RequestsUnderWay(settings.streams)  # pages that tell what is judged
        self.live = LiveLooks(self.database)  # what these tell

    def close(self) -> None:
        """Close what was opened."""
        self.database.close()
