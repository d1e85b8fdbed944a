"""The most steps that a regular expression may take, and processes that match those with more."""

import atexit
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined, unused-ignore]
from re import _parser  # type: ignore[attr-defined, unused-ignore]
from signal import SIGVTALRM
from typing import Any

from harness.core.errors import HarnessError, UndecidedError
from harness.core.typed import NamedTuple

Nodes = Iterable[tuple[Any, Any]]

MOST = 1 << 21  # steps, which take a tenth of a second or two
_SHORTEST = 64  # characters: texts that are shorter are not told apart


class Effort(NamedTuple):
    """Bounds of what a part of an expression does from one place of a text."""

    ways: int  # in which it can match
    steps: int  # to try them all


class Bound:
    """Tells for which lengths of texts an expression takes few steps, each length worked out once.

    ``is_search``: it is searched, from each place of a text.
    """

    def __init__(self, expression: str, flags: int, *, is_search: bool) -> None:
        """Take an expression as Python's :mod:`re` reads it with some flags."""
        self._nodes = list(_parser.parse(expression, flags))
        self._anywhere = is_search
        self._few = -1  # the longest length that is known to take few steps
        self._many: float = float("inf")  # the shortest length that is known not to

    def allows(self, length: int) -> bool:
        """Whether a text of so many characters takes few steps for certain."""
        if length <= self._few:
            return True
        if length >= self._many:
            return False
        for longer in (max(_SHORTEST, 1 << length.bit_length()), length):
            try:
                steps = _sequence(self._nodes, longer).steps
            except RecursionError:  # groups within groups
                return False
            if (steps * (longer + 1) if self._anywhere else steps) <= MOST:
                self._few = longer
                return True
            self._many = min(self._many, longer)
        return False


find_bound = lru_cache(1024)(Bound)  # the same each time: it remembers what was worked out


def _sequence(nodes: Nodes, length: int) -> Effort:
    """Return the effort of parts one after the other: the second is tried after each way."""
    ways, steps = 1, 1
    for kind, value in nodes:
        own = _KINDS[kind](value, length) if kind in _KINDS else Effort(1, 1)
        steps = min(steps + ways * own.steps, MOST + 1)
        ways = min(ways * own.ways, MOST + 1)
    return Effort(ways, steps)


def _either(nodes: Iterable[Nodes | None], length: int) -> Effort:
    choices = [_sequence(one or (), length) for one in nodes]
    return Effort(sum(one.ways for one in choices), sum(one.steps + 1 for one in choices))


def _repeat(value: tuple[int, int, Nodes], length: int) -> Effort:
    """Return the effort of all numbers of rounds; one that matches nothing is the last."""
    least, most, nodes = value
    once = _sequence(nodes, length)
    rounds = min(int(most), max(least, length) + 1)
    if once.ways == 1:
        return Effort(rounds + 1, min(rounds * once.steps + 1, MOST + 1))
    ways, ends, tried = 1, 1, 0  # ends: ways of the rounds so far
    for _ in range(rounds):
        tried += ends
        if tried > MOST:
            break
        ends = min(ends * once.ways, MOST + 1)
        ways += ends
    return Effort(min(ways, MOST + 1), min(tried * once.steps + 1, MOST + 1))


def _within(effort: Effort) -> Effort:
    """Return the effort of what is not entered again once it has matched."""
    return Effort(1, effort.steps)


_KINDS: dict[Any, Callable[[Any, int], Effort]] = {
    ops.BRANCH: lambda value, length: _either(value[1], length),
    ops.IN: lambda value, _: Effort(1, len(value)),
    ops.SUBPATTERN: lambda value, length: _sequence(value[3], length),
    ops.MAX_REPEAT: _repeat,
    ops.MIN_REPEAT: _repeat,
    ops.POSSESSIVE_REPEAT: lambda value, length: _within(_repeat(value, length)),
    ops.ATOMIC_GROUP: lambda value, length: _within(_sequence(value, length)),
    ops.ASSERT: lambda value, length: _within(_sequence(value[1], length)),
    ops.ASSERT_NOT: lambda value, length: _within(_sequence(value[1], length)),
    ops.GROUPREF: lambda _, length: Effort(1, length + 1),
    ops.GROUPREF_EXISTS: lambda value, length: _either(value[1:], length),
}


# --- Processes that match regular expressions, so that one that takes too long can be ended ------
# Each is kept for the next text; threads that match at the same time have one each.

_PROGRAM = Path(__file__).with_name("matching.py")


def ask(question: list[object]) -> bool:
    """Return the answer to a question of :mod:`harness.reading.matching`.

    A process that waited may have been killed meanwhile, say for want of memory: then a new one is
    asked.

    Raises:
        UndecidedError: it took too long.
        HarnessError: a new process ended otherwise.
    """
    try:
        waiting = _waiting.pop()
    except IndexError:  # whatever other threads do
        return _answer(_Matcher(), question)
    try:
        return _answer(waiting, question)
    except UndecidedError:
        raise
    except HarnessError:
        return _answer(_Matcher(), question)


def _answer(matcher: "_Matcher", question: list[object]) -> bool:
    """Ask a process, which waits for the next question afterwards, or is ended."""
    try:
        found = matcher.ask(question)
    except BaseException:
        matcher.end()
        raise
    _waiting.append(matcher)
    return found


class _Matcher:
    """A process that matches."""

    def __init__(self) -> None:
        # In our session, so that nobody takes it for an engine's leftover, but not in our
        # group: Ctrl-C is for us.
        self._process = subprocess.Popen(
            [sys.executable, "-ISs", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        )

    def ask(self, question: list[object]) -> bool:
        """Return the answer to a question.

        Raises:
            UndecidedError: the process was ended, for it has computed too long.
            HarnessError: it ended otherwise.
        """
        assert self._process.stdin
        assert self._process.stdout
        with contextlib.suppress(BrokenPipeError):  # its end is seen below
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        if answer := self._process.stdout.readline():
            return bool(json.loads(answer))
        status = self._process.wait()
        if status == -SIGVTALRM:
            raise UndecidedError("matching took too long")
        raise HarnessError(f"the process that matches expressions ended ({status})")

    def end(self) -> None:
        """End the process, if it has not ended."""
        self._process.kill()
        self._process.wait()
        self.leave()

    def leave(self) -> None:
        """Close our ends of its pipes: it is another process's, or has ended."""
        self._process.returncode = self._process.returncode or 0
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()


# Taking one from the end of a list and adding one there is done at once, whatever the thread.
_waiting: list[_Matcher] = []


def end_all() -> None:
    """End the processes that wait: a worker that ends without handlers would leave them behind."""
    while _waiting:
        _waiting.pop().end()


def _leave_all() -> None:
    """Leave the processes to our parent: we were forked."""
    while _waiting:
        _waiting.pop().leave()


atexit.register(end_all)
os.register_at_fork(after_in_child=_leave_all)
