"""What thousands of tests would each make anew and is the same each time, made once a process.

**Workers of gradings** (``harness.work --serve``): a nursery has loaded what they need and forks
each. They are children of this process, as if they had been started here.

**Commands** (``python -m harness.cli``) of modules that ask for ``warm_commands``, alike. What
starts, and what it loads, is the subject of others.

**Statements of SQLAlchemy**: each database of a test has an engine of its own, which would compile
all of them anew; they are the same for all engines of a kind of database.
"""

from __future__ import annotations

import inspect
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import util

from harness.work import crew
from tests import nursery, postgresql

_STATEMENTS: util.LRUCache[tuple, object] = util.LRUCache(5000)
_ROOT = Path(__file__).parents[1]


class _SharedStatements:
    """Compiled statements of all engines, by the kind of database instead of the engine's own."""

    def __setitem__(self, key: tuple, compiled: object) -> None:
        _STATEMENTS[key[0].name, *key[1:]] = compiled

    def get(self, key: tuple) -> object:
        return _STATEMENTS.get((key[0].name, *key[1:]))


# What says how Python reads, writes and starts: a nursery has it from its own start.
_OF_PYTHON = re.compile(r"PYTHON(?!PATH$|HASHSEED$|DONTWRITEBYTECODE$)|LC_|LANG")


@cache
def _nursery(*variables: tuple[str, str]) -> socket.socket:
    """Start a nursery, for such variables of Python; return the line to it."""
    line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    own = {name: value for name, value in os.environ.items() if not _OF_PYTHON.match(name)}
    own["OPENBLAS_NUM_THREADS"] = "1"  # what has threads cannot be forked
    words = [sys.executable, "-m", "tests.nursery"]
    with other:
        process = subprocess.Popen(words, stdin=other, env=own | dict(variables), cwd=_ROOT)
    process.returncode = 0  # it ends with this process, whose line it reads
    postgresql.KEPT.add(process.pid)
    return line


def _line_for(environment: Mapping[str, str]) -> socket.socket:
    """Return the line to a nursery for programs with such an environment."""
    found = {(name, environment[name]) for name in environment if _OF_PYTHON.match(name)}
    return _nursery(*sorted(found))


def _start(command: Sequence[str], **options: Any) -> object:
    """Start a worker; the first one brings the nursery: tests without processes start neither."""
    return nursery.start_worker(_line_for(os.environ))(command, **options)


class _WarmCommand(subprocess.Popen):
    """A command of the product, forked where that makes no difference."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        names = list(inspect.signature(super()._execute_child).parameters)[1:]
        how = dict(zip(names, rest, strict=True))
        words = _words_after_python(args)
        files = [how["p2cread"], how["c2pwrite"], how["errwrite"]]
        files = [place if file == -1 else file for place, file in enumerate(files)]
        usual = {"preexec_fn": None, "pass_fds": (), "shell": False, "process_group": -1}
        usual |= {"start_new_session": False, "uid": None, "gid": None, "umask": -1}
        if words is None or any(how[name] != value for name, value in usual.items()):
            super()._execute_child(args, *rest)
            return
        environment = os.environ if how["env"] is None else how["env"]
        folder = os.fspath(how["cwd"] or os.getcwd())
        variables = {os.fsencode(name): os.fsencode(environment[name]) for name in environment}
        line = _line_for({os.fsdecode(name): os.fsdecode(variables[name]) for name in variables})
        self.pid = nursery.ask(line, words, files, folder, variables)
        self._child_created = True
        self._close_pipe_fds(*(how[name] for name in _PIPES))


_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


def _words_after_python(command: object) -> list[str] | None:
    """Return the words after ``python`` if a command is the product's; None for others."""
    if not isinstance(command, (list, tuple)) or not command:
        return None
    words = [os.fsdecode(one) for one in command]
    if words[0] == sys.executable and words[1:3] == ["-m", "harness.cli"]:
        return words[1:]
    if words[0] == sys.executable and words[1:] and words[1].endswith("/tests/contract/fixed.py"):
        return words[1:]
    return None


@pytest.fixture(scope="session", autouse=True)
def _share_statements() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(util, "LRUCache", lambda *_, **__: _SharedStatements())  # each engine's
        yield


@pytest.fixture(scope="module")
def warm_workers() -> Iterator[None]:
    """Let a nursery start the workers of gradings in this process."""
    if not nursery.is_possible():
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crew, "subprocess", SimpleNamespace(Popen=_start))
        yield


@pytest.fixture(scope="module")
def warm_commands(warm_workers: None) -> Iterator[None]:
    """Let a nursery start the commands, too, of a module where their start is not the subject."""
    if not nursery.is_possible():
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", _WarmCommand)
        yield
