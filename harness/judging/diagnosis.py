"""The diagnosis of an engine: a smallest set of mistakes that explains its failures.

Mistakes (:mod:`oracle.mistakes`) explain results when an engine that makes them all gives the
same wrong answers to the same tests, passes where the engine passed, refuses the same setup, and
breaks down at the same commands. One difference, and they are not named.

Several sets may explain the same results: then nothing in them tells which it is, and all are
named. Where :data:`TOO_MANY` or more fit, nothing is said: the failures tell too little. Nor is
anything said where several mistakes are needed for fewer than :data:`SUPPORT` failures each: some
mistakes explain most single failures, though the engine makes another one that the bank lacks.

An engine may also make a mistake that the bank lacks beside one that it has. So where no set
explains all failures, a single mistake may be named that explains three quarters of them. Also
then nothing that passed is contradicted, and to the other failed tests it answers rightly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.judging.mistaken import folder_of
from harness.judging.mutant_replay import Memory, RecordedConversation, Replayer
from harness.judging.recognition import specifications_of
from harness.judging.smallest_sets import Search, Set
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.records import Diagnosis, Failure, FileResult, Outcome, Reply, Verdict
from harness.specifications.record import Specification
from oracle.mistakes import MISTAKES, Mistake

TOO_MANY = 6  # sets of mistakes that fit: to name them would be to guess
SUPPORT = 2  # failures for each mistake, if there are several

# Commands of all files, beyond which a diagnosis might take longer than a reader waits: one of
# several mistakes, and any.
_MAX_FOR_SEVERAL = 5_000
_MAX_STEPS = 20_000

_FRACTION = re.compile(r"(?<=\d)\.0+(?!\d)")
_VERTEX = re.compile(r"[a-hj-z]\d+")


def diagnoses(files: Sequence[FileResult], memory: Memory | None = None) -> tuple[Diagnosis, ...]:
    """Return what explains the failures of one engine, assignment by assignment, where known.

    Files that belong to no assignment can be explained by nothing. With the same ``memory``
    further engines with the same files are diagnosed sooner.
    """
    if not any(map(failures, files)):
        return ()
    known: Memory = {} if memory is None else memory
    found = (_diagnosis(*group, known) for group in _by_assignment(files))
    return tuple(one for one in found if one)


def failures(file: FileResult) -> int:
    """Return how many tests failed; the engine's breaking down is one failure more."""
    failed = sum(outcome.verdict is Verdict.FAILED for outcome in file.outcomes)
    return failed + len(file.failures)


def _diagnosis(
    specification: Specification, files: Sequence[FileResult], memory: Memory
) -> Diagnosis | None:
    """Return what explains the failures in some files of one assignment.

    None when nothing failed, when nothing explains it, or when too much does.
    """
    total = sum(map(failures, files))
    if not total or sum(len(file.case.steps) for file in files) > _MAX_STEPS:
        return None
    results = _Results(files, specification.key, memory)
    found = results.explanations(list(_candidates(specification)))
    if not 0 < len(found) < TOO_MANY:
        return None
    return Diagnosis(_in_order(found), results.count_explained(found[0]), total)


def _in_order(sets: Sequence[Set]) -> tuple[tuple[Mistake, ...], ...]:
    """Return sets of mistakes in the order of the bank, and so each of them."""
    places = {mistake: place for place, mistake in enumerate(MISTAKES.values())}
    ordered = (tuple(sorted(mistakes, key=places.__getitem__)) for mistakes in sets)
    return tuple(sorted(ordered, key=lambda one: [places[mistake] for mistake in one]))


# --- which files, and which mistakes -----------------------------------------------------------


def _by_assignment(
    files: Sequence[FileResult],
) -> Iterator[tuple[Specification, list[FileResult]]]:
    """Yield each specification that the commands of some files tell, with its files.

    Files of its relatives are among them, and so are files that tell nothing, if there is but one.
    """
    told = [(file, specifications_of(file.case)) for file in files]
    first = {one[0].key: one[0] for _, one in told if one}
    related = {key for one in first.values() for key in one.relatives}
    leading = [one for key, one in first.items() if key not in related]
    for specification in leading:
        keys = {"" if len(leading) == 1 else None, specification.key, *specification.relatives}
        yield specification, [file for file, one in told if (one[0].key if one else "") in keys]


def _candidates(specification: Specification) -> Iterator[tuple[Mistake, ...]]:
    """Yield the mistakes to look for: those of the specification, then its relatives' as well.

    The author of a player is told of a mistake in the rules only where none in the player will do.
    """
    yield specification.mistakes
    if relatives := specification.relatives:
        keys = (specification.key, *relatives)
        yield tuple(one for one in MISTAKES.values() if one.assignment in keys)


# --- what they explain -------------------------------------------------------------------------


