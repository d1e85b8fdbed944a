"""A program started on three pipes, as :class:`subprocess.Popen` does it.

Without :mod:`subprocess`: what that loads takes longer than the commands of a small file. The
kernel's way is the same, a process that shares our memory until it executes the program.
"""

from __future__ import annotations

import contextlib
import os
from _signal import SIG_BLOCK, SIG_SETMASK, pthread_sigmask  # type: ignore[import-not-found]
from collections.abc import Iterator
from io import FileIO

from harness.signals import CHANGEABLE
from harness.typed import NamedTuple

_STANDARD = 3  # descriptors below are those of the standard streams
_HERE = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


class Spawned(NamedTuple):
    """A process and our ends of its pipes."""

    pid: int
    stdin: FileIO
    stdout: FileIO | None  # None: it was given another output
    stderr: FileIO


def spawn(path: str, words: list[str], folder: str, output: int | None = None) -> Spawned:
    """Execute ``path`` in ``folder``, in a session of its own, with no descriptor of ours.

    ``output``: the descriptor of its standard output, if that is not a pipe. No signal is ignored
    or blocked in it.

    Raises :class:`OSError` if that cannot be done.
    """
    with contextlib.ExitStack() as theirs:
        ours: list[int] = []
        try:
            stdin = _pipe(theirs, ours, writes=True)
            stdout = _pipe(theirs, ours) if output is None else _above(output, theirs)
            stderr = _pipe(theirs, ours)
            pid = _execute(path, words, folder, (stdin, stdout, stderr))
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
    first, *others = ours
    heard = [FileIO(descriptor) for descriptor in others]
    return Spawned(pid, FileIO(first, "wb"), heard[0] if len(heard) > 1 else None, heard[-1])


def _pipe(theirs: contextlib.ExitStack, ours: list[int], *, writes: bool = False) -> int:
    """Return the program's end of a new pipe, to be closed with ``theirs``; add our end to ours.

    ``writes``: we write and the program reads.
    """
    ends = os.pipe()
    ours.append(ends[writes])
    theirs.callback(os.close, ends[not writes])
    return _above(ends[not writes], theirs)


def _above(descriptor: int, theirs: contextlib.ExitStack) -> int:
    """Return the descriptor, or a copy that is no standard stream's, for those are replaced."""
    if descriptor >= _STANDARD:
        return descriptor
    import fcntl

    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _STANDARD)
    theirs.callback(os.close, copy)
    return copy


def _execute(path: str, words: list[str], folder: str, streams: tuple[int, int, int]) -> int:
    actions: list[tuple[int, ...]] = [
        (os.POSIX_SPAWN_DUP2, descriptor, place) for place, descriptor in enumerate(streams)
    ]
    actions += [(os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in _inherited()]
    with _within(folder):
        return os.posix_spawn(
            path,
            words,
            os.environb,
            file_actions=actions,
            setsid=True,
            setsigmask=(),
            setsigdef=CHANGEABLE,
        )


def _inherited() -> Iterator[int]:
    """Yield the open files that a program would inherit: those that we inherited ourselves."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # that of the list itself
            if descriptor >= _STANDARD and os.get_inheritable(descriptor):
                yield descriptor


@contextlib.contextmanager
def _within(folder: str) -> Iterator[None]:
    """Let a folder be the working directory; whatever signal comes waits until it no longer is."""
    before = pthread_sigmask(SIG_BLOCK, ())
    try:
        pthread_sigmask(SIG_BLOCK, CHANGEABLE)
        here = os.open(".", _HERE)
        try:
            os.chdir(folder)
            yield
        finally:
            os.fchdir(here)
            os.close(here)
    finally:
        pthread_sigmask(SIG_SETMASK, before)
