"""What thousands of tests would each make anew and is the same each time, made once a process.

**Workers of gradings** (``harness.work --serve``): a nursery has loaded what they need and forks
each. They are children of this process, as if they had been started here. Tests of the command
line start theirs afresh.

**Statements of SQLAlchemy**: each database of a test has an engine of its own, which would compile
all of them anew; they are the same for all engines of a kind of database.
"""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import util

from harness.work import crew, machine
from tests import postgresql

_STATEMENTS: util.LRUCache[tuple, object] = util.LRUCache(5000)
_BEGINNING = len(machine.command("harness.work"))


class _SharedStatements:
    """Compiled statements of all engines, by the kind of database instead of the engine's own."""

    def __setitem__(self, key: tuple, compiled: object) -> None:
        _STATEMENTS[key[0].name, *key[1:]] = compiled

    def get(self, key: tuple) -> object:
        return _STATEMENTS.get((key[0].name, *key[1:]))


class _Nursery:
    """Starts workers."""

    def __init__(self) -> None:
        self._line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            process = subprocess.Popen([sys.executable, "-m", "tests.nursery"], stdin=other)
        process.returncode = 0  # it ends with this process, whose line it reads
        postgresql.KEPT.add(process.pid)

    def start(self, command: Sequence[str], *, stdin: int, stdout: int, **_: Any) -> object:
        """Start one as :class:`subprocess.Popen` does; return what has its id."""
        mask = os.umask(0)
        os.umask(mask)
        environment = [b"%s=%s" % one for one in os.environb.items()]
        options = map(os.fsencode, command[_BEGINNING:])
        words = [os.fsencode(os.getcwd()), b"%d" % mask, *environment, b"", *options]
        socket.send_fds(self._line, [b"\0".join(words)], [stdin, stdout, 2])
        return SimpleNamespace(pid=int(self._line.recv(100)))


@cache
def _nursery() -> _Nursery:
    return _Nursery()


def _start(command: Sequence[str], **options: Any) -> object:
    """Start a worker; the first one brings the nursery: tests without processes start neither."""
    return _nursery().start(command, **options)


@pytest.fixture(scope="session", autouse=True)
def _share_statements() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(util, "LRUCache", lambda *_, **__: _SharedStatements())  # each engine's
        yield


@pytest.fixture(scope="module")
def warm_workers() -> Iterator[None]:
    """Let a nursery start the workers of gradings in this process."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crew, "subprocess", SimpleNamespace(Popen=_start))
        yield
