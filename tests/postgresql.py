"""A real PostgreSQL for the tests: Debian's, started once for all workers, gone with the last.

Who uses the server has a shared lock on a file. A guardian waits for that lock alone: it gets it
when nobody is left, however they ended, and then ends the server and removes its folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest

from tests import forks

USER, PASSWORD = "grader", "s/cr:t@1"  # of the ledgers
QUOTED = "s%2Fcr%3At%401"  # as it is written in an address
MAKE_USER = f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'"
_SETTINGS = {
    "fsync": "off",  # nobody cuts the power of a test
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
    "max_connections": "60",
    "shared_buffers": "16MB",
    # What several hundred databases that are made and removed need not have.
    "autovacuum": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "jit": "off",
}
# A database is 300 files, and some file systems take long to find a number for a new file where
# many were removed.
_MEMORY, _ENOUGH = Path("/dev/shm"), 1 << 30
_NUMBERS = itertools.count()
KEPT: set[int] = set()  # processes for all tests, which outlast one that fails
_WITH_WAYS = 150_000  # the first version that can copy a database in several ways


class Running(NamedTuple):
    """A server that runs."""

    folder: Path
    port: int

    def address(self, database: str, login: str = f"{USER}:{QUOTED}") -> str:
        return f"postgresql://{login}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Execute a statement as the administrator."""
        import psycopg

        address = self.address(database, f"postgres:{QUOTED}")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement)

    @contextlib.contextmanager
    def new_database(self, like: str = "template1") -> Iterator[str]:
        """Give the address of a database that is a copy of another; it is removed afterwards."""
        name = f"test_{os.getpid()}_{next(_NUMBERS)}"
        how = _copying(self)
        self.execute(f"CREATE DATABASE {name} TEMPLATE {like} OWNER {USER}{how}")
        try:
            yield self.address(name)
        finally:
            self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def kill_backends(self) -> int:
        """Kill what serves connections, after which the server starts anew; return how many."""
        import psycopg

        address = self.address("postgres", f"postgres:{QUOTED}")
        with psycopg.connect(address, autocommit=True) as connection:
            query = (
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
                " AND pid <> pg_backend_pid()"
            )
            pids = [int(row[0]) for row in connection.execute(query)]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(pids)


@functools.cache
def _copying(server: Running) -> str:
    """Return how a database is copied: as files, which takes a quarter of the time.

    Former versions know no other way, and not the word.
    """
    import psycopg

    with psycopg.connect(server.address("postgres", f"postgres:{QUOTED}")) as connection:
        has_ways = connection.info.server_version >= _WITH_WAYS
    return " STRATEGY file_copy" if has_ways else ""


def programs() -> Path | None:
    """Return the folder of the newest PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The server."""
    if programs() is None:
        pytest.skip("postgresql is not installed")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if forks.is_forked() or "PYTEST_XDIST_WORKER" in os.environ else base
    with use_server(shared / "postgresql") as running:
        yield running


@pytest.fixture
def own_postgresql(tmp_path: Path) -> Iterator[Running]:
    """A server for one test, which may kill it."""
    if programs() is None:
        pytest.skip("postgresql is not installed")
    with use_server(tmp_path / "postgresql") as running:
        yield running


@pytest.fixture
def database(postgresql: Running) -> Iterator[str]:
    """The address of an empty database, which is removed afterwards."""
    with postgresql.new_database() as address:
        yield address


@contextlib.contextmanager
def use_server(place: Path) -> Iterator[Running]:
    """Use the server of all workers, which is started if none runs."""
    place.mkdir(exist_ok=True)
    with (place / "users").open("a") as users:
        with (place / "starting").open("a") as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)
            noted = place / "running"
            if not noted.exists():
                folder, port = _start()
                noted.write_text(f"{folder} {port}")
                KEPT.add(int((folder / "data" / "postmaster.pid").read_text().split()[0]))
                KEPT.add(_guard(place, folder))
        folder_name, port_text = noted.read_text().split()
        yield Running(Path(folder_name), int(port_text))


def _guard(place: Path, folder: Path) -> int:
    """Start a process that ends the server once all users are gone; return it."""
    stop = (
        'rm -f "$1/running"; kill -QUIT "$(head -1 "$2/data/postmaster.pid")";'
        ' while [ -e "$2/data/postmaster.pid" ]; do sleep 0.1; done; rm -rf "$2"'
    )
    guardian = subprocess.Popen(
        ["flock", str(place / "users"), "sh", "-c", stop, "sh", str(place), str(folder)],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return guardian.pid


def _start() -> tuple[Path, int]:
    """Make a server of its own and start it; return its folder and its port."""
    folder = Path(tempfile.mkdtemp(prefix="gtp-harness-postgresql-", dir=_fast_place()))
    initialize(folder)
    port = _start_server(folder)
    Running(folder, port).execute(MAKE_USER)
    return folder, port


def _fast_place() -> Path | None:
    """Return a folder in memory if there is one with room enough."""
    with contextlib.suppress(OSError):
        if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH:
            return _MEMORY
    return None


def initialize(folder: Path, more: Mapping[str, str] = MappingProxyType({})) -> None:
    """Make the data of a server, with these settings more."""
    account = _account()
    if account:
        shutil.chown(folder, account.pw_uid, account.pw_gid)
    secret = folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
    _run("initdb", "-D", folder / "data", "-U", "postgres", "--pwfile", secret, *options)
    settings = "".join(f"{name} = '{value}'\n" for name, value in {**_SETTINGS, **more}.items())
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.write(settings)


def _start_server(folder: Path) -> int:
    """Start the server on a port that is free; another may be quicker to take it."""
    for _ in range(5):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.write(f"port = {port}\n")
        with contextlib.suppress(subprocess.CalledProcessError):
            _control(folder, "start")
            return port
    raise AssertionError((folder / "log").read_text())


def _control(folder: Path, *words: str) -> None:
    _run("pg_ctl", *words, "-w", "-t", "120", "-D", folder / "data", "-l", folder / "log")


def _run(name: str, *words: object) -> None:
    """Run one of PostgreSQL's programs, which root may not be."""
    folder, account = programs(), _account()
    assert folder is not None
    as_user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    subprocess.run(
        [str(folder / name), *map(str, words)],
        check=True,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **(as_user if account else {}),
    )


def as_account() -> list[str]:
    """Return what a command begins with that one of PostgreSQL's programs is run by."""
    account = _account()
    if account is None:
        return []
    ids = [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}"]
    return ["setpriv", *ids, "--clear-groups"]


def _account() -> pwd.struct_passwd | None:
    """Return whom the server runs as, if not as ourselves."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("root may not run PostgreSQL, and there is no other user")
