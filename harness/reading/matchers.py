"""Processes that match regular expressions, so that one that takes too long can be ended.

Each is kept for the next text; threads that match at the same time have one each.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from signal import SIGVTALRM

from harness.errors import HarnessError, UndecidedError

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


def _answer(matcher: _Matcher, question: list[object]) -> bool:
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
