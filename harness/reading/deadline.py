"""A deadline for the matching of regular expressions.

``(a+)+b`` has two ways to go on at every further ``a`` of a text without a ``b``. Which texts are
too much for which expression cannot be told beforehand, and the text is an untrusted program's.

The engine of :mod:`re` looks for signals every 4,096 steps, so a timer ends it wherever it is;
its verdicts, look-around and back-references are its own as ever. The timer counts what this
process computes, not what the clock shows: however busy the machine, no verdict depends on it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
from collections.abc import Callable

from harness.errors import UndecidedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Result = TypeVar("Result")

LIMIT = 2.0  # seconds; what is in order takes microseconds


def within(seconds: float, test: Callable[[str], Result], text: str) -> Result:
    """Return ``test(text)``. Beside the main thread, where no signals go, there is no limit.

    Raises:
        UndecidedError: it took longer than ``seconds`` of computing.
    """
    try:
        former = signal.signal(signal.SIGVTALRM, _give_up)
    except ValueError:
        return test(text)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        return test(text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


def _give_up(_number: int, _frame: object) -> None:
    raise UndecidedError("matching took too long")
