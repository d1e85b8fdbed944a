"""Ctrl-C while a command starts, and after its end: the process leaves with one line.

Python turns SIGINT into ``KeyboardInterrupt`` wherever it happens to be. Within an import that
becomes a traceback, or another error that hides it, or it is lost. Only a command that is under
way has something to end or to keep, and gets the exception.
"""

from __future__ import annotations

# Not ``signal``, which makes enumerations first: a start of gtp-oracle gtp takes no longer than
# that alone. The constants and the functions are the same.
import _signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

INTERRUPTED = 130  # exit status; a shell's word for SIGINT


class _Leave:
    """A handler that ends the process of a command."""

    def __init__(self, command: str) -> None:
        self._command = command

    def __call__(self, _number: int, _frame: object) -> NoReturn:
        os.write(2, f"{self._command}: interrupted\n".encode())
        os._exit(INTERRUPTED)


def answer_interruptibly(command: str, answer: Callable[[], int]) -> int:
    """Return ``answer()``; Ctrl-C ends this process before :func:`reinstall_sigint`, and after it.

    Nothing changes if Ctrl-C is ignored, or somebody else's.
    """
    _leave_at_once(command)
    try:
        try:
            return answer()
        finally:
            _leave_at_once(command)
    except KeyboardInterrupt:  # it came after the answer, and before the last handler
        return _Leave(command)(0, None)


def _leave_at_once(command: str) -> None:
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _Leave(command))


def reinstall_sigint() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt`` from now on, within :func:`answer_interruptibly`."""
    if isinstance(_signal.getsignal(_signal.SIGINT), _Leave):
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
