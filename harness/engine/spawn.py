"""Programs of ours, started on three pipes as :class:`subprocess.Popen` does it, and ended.

A started one is known by the descriptor that Linux has of a process, or without one, as on macOS.

Without :mod:`subprocess`: what that loads takes longer than the commands of a small file. And
without :mod:`ctypes`, which takes three times as long to load as what it is built on. The kernel's
way is the same, a process that shares our memory until it executes the program.

The C library's ``posix_spawn(3)`` is called as it is, for :func:`os.posix_spawn` cannot tell the
program's working directory: ours would have to be another one meanwhile, and with it that of all
our threads.
"""

from __future__ import annotations

import contextlib
import os
from _ctypes import Array, _SimpleCData, byref, call_function, dlopen, dlsym
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from io import FileIO

from harness.core import signals
from harness.core.processes import descendants
from harness.core.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any

    Variables = Mapping[str, str] | None  # of an environment; None: ours

_STANDARD = 3  # descriptors below are those of the standard streams
# Flags of posix_spawnattr_setflags(3).
_SETSIGDEF, _SETSIGMASK, _SETSID = 0x04, 0x08, 0x80
_CLOSE_FROM = "posix_spawn_file_actions_addclosefrom_np"
_ROOM = 1024  # bytes, for any record of the C library's own; the largest has 336


class Spawned(NamedTuple):
    """A process and our ends of its pipes."""

    pid: int
    stdin: FileIO
    stdout: FileIO | None  # None if it was given another output
    stderr: FileIO


def spawn(
    path: str,
    words: list[str],
    folder: str,
    output: int | None = None,
    variables: Variables = None,
) -> Spawned:
    """Execute ``path`` in ``folder``, in a session of its own, with no descriptor of ours.

    ``output``: the descriptor of its standard output, if that is not a pipe. ``variables``: its
    environment; None: ours. No signal is ignored or blocked in it.

    Raises :class:`OSError` if that cannot be done.
    """
    with contextlib.ExitStack() as theirs:
        ours: list[int] = []
        try:
            stdin = _pipe(theirs, ours, writes=True)
            stdout = _pipe(theirs, ours) if output is None else _move_above_streams(output, theirs)
            stderr = _pipe(theirs, ours)
            pid = _execute(path, words, folder, (stdin, stdout, stderr), variables)
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
    first, *others = ours
    heard = [FileIO(descriptor) for descriptor in others]
    return Spawned(pid, FileIO(first, "wb"), heard[0] if len(heard) > 1 else None, heard[-1])


def _pipe(cleanup: contextlib.ExitStack, descriptors: list[int], *, writes: bool = False) -> int:
    """Return the program's end of a new pipe, to be closed with ``cleanup``; note our end.

    ``writes``: we write and the program reads.
    """
    ends = os.pipe()
    descriptors.append(ends[writes])
    cleanup.callback(os.close, ends[not writes])
    return _move_above_streams(ends[not writes], cleanup)


def _move_above_streams(descriptor: int, cleanup: contextlib.ExitStack) -> int:
    """Return the descriptor, or a copy that is not a standard stream's, for those are replaced."""
    if descriptor >= _STANDARD:
        return descriptor
    import fcntl

    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _STANDARD)
    cleanup.callback(os.close, copy)
    return copy


