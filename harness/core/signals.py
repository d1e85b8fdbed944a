"""Signals: what a process inherits of them, and how it ends by them.

A signal that is ignored, and one that is blocked, stays so in every program that is executed after
that: under ``nohup … &``, in a shell's background job, on some machines of continuous integration.
We leave what we ourselves inherit as it is: who starts us so wants that. An engine never inherits
it, and neither does what the harness itself cannot do without.
"""

from __future__ import annotations

# Not ``signal``, which makes enumerations first, and of what it returns: the functions are the
# same, and there are 60 signals.
import _signal as signal  # type: ignore[import-not-found]
import contextlib
import sys
from _signal import SIG_DFL, SIG_IGN, SIGINT, SIGTERM
from collections.abc import Iterator
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Windows has none of these.
SIGCHLD: Any = getattr(signal, "SIGCHLD", None)
SIGHUP: Any = getattr(signal, "SIGHUP", None)
SIGKILL: Any = getattr(signal, "SIGKILL", None)
SIGSTOP: Any = getattr(signal, "SIGSTOP", None)
_HAS_TIMERS = hasattr(signal, "setitimer")
_SOON = 0.01  # seconds
_ECHO = 0.5  # seconds after a signal in which another one is the same wish
_times: list[float] = []  # of time.monotonic(), when signals came
_received: list[int] = []  # the numbers of signals that ended what was under way
_holds: list[None] = []  # one for each block_interrupts() that is under way
_waiting: list[int] = []  # the numbers of signals that came meanwhile
CHANGEABLE = tuple(sorted(signal.valid_signals() - {SIGKILL, SIGSTOP}))


def set_defaults() -> None:
    """Let every signal do what it does by default, and block none: for what executes an engine."""
    for number in CHANGEABLE:
        with contextlib.suppress(OSError):  # one that the C library keeps for itself
            signal.signal(number, SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def watch_sigchld() -> None:
    """Let the kernel tell how children ended: where SIGCHLD is ignored it forgets that at once."""
    with contextlib.suppress(ValueError):  # not the main thread
        if SIGCHLD is not None and signal.getsignal(SIGCHLD) == SIG_IGN:
            signal.signal(SIGCHLD, SIG_DFL)


def end_on_sigterm() -> None:
    """Let SIGTERM unwind the stack of this process, a worker of ours, even where we ignore it.

    Only the first one does: another would break off what is done at the end.
    """
    _holds.clear()  # those of the process that forked this one
    has_come = SIGTERM in _waiting  # since the fork, and nobody sends it again
    _waiting.clear()
    signal.signal(SIGTERM, _end_once)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [SIGTERM])
    if _HAS_TIMERS:
        _raise_lost_ones_again()
    if has_come:
        signal.raise_signal(SIGTERM)


def _end_once(number: int, frame: object) -> None:
    if _waits(number):
        return
    signal.signal(number, _nothing)
    _end(number, frame)


def _nothing(_number: int, _frame: object) -> None:
    """A handler, for a signal that is ignored stays so in what is executed."""


def leave_sigint_to_the_parent() -> None:
    """Let Ctrl-C do nothing to this process, a worker: its parent gets it, and ends it."""
    if signal.getsignal(SIGINT) != SIG_IGN:
        signal.signal(SIGINT, _nothing)


@contextlib.contextmanager
def hold_back() -> Iterator[None]:
    """Let SIGTERM wait for the end of something that must be done as a whole."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [SIGTERM])


@contextlib.contextmanager
def block_interrupts() -> Iterator[None]:
    """Delay all interrupts until a few lines have run.

    The kernel tells some things once, such as how a process ended. They must be read and stored
    in one piece: code interrupted in between would wait for them again, and for ever. (Blocking
    the signals is not enough: the kernel hands a signal for the process to any of its threads,
    and Python then runs its handler in the main one.)
    """
    _holds.append(None)
    try:
        yield
    finally:
        _holds.pop()
        while _waiting and not _holds:
            signal.raise_signal(_waiting.pop())


def _waits(number: int) -> bool:
    """Whether a signal has to wait; it is raised again then."""
    if _holds:
        _waiting.append(number)
    return bool(_holds)


@contextlib.contextmanager
def let_through() -> Iterator[None]:
    """Let SIGTERM come at once, within what is :func:`hold_back`."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, [SIGTERM])


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: what a command does after Ctrl-C, it does after these.

    (Not ``SystemExit``: Hypothesis takes that for a failure of what it tries, and continues.)
    """


def _interrupt(number: int, frame: object) -> None:
    if not _waits(number):
        signal.default_int_handler(number, frame)


def _end(number: int, _frame: object) -> None:
    if _waits(number):
        return
    # timeout(1) sends its signal twice, to us and to our group: once is enough.
    is_echo = bool(_times) and monotonic() - _times[-1] < _ECHO
    _times.append(monotonic())
    if not is_echo:
        _received.append(number)
        raise Terminated


def exit_status() -> int:
    """Return the exit status after an interrupt, as shells count: 128 and the signal's number."""
    return 128 + (_received or [SIGINT])[0]


@contextlib.contextmanager
def ending_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack, as Ctrl-C does, so that engines are ended."""
    # One that is ignored, as under nohup, stays so; one that is handled is somebody else's.
    usual = {SIGTERM: SIG_DFL, SIGHUP: SIG_DFL, SIGINT: signal.default_int_handler}
    known = ((number, former) for number, former in usual.items() if number is not None)
    ours = {number: former for number, former in known if signal.getsignal(number) == former}
    try:
        for number in ours:
            _times.clear()  # what ended something else is not an echo
            _received.clear()  # nor is it the reason why this ends
            signal.signal(number, _interrupt if number == SIGINT else _end)
    except ValueError:  # not the main thread
        ours = {}
    try:
        with _losing_none() if SIGTERM in ours and _HAS_TIMERS else contextlib.nullcontext():
            yield
    finally:
        for number, former in ours.items():
            signal.signal(number, former)


@contextlib.contextmanager
def _losing_none() -> Iterator[None]:
    """Raise lost interrupts again in here; see :func:`_raise_lost_ones_again`."""
    tell, former = _raise_lost_ones_again()
    try:
        yield
    finally:
        sys.unraisablehook = tell
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def _raise_lost_ones_again() -> tuple[Any, Any]:
    """Raise an interrupt again that came where Python can only print what is raised.

    That is a finalizer, a callback of a weak reference, or one of the garbage collector, such as
    Hypothesis has. Return the hook and the handler that were there before.
    """
    tell = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _SOON)
        else:
            tell(lost)

    def again(number: int, _frame: object) -> None:
        if not _waits(number):
            raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, again)
    sys.unraisablehook = hook
    return tell, former
