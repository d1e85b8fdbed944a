"""Makes a change in a copy of the project and runs the tests that reach it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from tests.mutation.copying import Copy
from tests.mutation.plugins import function
from tests.mutation.reach import Reach, Reacher
from tests.mutation.servers import Server
from tests.mutation.serving import Answer, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.mutation.drawing import Change

_BATCHES = (1.0, 5.0)  # seconds of CPU time of the first two; a first few tests mostly notice
_LATER = 30.0
# A test hangs when it takes so many times what it takes without a change, and so many seconds.
_CPU, _WALL = (5, 10.0), (10, 30.0)


class Outcome(StrEnum):
    """What came of a change."""

    NOTICED = "noticed"
    EQUIVALENT = "equivalent"  # it changes nothing: ``equivalent.toml`` says why
    SURVIVED = "survived"


class Tried(NamedTuple):
    """What came of a change: ``by``: the test that noticed; ``tests``: tests that reach it.

    ``cpu``: seconds that all runs took.
    """

    outcome: Outcome
    by: str = ""
    tests: int = 0
    cpu: float = 0.0


class Trial:
    """A copy in which one change at a time is made, and a server for it."""

    def __init__(
        self, folder: Path, reach: Reach, kills: Callable[[str, str], int], most: float
    ) -> None:
        """``folder``: is made. ``kills``: how many changes in a module a test has noticed.

        ``most``: seconds of CPU time after which no more tests are asked about a change.
        """
        self._folder = folder
        self._number = 0  # of copies that were destroyed
        self._copy = Copy(folder)
        self._server = Server(self._copy)
        self._reach = reach
        self._kills = kills
        self._most = most
        self._fit: set[str] = set()  # tests that pass by themselves without a change
        self._unfit: set[str] = set()  # tests that do not
        self._cpu = 0.0

    def close(self) -> None:
        self._server.close()

    def attempt(self, change: Change) -> Tried:
        """Make a change and run the tests that reach it until one fails because of it."""
        text = self._copy.original(change.module)
        reachers = self._reach.tests(change.module, text, change.line)
        self._cpu = 0.0
        for batch in _batches(self._sorted(reachers, change.module), self._reach.collecting):
            if by := self._noticing(change, batch):
                return Tried(Outcome.NOTICED, by, len(reachers), self._cpu)
            if self._cpu > self._most:
                break
        return Tried(Outcome.SURVIVED, "", len(reachers), self._cpu)

    def _sorted(self, reachers: list[Reacher], module: str) -> list[Reacher]:
        """Sort tests: those first that noticed changes in the module."""
        fit = [one for one in reachers if one.test not in self._unfit]
        return sorted(fit, key=lambda one: -self._kills(module, one.test))

    def _noticing(self, change: Change, batch: list[Reacher]) -> str:
        """Return the test of a batch that fails, or hangs, only with a change; "" if none does."""
        while batch:
            self._copy.write(change.module, change.text)
            answer = self._run(batch)
            culprit = answer.failed or answer.hung
            if not culprit or self._is_confirmed(change, batch, culprit):
                self._restore(change.module)
                return culprit
            batch = [one for one in batch if one not in _alone(batch, culprit)]
        self._restore(change.module)
        return ""

    def _is_confirmed(self, change: Change, batch: list[Reacher], culprit: str) -> bool:
        """Return whether a test fails by itself as well, and passes without the change."""
        alone = _alone(batch, culprit)
        if not _fails(self._run(alone)):
            return False
        if culprit not in self._fit:
            self._restore(change.module)
            is_unfit = _fails(self._run(alone))
            (self._unfit if is_unfit else self._fit).add(culprit)
        return culprit in self._fit

    def _restore(self, module: str) -> None:
        """Take a change back; what it has destroyed is copied again."""
        if self._copy.is_whole():
            self._copy.restore(module)
            return
        self._server.close()
        self._number += 1
        self._copy = Copy(self._folder.with_name(f"{self._folder.name}-{self._number}"))
        self._server = Server(self._copy)

    def _run(self, batch: list[Reacher]) -> Answer:
        files = list(dict.fromkeys(_file(one.test) for one in batch))
        cpu = sum(one.cpu for one in batch) + sum(map(self._reach.collecting, files))
        wall = sum(one.wall for one in batch) + cpu
        limits = (_CPU[0] * cpu + _CPU[1], _WALL[0] * wall + _WALL[1])
        answer = self._server.run(Request(files, [one.test for one in batch], "full", *limits))
        self._cpu += answer.cpu
        return answer


def _batches(
    reachers: list[Reacher], collecting: Callable[[str], float]
) -> Iterator[list[Reacher]]:
    """Yield tests in batches, those of one file in a batch beside each other."""
    sizes, batch, files, cpu = list(_BATCHES), list[Reacher](), dict[str, int](), 0.0
    for one in reachers:
        more = one.cpu + (0 if (file := _file(one.test)) in files else collecting(file))
        if batch and cpu + more > (sizes[0] if sizes else _LATER):
            yield sorted(batch, key=lambda one: files[_file(one.test)])
            sizes, batch, files, cpu = sizes[1:], [], {}, 0.0
            more = one.cpu + collecting(file)
        files.setdefault(file, len(files))
        batch.append(one)
        cpu += more
    if batch:
        yield sorted(batch, key=lambda one: files[_file(one.test)])


def _fails(answer: Answer) -> bool:
    return bool(answer.failed or answer.hung)


def _alone(batch: list[Reacher], culprit: str) -> list[Reacher]:
    """Return the tests that are a culprit: a test, one with other parameters, a file, or all."""
    names = ({one: name(one.test) for one in batch} for name in (str, function, _file))
    found = ([one for one in batch if by[one] in (culprit, function(culprit))] for by in names)
    return next((tests for tests in found if tests), batch)


def _file(test: str) -> str:
    return test.partition("::")[0]
