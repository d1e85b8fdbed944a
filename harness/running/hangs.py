"""The wait for engines that hang: how long each is waited for, and what happens to it.

An engine that computes for ever would keep a processor from all others. So while others wait, a
command that asks something is waited for only for a *short limit* of computing, and for less when
it is asked again in the same case file (:class:`ShortLimits`). None of this costs a mark: what was
cut short is in doubt, until the engine has hung for its full limit: at once if a place is left to
those who wait, else when nobody else waits (:class:`PostponedError`). What is not sure then, as
others computed beside it, is run again with nothing beside it (:mod:`harness.work.fairness`).

An engine that sleeps keeps nobody waiting. It has its full limit, until it has hung three times.

An engine that does not answer within a short limit then is left alone, asleep, and the file goes
on with another one. At its end all that were left are waited for together. So they hang side by
side, for their full limit each; one that does anything meanwhile may not have hung at all, and
makes the whole run worth nothing: it is *late*.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

from harness.engine.engine_clock import LOOK
from harness.engine.engine_session import EngineSession

HANGS = 3  # with the full limit, before it gets short
PART = 10  # the short limit is this part of the full one
LEAST = 2.0  # seconds
_PART_AGAIN = 120  # the limit of a command that was just cut short is this part of the full one
_LEAST_AGAIN = 0.25  # seconds


class PostponedError(Exception):
    """The engine computes without an answer: its case file is to be run after all others."""


def short_limit(limit: float) -> float:
    """Return the short limit of a command that has ``limit`` seconds."""
    return min(limit, max(LEAST, limit / PART))


class ShortLimits:
    """Limits after which a command is cut short, by the commands' names.

    The start is a command, too: "". One of these for all case files of a submission that are run
    one after the other.
    """

    def __init__(
        self,
        hanging_commands: Collection[str] = (),
        slow_commands: Collection[str] = (),
        *,
        alone: bool = False,
    ) -> None:
        """``hanging_commands``: those at which it has hung for the full limit, alone.

        ``slow_commands``: those that it is known to answer later than the short limit. ``alone``:
        nobody waits: all but those that hung have their full limit.
        """
        self._hung = hanging_commands
        self._patient = set(slow_commands)
        self._alone = alone
        self._cut: set[str] = set()  # the commands that were cut, and not answered since
        self._cut_here: set[str] = set()  # those of this case file
        self.is_image = False
        self._may_go_on: Callable[[float], bool] | None = None
        self.goes_on = False  # the command under way, for its full limit

    def begin_file(
        self, *, is_image: bool = False, may_go_on: Callable[[float], bool] | None = None
    ) -> None:
        """Let another case file begin: it may ask what the engine answers, if given time.

        ``is_image``: of a case file, which gives no points: a command that was cut in others is
        asked once, and not for long. ``may_go_on``: whether a command of so many seconds, instead
        of being cut short, has its full limit at once: nobody needs this processor. It may raise
        :class:`PostponedError`. None: it has not.
        """
        self.is_image = is_image
        self._may_go_on = None if is_image else may_go_on
        self._cut_here = set(self._cut) if is_image else set()

    def of(self, name: str, limit: float, *, thinks: bool) -> float:
        """Return the seconds of computing after which a command is cut short; 0: never."""
        short = short_limit(limit)
        if self._alone:
            return short if name in self._hung and name not in self._patient else 0.0
        if name in self._patient or short == limit:
            return 0.0
        if thinks:
            return short if name in self._cut else limit
        if name in self._cut_here:
            return min(short, max(_LEAST_AGAIN, limit / _PART_AGAIN))
        return short

    def may_go_on(self, name: str, limit: float) -> bool:
        """Whether a command, instead of being cut short, has its full limit at once."""
        asked = None if name in self._cut else self._may_go_on
        self.goes_on = asked is not None and asked(limit)
        return self.goes_on

    def note_cut(self, name: str) -> None:
        """Take note that a command was cut short, or hung after it was not."""
        self.goes_on = False
        self._cut.add(name)
        self._cut_here.add(name)

    def note_answer(self, name: str) -> None:
        """Take note that a command was answered."""
        if self.goes_on:  # it is slow
            self._patient.add(name)
            self.goes_on = False
        self._cut.discard(name)
        self._cut_here.discard(name)


class HangPolicy:
    """The hangs of a submission; ``late``: those of the file run last."""

    def __init__(
        self,
        short: ShortLimits | None = None,
        hangs: int = 0,
        on_hang: Callable[[], object] = lambda: None,
    ) -> None:
        """``short``: its short limits. ``hangs``: how often it has hung for its full limit so far.

        ``on_hang``: is told when it does so once more.
        """
        self.short = short or ShortLimits()
        self.hangs = hangs
        self._on_hang = on_hang
        self.late = False

    def note_hang(self) -> None:
        """Take note that it has hung with its full limit."""
        self.hangs += 1
        self._on_hang()

    def seconds(self, limit: float) -> float:
        """Return the short limit of a command that has ``limit`` seconds, or 0."""
        short = short_limit(limit)
        return short if self.hangs >= HANGS and short < limit else 0.0


def do_anything(sessions: Sequence[EngineSession]) -> bool:
    """Wait for engines that were left until their limits are over, for all at the same time.

    Returns at once when one of them writes something or ends; False: each of them hung.

    Raises:
        StarvedError: the machine is too busy to tell.
    """
    waiting = list(sessions)
    for session in waiting:
        session.wait_on()
    while waiting:
        if any(session.stirs() for session in waiting):
            return True
        begun = time.monotonic()
        time.sleep(LOOK)
        slept = min(time.monotonic() - begun, LOOK + 0.001)
        waiting = [session for session in waiting if not session.is_over(slept)]
    return any(session.stirs() for session in sessions)