class _EngineDiagnosis(NamedTuple):
    """The part of a file that one engine answered: after each break a new one continues."""

    file: FileResult
    first: int  # index of its first step
    failure: Failure | None  # how it ended

    @property
    def conversation(self) -> RecordedConversation:
        file, first = self.file, self.first
        sent = next((one.sent for one in file.restarts if one.step == first), ())
        outcomes = {outcome.step - first: outcome for outcome in file.outcomes}
        steps, replies = file.case.steps[first:], file.replies[first:]
        failure = self.failure
        if failure and failure.step is not None:
            failure = failure._replace(step=failure.step - first)

        def alike(index: int, mine: Reply) -> bool:
            theirs, outcome = replies[index], outcomes.get(index)
            assert theirs is not None
            if outcome is None:
                return mine.ok is theirs.ok
            return _ends_alike(file, outcome, mine)

        folder = folder_of(file.case)
        texts = tuple(exchange.text for exchange in sent)
        return RecordedConversation(steps, replies, failure, alike, folder, texts)


def _parts(file: FileResult) -> list[_EngineDiagnosis]:
    firsts = [0, *(one.step for one in file.restarts)]
    ends = [*file.failures, *[None] * (len(firsts) - len(file.failures))]
    return [_EngineDiagnosis(file, *one) for one in zip(firsts, ends, strict=True)]


class _Results:
    """The results of one engine, as conversations with it."""

    def __init__(self, files: Sequence[FileResult], assignment: str, memory: Memory) -> None:
        # Files with failures rule out nearly all, so they come first.
        ordered = sorted(files, key=lambda file: not failures(file))
        parts = [part for file in ordered for part in _parts(file)]
        conversations = [part.conversation for part in parts]
        self._replayer = Replayer(conversations, assignment, memory)
        self._failed = 0  # as bits, the failures
        offset = 0
        for part, conversation in zip(parts, conversations, strict=True):
            self._failed |= _find_failed(part, conversation.items) << offset
            offset += conversation.items

    def explanations(self, candidates: Sequence[Sequence[Mistake]]) -> list[Set]:
        """Return the smallest sets of mistakes that explain all failures, or else most.

        ``candidates``: the mistakes to look for, and those to look for if these will not do.
        """
        if self._replayer.items > _MAX_FOR_SEVERAL:
            return next(filter(None, map(self._single, candidates)), [])
        searches: list[Search] = []
        for mistakes in candidates:
            searches.append(Search(self._replayer, mistakes))
            if found := searches[-1].smallest():
                return found if self._is_supported(found[0]) else []
        most = (search.most(self._failed) for search in searches)
        return next(filter(None, most), [])

    def _is_supported(self, mistakes: Set) -> bool:
        """Whether there are failures enough for so many mistakes."""
        return len(mistakes) == 1 or self._failed.bit_count() >= SUPPORT * len(mistakes)

    def _single(self, candidates: Sequence[Mistake]) -> list[Set]:
        """Return the mistakes that each explain everything."""
        if not self._replayer.find_disagreement(()):
            return []
        return [
            frozenset([one]) for one in candidates if not self._replayer.find_disagreement([one])
        ]

    def count_explained(self, mistakes: Set) -> int:
        """Return how many failures a set of mistakes explains."""
        return (self._failed & self._replayer.behaviour(mistakes).agreed).bit_count()


def _find_failed(part: _EngineDiagnosis, items: int) -> int:
    """Return as bits the tests of a part that failed, and its end if the engine failed."""
    found = 1 << items >> 1 if part.failure else 0
    for outcome in part.file.outcomes:
        place = outcome.step - part.first
        if outcome.verdict is Verdict.FAILED and 0 <= place < items:
            found |= 1 << place
    return found


# --- the same answer ---------------------------------------------------------------------------


def _ends_alike(file: FileResult, outcome: Outcome, mine: Reply) -> bool:
    """Whether a test ended with the same verdict and, if it failed, for the same answer."""
    step, theirs = file.case.steps[outcome.step], outcome.reply
    if outcome.verdict in (Verdict.NOT_JUDGED, Verdict.IGNORED) or theirs is None:
        return True
    dialect = dialect_of(file.case, find_dialect("gogui"))
    if dialect.verdict(step.pattern, mine) is not outcome.verdict:
        return False
    if outcome.verdict in (Verdict.PASSED, Verdict.UNEXPECTED_PASS):
        return True
    mine = dialect.judged(mine) if dialect.judged else mine
    return _form(step.command, mine) == _form(step.command, theirs)


def _form(command: str, reply: Reply) -> str:
    """Return what matters of a wrong answer: no case, no blanks, no fraction of a whole number.

    Of an error nothing matters but that it is one, and of a random move that it is a move.
    """
    if not reply.ok:
        return "?"
    text = _FRACTION.sub("", " ".join(reply.text.lower().split()))
    return "a move" if "genmove" in command and _VERTEX.fullmatch(text) else text
