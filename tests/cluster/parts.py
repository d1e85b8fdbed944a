"""What runs on the hosts of a lab: a database, a scheduler, workers, and the grading."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg

from tests import postgresql
from tests.cluster.lab import (
    DATA,
    DATABASE,
    HARNESS,
    LAN,
    PORT,
    ROOM,
    ROOT,
    SCHEDULER,
    SERVER,
    WORKERS,
    Host,
    Lab,
)

LEVEL = "3"
_PAUSE = 1.0  # seconds before a program that ended is started anew
_PATIENCE = 120.0  # seconds for a database to be there
_LOOK = 0.2
_LATE = 2700  # seconds by which the clock of a worker is slow
_CLOCK = f"import time\nown = time.time\ntime.time = lambda: own() - {_LATE}\n"


def until(is_so: Callable[[], bool], seconds: float) -> None:
    """Wait; raises TimeoutError."""
    ends = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > ends:
            raise TimeoutError(f"not so after {seconds:g} s")
        time.sleep(_LOOK)


class Part:
    """A program on a host. When it ends it is started anew, as an operator does it."""

    def __init__(self, host: Host, words: Sequence[object], **environment: str) -> None:
        self.host = host
        self.words = tuple(words)
        self.environment = environment
        self.folder = ROOT  # where it is started
        self.log = ROOM / f"{host.name}.log"
        self.ends: list[int] = []  # exit statuses
        self._process: subprocess.Popen[bytes] | None = None
        self._next = 0.0

    def start(self, before: Sequence[object] = (), after: Sequence[object] = ()) -> None:
        """Start it; this time with more words."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.host.command(*before, *self.words, *after),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**self.host.environment, **self.environment},
                start_new_session=True,
            )

    def look(self, well: Sequence[int] = ()) -> bool:
        """Start it anew if it has ended; return whether it ended well and is left alone."""
        if self._process and (status := self._process.poll()) is not None:
            self.ends.append(status)
            self._process = None
            self._next = time.monotonic() + _PAUSE
        if self.ends and self._process is None and self.ends[-1] in well:
            return True
        if self._process is None and time.monotonic() > self._next:
            self.start()
        return False

    @property
    def pid(self) -> int:
        """Its first process, or 0 if it has ended."""
        return self._process.pid if self._process else 0

    def kill(self) -> None:
        """Let the whole machine lose its power."""
        self.host.send(signal.SIGKILL, self.host.pids())
        if self._process:
            self._process.wait()
            self._process = None
        self._next = time.monotonic() + _PAUSE


class Database(Part):
    """A PostgreSQL server, and the database of a ledger in it."""

    def __init__(self, lab: Lab) -> None:
        """Make its data."""
        host = lab.hosts[DATABASE]
        self._place = f"{host.address(DATA)}:{PORT[DATABASE]}"
        settings = {"listen_addresses": host.address(DATA), "port": str(PORT[DATABASE])}
        postgresql.initialize(host.disk, {**settings, "max_wal_size": "64MB"})
        data = host.disk / "data"
        with (data / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {LAN[DATA]} scram-sha-256\n")
        program = (postgresql.programs() or Path()) / "postgres"
        super().__init__(host, [*postgresql.as_account(), program, "-D", data])
        self.folder = host.disk  # its own user cannot enter ours

    def address(self, database: str, user: str = postgresql.USER) -> str:
        """Return the address of a database, with the password."""
        return f"postgresql://{user}:{postgresql.QUOTED}@{self._place}/{database}"

    def prepare(self) -> None:
        """Start it, and make the database ``ledger``."""
        self.wait()
        for statement in (postgresql.MAKE_USER, f"CREATE DATABASE ledger OWNER {postgresql.USER}"):
            self._execute(statement)

    def wait(self) -> None:
        """Wait until it answers."""
        until(self._is_there, _PATIENCE)

    def _is_there(self) -> bool:
        self.look()
        with contextlib.suppress(psycopg.OperationalError):
            self._execute("SELECT 1")
            return True
        return False

    def count(self, table: str) -> int:
        """Return how many rows a table of the ledger has, or 0 if it does not exist yet."""
        with (
            contextlib.suppress(psycopg.Error),
            psycopg.connect(self.address("ledger", "postgres"), connect_timeout=3) as connection,
        ):
            (found,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
            return int(found)
        return 0

    def _execute(self, statement: str) -> None:
        address = self.address("postgres", "postgres")
        with psycopg.connect(address, autocommit=True, connect_timeout=3) as connection:
            connection.execute(statement)


class Cluster:
    """The commands of a cluster on its hosts, with certificates; not started."""

    def __init__(self, lab: Lab) -> None:
        """Make the certificates."""
        self._lab = lab
        self.papers = ROOM / "papers"
        lab.hosts[SERVER].inside(*HARNESS, "cluster", "certificates", self.papers)
        self._tls = ("--tls", self.papers)
        self.place = lab.address(SCHEDULER), PORT[SCHEDULER]
        self.address = f"tls://{self.place[0]}:{self.place[1]}"

    def scheduler(self) -> Part:
        """Return the scheduler."""
        words = [*HARNESS, "cluster", "scheduler", "--host", self.place[0], *self._tls]
        return Part(self._lab.hosts[SCHEDULER], words)

    def worker(self, name: str) -> Part:
        """Return a worker. The clock of the last one is slow."""
        words = [*HARNESS, "worker", self.address, *self._tls]
        more = {"PYTHONPATH": str(_slow_clock())} if name == WORKERS[-1] else {}
        return Part(self._lab.hosts[name], words, **more)

    def grading(self, room: Path, *more: object) -> Part:
        """Return the grading of a class in a room."""
        words = _grade(room, "graded", *more, "--scheduler", self.address, *self._tls)
        return Part(self._lab.hosts[SERVER], words)


def grading_alone(host: Host, room: Path) -> Part:
    """Return the grading of a class on one machine."""
    return Part(host, _grade(room, "alone"))


def _grade(room: Path, output: str, *more: object) -> list[object]:
    words = [*HARNESS, "grade", room / "submissions", "--no-images", "--no-color"]
    words += ["--assignment", room / "counting", "--sandbox", LEVEL]
    return [*words, "--output", room / output, *more]


def _slow_clock() -> Path:
    """Return a folder from which Python takes a clock that is slow."""
    folder = ROOM / "clock"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_CLOCK)
    return folder
