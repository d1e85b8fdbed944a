"""Second opinions: decide which result to believe if an attempt ran on several machines.

Two runs agree if they have the same verdicts and the same kinds of engine failure; the output of
an engine may differ. If two runs differ, a third one decides. A worker that two others, on other
machines, outvote is a liar, or its machine is broken. A machine that says the same twice has one
vote. If there are only two, and each stays with what it said, nobody can tell which is right: that
is a harness error, which costs no marks, and a person is told. Pure.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.records import FileResult
from harness.work import canonical_json
from harness.work.canonical_json import NOTHING
from harness.work.worker_events import AttemptFinished, HarnessFailed

_ENOUGH = 3  # opinions


class RoundVerdict(NamedTuple):
    """The result of a round: what is believed."""

    word: AttemptFinished | HarnessFailed
    liars: tuple[str, ...] = ()  # addresses of workers
    why: str = ""  # something was wrong


class _Opinion(NamedTuple):
    address: str
    machine: str
    word: AttemptFinished


class Opinions:
    """The results of several workers for the same attempts."""

    def __init__(self) -> None:
        self._found: dict[str, list[_Opinion]] = {}

    def add(self, address: str, machine: str, word: AttemptFinished) -> RoundVerdict | None:
        """Take in what a worker says; return what is believed, None: another one is to say it."""
        found = self._found.setdefault(word.basis, [])
        found.append(_Opinion(address, machine, word))
        first = found[0]
        if len(found) == 1:
            return None
        if len(found) < _ENOUGH and not _agree(first.word, word):
            return None
        if len(found) < _ENOUGH:
            return RoundVerdict(first.word)
        return _of_three(found)

    def machines(self, basis: str) -> set[str]:
        """Return where an attempt was done."""
        return {one.machine for one in self._found.get(basis, [])}

    def close(self, basis: str) -> RoundVerdict | None:
        """Return the verdict if no other opinion can come, or None without opinions.

        If one alone has said something, that is. Two that differ decide nothing.
        """
        found = self._found.get(basis, [])
        if len(found) > 1:
            return _refuse_all(found)
        return RoundVerdict(found[0].word) if found else None


def _of_three(found: list[_Opinion]) -> RoundVerdict:
    """Return the verdict of three opinions; the first two differ."""
    last = found[-1]
    machines = {one.machine for one in found}
    for believed, other in ((found[0], found[1]), (found[1], found[0])):
        if _agree(believed.word, last.word):
            if believed.machine == last.machine:
                return _refuse_all(found)
            why = "its result of a case file differs from that of two others"
            is_sure = len(machines) == _ENOUGH
            liars = (other.address,) if is_sure else ()
            return RoundVerdict(believed.word, liars, why if is_sure else _unsure(found))
    # Nobody agrees with anybody: it is rerun, alone.
    return RoundVerdict(found[0].word._replace(doubtful=True), (), _unsure(found))


def _refuse_all(found: list[_Opinion]) -> RoundVerdict:
    """Return that no result is believed: a mark that may be wrong is worse than none."""
    why = f"{_unsure(found)}. A worker on another machine would decide"
    return RoundVerdict(HarnessFailed(found[0].word.basis, why), (), why)


def _unsure(found: list[_Opinion]) -> str:
    machines = ", ".join(dict.fromkeys(one.machine for one in found))
    return f"runs on {machines} differ, and nothing tells which of them is right"


def _agree(one: AttemptFinished, other: AttemptFinished) -> bool:
    return _verdicts(one.result) == _verdicts(other.result)


def _verdicts(text: str) -> object:
    if text == NOTHING:
        return None
    result = canonical_json.loads(FileResult, text)
    verdicts = [(outcome.step, outcome.verdict) for outcome in result.outcomes]
    return verdicts, [failure.kind for failure in result.failures]
