"""Starts a program as a process, and ends it with all that it leaves behind.

The session above knows neither. A sandbox has a :class:`Launcher` of its own
(:mod:`harness.sandbox.boxed_engines`): it may start programs and end them in its own way, as long
as what it starts talks on three pipes.
"""

from __future__ import annotations

import _thread
import contextlib
import errno
import os
import shlex
import sys
import time
from _signal import SIGTERM  # type: ignore[import-not-found]
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from harness.core import processes, signals
from harness.core.errors import EngineError, StarvedError, UsageError
from harness.core.file_system import join_path
from harness.core.records import Failure, FailureKind
from harness.core.typed import Protocol

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import IO, Any

    from harness.engine.spawn import PlainEngine

# Debian keeps its engines (gnugo) where root's PATH does not look.
GAME_FOLDERS = ("/usr/games", "/usr/local/games")
ORACLE = "gtp-oracle"  # our own engine, which is found without a PATH, too
# With it, Python writes a reply that was not flushed. No engine is given our own: it would pass
# here, and hang where others run it.
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
NOTHING_MORE: Mapping[str, str] = {}
_SIGTERM_PATIENCE = 0.25
# Errors of a machine that is short of processes, memory or files, whatever is started.
_SHORT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


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
            StarvedError: nothing can be started on this machine now.
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
        become_subreaper()
        signals.watch_sigchld()
        self._known: frozenset[int] = frozenset()

    def start(self, words: list[str], folder: str, output: int | None = None) -> PlainEngine:
        """Start a program; see :class:`Launcher`."""
        path = find_program(words[0])
        from harness.engine import spawn  # which needs the C library of a Unix

        make = spawn.PlainEngine if hasattr(os, "pidfd_open") else spawn.WatchedEngine
        variables = None  # ours as they are, which takes no time
        if self._variables or any(name in os.environ for name in UNBUFFERED):
            ours = {name: value for name, value in os.environ.items() if name not in UNBUFFERED}
            variables = {**ours, **self._variables}
        self._known = frozenset(children())
        with lock:  # or another thread takes it for what its own engine left
            try:
                process = make([path, *words[1:]], folder, output, variables)
            except OSError as error:
                if error.errno in _SHORT:
                    raise StarvedError(f"no engine can be started: {error.strerror}") from None
                failure = Failure(FailureKind.NOT_STARTED, _why_not(path, error))
                raise EngineError(failure) from None
            engines.add(process.pid)
        return process

    def end(self, engine: PlainEngine) -> list[str]:
        """End a program and all it started; see :class:`Launcher`."""
        if engine.status() is None:
            _signal_group(engine, SIGTERM)
            deadline = time.monotonic() + _SIGTERM_PATIENCE
            while engine.status() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            engine.kill()
        # Until it is waited for, a dead process keeps its id: nobody else's group can be hit.
        with lock:
            left = end_leftovers(self._known)
        _signal_group(engine, signals.SIGKILL)
        engine.collect()
        engines.discard(engine.pid)
        return left


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


# On Linux this process declares itself a *subreaper* (``prctl(2)``): a process whose parent is
# gone becomes our child instead of init's, so that even a daemon that forked twice can be found.
# No process can enter our session from another one; hence a child of ours in a foreign session,
# that was not there before the engine and is not an engine, is something the engine left. (Who
# runs engines in a process of his own should not start daemons in it meanwhile. Of engines in
# several threads at once, nobody can tell whose it is: all of it ends with the first of them. In a
# sandbox each has its own.)

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 1.0  # seconds for killed processes to be gone; only a kernel at fault needs more

# Processes this one started itself, and which are nobody's leftovers.
engines: set[int] = set()
lock = _thread.allocate_lock()  # held while one is started, and while leftovers are ended


def become_subreaper() -> bool:
    """Adopt the orphans among our descendants from now on; False where that is impossible."""
    return _become_subreaper(os.getpid())  # a forked process is none, though its parent is


@cache
def _become_subreaper(_pid: int) -> bool:
    import _ctypes  # ctypes, which is built on it, takes three times as long to load

    try:
        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
    except OSError:
        return False
    return bool(_ctypes.call_function(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0)


def children() -> list[int]:
    """Return the process ids of this process's children, none where /proc cannot tell."""
    return processes.children(os.getpid())


def end_leftovers(exempt_pids: frozenset[int]) -> list[str]:
    """Kill what engines left behind; return the names of those that were still running.

    ``exempt_pids``: children that we must not end (those from before the engine started).
    """
    names: dict[int, str] = {}
    deadline = time.monotonic() + _PATIENCE
    own = os.getsid(0)
    while True:
        strangers = [pid for pid in children() if pid not in exempt_pids and pid not in engines]
        orphans = []
        for pid in strangers:
            with contextlib.suppress(OSError):
                name, (state, _, _, session, *_) = processes.read_stat(pid)
                if int(session) != own:
                    orphans.append(pid)
                    names |= {pid: name} if state != "Z" else {}
        if not orphans:
            break
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signals.SIGKILL)
        gone = [_reap(pid) for pid in orphans]
        if not any(gone):
            if time.monotonic() > deadline:
                break
            time.sleep(0.001)
    return count_names(names.values())


def count_names(names: Iterable[str]) -> list[str]:
    """Return each name once, with how often it is there if that is more than once."""
    counted = Counter(names).items()
    return [f"{name} × {count}" if count > 1 else name for name, count in counted]


@contextlib.contextmanager
def end_on_exit() -> Iterator[None]:
    """End all engines if the block is left in a hurry: by Ctrl-C, a signal, or an early close.

    The code that starts an engine ends it too; but between its start and the first line that could
    do so there is always a moment.
    """
    known = frozenset(children())
    become_subreaper()
    try:
        yield
    except BaseException:
        engines.clear()
        end_leftovers(known)
        raise


def _reap(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True
