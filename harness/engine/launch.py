"""Starts a program as a process, and ends it.

The session above knows neither. A sandbox has a :class:`Launcher` of its own
(:mod:`harness.sandbox.boxed_engines`): it may start programs and end them in its own way, as long
as what it starts talks on three pipes.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import time
from _signal import SIGTERM  # type: ignore[import-not-found]
from collections.abc import Mapping

from harness import signals
from harness.engine import leftovers
from harness.engine.pidfd_process import PlainEngine
from harness.errors import EngineError, UsageError
from harness.paths import join_path
from harness.records import Failure, FailureKind
from harness.signals import SIGKILL
from harness.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

# Debian keeps its engines (gnugo) where root's PATH does not look.
GAME_FOLDERS = ("/usr/games", "/usr/local/games")

ORACLE = "gtp-oracle"  # our own engine, which is found without a PATH, too

# With it, Python writes a reply that was not flushed. No engine is given our own: it would pass
# here, and hang where others run it.
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
NOTHING_MORE: Mapping[str, str] = {}

_SIGTERM_PATIENCE = 0.25


def with_seed(program: str) -> str:
    """Return the command string with a random number for ``%SRAND``, as gogui-regress does."""
    return program.replace("%SRAND", str(int.from_bytes(os.urandom(2)) >> 1))


def split_program(program: str) -> list[str]:
    """Split a command string as a shell would, without being one.

    Raises:
        UsageError: it is empty, or a quote is open.
    """
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise UsageError(f"the program's command {program!r} cannot be split: {error}") from None
    if not words:
        raise UsageError("the program's command is empty")
    return words


def as_typed(words: list[str], folder: str = "") -> list[str]:
    """Return a command whose relative files are found from here: the engine starts elsewhere.

    ``folder``: where it was typed, if not in the working directory. A word is taken for a file's
    name if it has a slash or a dot and there is such a file; after an option's ``=``, too. Others,
    ``gtp`` for instance, may well mean something else.
    """
    first = _absolute(words[0], folder) if "/" in words[0] else words[0]
    return [first, *(_from_here(word, folder) for word in words[1:])]


def _from_here(word: str, folder: str) -> str:
    option, sign, name = word.rpartition("=") if word.startswith("-") else ("", "", word)
    if not ("/" in name or "." in name) or not os.path.isfile(os.path.join(folder, name)):
        return word
    return f"{option}{sign}{_absolute(name, folder)}"


def _absolute(path: str, folder: str = "") -> str:
    return join_path(os.path.abspath(folder), path)


def search_path(name: str) -> str:
    """Return the folders in which a program of that name is looked for, as PATH has them."""
    folders = [os.environ.get("PATH", os.defpath), *GAME_FOLDERS]
    if name == ORACLE:
        own = (sys.executable, sys.argv[0])  # the harness's Python, and its program
        folders += [os.path.dirname(os.path.abspath(path)) for path in own]
    return os.pathsep.join(folders)


def find_program(name: str) -> str:
    """Return the absolute path of ``name``: from here if it has a slash, else from PATH.

    Engines start in the folder of their case file, so a relative path must be resolved before.
    """
    if "/" in name:
        return _absolute(name)
    import shutil

    found = shutil.which(name, path=search_path(name))
    if found is None:
        nowhere = f"there is no program {name!r} on the PATH or in {' or '.join(GAME_FOLDERS)}"
        message = f"The engine could not be started: {nowhere}."
        raise EngineError(Failure(FailureKind.NOT_STARTED, message))
    return found


class StartedEngine(Protocol):
    """A program that has been started."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Our end of its standard input."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """Our end of its standard output; None if that is a terminal."""

    @property
    def stderr(self) -> IO[bytes] | None:
        """Our end of its standard error."""

    def status(self) -> int | None:
        """Return how it ended, as ``Popen.returncode``; None while it runs, or if it was ended."""

    def processes(self) -> list[int]:
        """Return the ids of its processes, of those it started too; none before there are any."""

    def exit_descriptor(self) -> int:
        """Return a new descriptor, the caller's, that can be read once it has ended."""

    def find_end_cause(self) -> EngineError | None:
        """Return why it was ended from outside, by a limit for instance, if it was."""


class Launcher(Protocol):
    """Starts programs and ends them, with all they have started."""

    def start(self, words: list[str], folder: str, output: int | None = None) -> StartedEngine:
        """Start the program ``words`` in ``folder`` with three pipes.

        ``output``: what its standard output is instead of a pipe (a terminal's descriptor).

        Raises:
            EngineError: NOT_STARTED, with the reason.
        """

    def end(self, engine: Any) -> list[str]:
        """End what :meth:`start` returned, by force if it still runs, and all that it started.

        Returns the names of the processes it left behind.
        """


class PlainLauncher:
    """Starts programs as they are, each in a session of its own, and ends them with all theirs."""

    def __init__(self, variables: Mapping[str, str] = NOTHING_MORE) -> None:
        """``variables``: that engines get besides ours."""
        self._variables = variables
        leftovers.become_subreaper()
        signals.watch_sigchld()
        self._known: frozenset[int] = frozenset()

    def start(self, words: list[str], folder: str, output: int | None = None) -> PlainEngine:
        """Start a program; see :class:`Launcher`."""
        path = find_program(words[0])
        self._known = frozenset(leftovers.children())
        with leftovers.lock:  # or another thread takes it for what its own engine left
            try:
                process = _start([path, *words[1:]], folder, output, self._variables)
            except OSError as error:
                failure = Failure(FailureKind.NOT_STARTED, _why_not(path, error))
                raise EngineError(failure) from None
            leftovers.engines.add(process.pid)
        return process

    def end(self, engine: PlainEngine) -> list[str]:
        """End a program and all it started; see :class:`Launcher`."""
        if engine.status() is None:
            _signal_group(engine, SIGTERM)
            _wait_for_exit(engine, _SIGTERM_PATIENCE)
            engine.kill()
        # Until it is waited for, a dead process keeps its id: nobody else's group can be hit.
        with leftovers.lock:
            left = leftovers.end_leftovers(self._known)
        _signal_group(engine, SIGKILL)
        engine.collect()
        leftovers.engines.discard(engine.pid)
        return left


def _start(
    words: list[str], folder: str, output: int | None, more: Mapping[str, str]
) -> PlainEngine:
    ours = {name: value for name, value in os.environ.items() if name not in UNBUFFERED}
    variables = {**ours, **more}
    if hasattr(os, "pidfd_open"):
        return PlainEngine(words, folder, output, variables)
    from harness.engine.polled_process import WatchedEngine

    return WatchedEngine(words, folder, output, variables)


def _wait_for_exit(engine: PlainEngine, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while engine.status() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def describe_end(status: int) -> str:
    """Say how a process ended: ``Popen.returncode`` in words that follow "the engine …"."""
    if status < 0:
        return f"was killed by {_signal_name(-status)}"
    import signal

    if status > 128 and status - 128 in set(signal.Signals):
        return f"ended with exit status {status}, which usually means {_signal_name(status - 128)}"
    return f"ended with exit status {status}"


def _signal_name(number: int) -> str:
    import signal

    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({(signal.strsignal(number) or '').lower()})"


def _signal_group(process: PlainEngine, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _why_not(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and os.path.exists(path):
        reason = "its first line names an interpreter that does not exist"
    elif isinstance(error, FileNotFoundError):
        reason = "there is no such file"
    elif isinstance(error, PermissionError):
        reason = "it is not executable (chmod +x would make it so)"
    else:
        reason = "it is neither a binary for this machine nor a script that begins with #!"
    return f"The engine {path} could not be started: {reason}."