class _Byte(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "c"


class _Integer(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "i"


class _Pointer(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "P"


class _Text(_SimpleCData):  # type: ignore[type-arg]
    _type_ = "z"  # a pointer to bytes that a zero ends


def _execute(
    path: str,
    words: list[str],
    folder: str,
    streams: tuple[int, int, int],
    variables: Variables,
) -> int:
    pid = _Integer()
    with _record("posix_spawn_file_actions") as actions, _record("posix_spawnattr") as attributes:
        _call("posix_spawn_file_actions_addchdir_np", actions, os.fsencode(folder))
        for place, descriptor in enumerate(streams):
            _call("posix_spawn_file_actions_adddup2", actions, descriptor, place)
        # Let the program have no file that we inherited ourselves; it never gets others of ours.
        if _closes_at_once():
            _call(_CLOSE_FROM, actions, _STANDARD)
        else:
            for descriptor in _list_inherited_files():
                _call("posix_spawn_file_actions_addclose", actions, descriptor)
        _call("posix_spawnattr_setflags", attributes, _SETSIGDEF | _SETSIGMASK | _SETSID)
        _call("posix_spawnattr_setsigdefault", attributes, byref(_signals(signals.CHANGEABLE)))
        _call("posix_spawnattr_setsigmask", attributes, byref(_signals(())))
        told = (byref(pid), os.fsencode(path), actions, attributes)
        environment: _Pointer | Array[Any]
        if variables is None:  # the C library's own array, which os.environ keeps up to date
            environment = _Pointer.from_address(_function("environ"))
        else:
            environment = _texts(os.fsencode("=".join(one)) for one in variables.items())
        _call("posix_spawn", *told, _texts(map(os.fsencode, words)), environment)
    return int(pid.value)


@contextlib.contextmanager
def _record(name: str) -> Iterator[Any]:
    """Give a pointer to one of the C library's records, made and destroyed by it."""
    record = byref((_Byte * _ROOM)())
    _call(f"{name}_init", record)
    try:
        yield record
    finally:
        _call(f"{name}_destroy", record)


@cache
def _signals(numbers: Sequence[int]) -> Array[Any]:
    found: Array[Any] = (_Byte * _ROOM)()
    _call("sigemptyset", byref(found))
    for number in numbers:
        _call("sigaddset", byref(found), number)
    return found


@cache
def _closes_at_once() -> bool:
    """Return whether the C library can close all files in one call, as glibc 2.34 and later."""
    try:
        _function(_CLOSE_FROM)
    except OSError:
        return False
    return True


def _texts(texts: Iterable[bytes]) -> Array[Any]:
    """Return texts as a program is given them: an array that a null pointer ends."""
    found = [*texts, None]
    return (_Text * len(found))(*found)


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library that returns the number of an error, 0 for none."""
    error = call_function(_function(name), arguments)
    if error:
        raise OSError(error, os.strerror(error))


@cache
def _function(name: str) -> int:
    return dlsym(dlopen(None, 0), name)  # type: ignore[arg-type]


def _list_inherited_files() -> Iterator[int]:
    """Yield the open files that a program would inherit: those that we inherited ourselves."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # that of the list itself
            if descriptor >= _STANDARD and os.get_inheritable(descriptor):
                yield descriptor


# Of an engine that :func:`~harness.engine.launch.end_on_exit` collected with all others.
_ENDED_IN_A_HURRY = -9  # by SIGKILL


class PlainEngine:
    """A process of our own: a :class:`~harness.engine.launch.StartedEngine`."""

    def __init__(
        self, words: list[str], folder: str, output: int | None, variables: Variables
    ) -> None:
        """Start it; see :func:`spawn`."""
        self.stdin: IO[bytes] | None
        self.stdout: IO[bytes] | None
        self.stderr: IO[bytes] | None
        found = spawn(words[0], words, folder, output, variables)
        self.pid, self.stdin, self.stdout, self.stderr = found
        self._status: int | None = None  # once it was collected

    def status(self) -> int | None:
        """Return how it ended, without collecting it: its id stays its own."""
        if self._status is not None:
            return self._status
        try:
            end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return _ENDED_IN_A_HURRY
        if end is None:
            return None
        return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status

    def kill(self) -> None:
        """End it by force, and wait for its end."""
        os.kill(self.pid, signals.SIGKILL)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def collect(self) -> None:
        """Wait for its end; from then on its id may be another's."""
        if self._status is not None:
            return
        with signals.block_interrupts():
            try:
                self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            except ChildProcessError:
                self._status = _ENDED_IN_A_HURRY

    def processes(self) -> list[int]:
        """Return the ids of it and of all it started."""
        return [self.pid, *descendants(self.pid)]

    def exit_descriptor(self) -> int:
        """Return a descriptor of the process."""
        return os.pidfd_open(self.pid)

    def find_end_cause(self) -> None:
        """Return None because nobody watches over it."""


class WatchedEngine(PlainEngine):
    """A process that a thread waits for, where the system has no descriptors of processes.

    On macOS :func:`os.pidfd_open` is missing, and in Python 3.11 ``waitid(2)`` too: nothing that
    can be polled tells of a process's end, and none can be looked at without being collected. What
    has ended is collected at once, and its id may be another's from then on; what it left in its
    session is ended a moment later, which is too soon for that to happen.
    """

    def __init__(
        self, words: list[str], folder: str, output: int | None, variables: Variables
    ) -> None:
        """Start it; see :func:`spawn`."""
        import subprocess
        from threading import Thread

        self._process = subprocess.Popen(
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=variables,
            start_new_session=True,
            preexec_fn=signals.set_defaults,  # noqa: PLW1509 - it calls nothing but the kernel
        )
        self.pid = self._process.pid
        self.stdin = self._process.stdin
        self.stdout = self._process.stdout
        self.stderr = self._process.stderr
        self._end, told = os.pipe()
        Thread(target=self._watch, args=[told], daemon=True).start()

    def _watch(self, descriptor: int) -> None:
        self._process.wait()
        os.close(descriptor)

    def status(self) -> int | None:
        """Return how it ended."""
        return self._process.returncode

    def kill(self) -> None:
        """End it by force, and wait for its end."""
        with contextlib.suppress(ProcessLookupError):  # it ended by itself just now
            self._process.kill()
        self._process.wait()

    def collect(self) -> None:
        """Wait for its end."""
        self._process.wait()

    def exit_descriptor(self) -> int:
        """Return our end of a pipe; the other end closes when the process has ended."""
        return self._end
