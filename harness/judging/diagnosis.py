"""The diagnosis of an engine: smallest sets of mistakes that explain its answers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from harness.core.records import Diagnosis, Failure, FileResult, Outcome, Reply, Verdict
from harness.judging.in_process import folder_of, specifications_of
from harness.judging.mutant_replay import Memory, RecordedConversation, Replayer
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.specifications.record import Specification
from oracle.mistakes import MISTAKES, Mistake, can_meet
from oracle.position import each_bit

MOST = 4  # mistakes in a set: real engines have two to four
_PATIENCE = 150_000  # commands that mutants of several mistakes are sent: a second or two
_WIDTH = 3_000  # sets of one size that are looked at
_IN_CONTEXT = 12  # sets of one size to which every mistake is tried to be added

MistakeSet = frozenset[Mistake]


class Search:
    """The search in one engine's conversations.

    Attributes: ``wrong``, the replies that differ from the reference engine's, as bits; ``alone``,
    what each candidate does.
    """

    def __init__(self, replayer: Replayer, candidates: Iterable[Mistake]) -> None:
        """Replay the commands with each candidate; drop mistakes that change nothing."""
        self._replayer = replayer
        self._every = (1 << replayer.items) - 1
        self.wrong = self._every & ~replayer.behaviour().agreed
        alone = {one: replayer.behaviour([one]) for one in candidates}
        # Those that explain more than their mistakes do alone.
        self._together: set[MistakeSet] = set()
        self.alone = {one: found for one, found in alone.items() if found.changed}
        self._patience = replayer.steps + _PATIENCE
        # The mistakes that, alone, change the answer at a bit.
        self._changing = cache(
            lambda bit: [one for one, alone in self.alone.items() if alone.changed & bit]
        )

    def smallest(self) -> list[MistakeSet]:
        """Return all the smallest sets that explain everything.

        None if none was found, or not all of them in time: then others may be as good.
        """
        level: list[MistakeSet] = [frozenset()]
        for size in range(MOST + 1):
            unexplained = {one: self._find_unexplained(one) for one in level}
            found = [one for one, places in unexplained.items() if not places]
            if found or self._is_exhausted:
                return [] if self._is_exhausted else found
            level = self._next(unexplained) if size < MOST else []
        return []

    @property
    def _is_exhausted(self) -> bool:
        return self._replayer.steps > self._patience

    def _next(self, candidates: dict[MistakeSet, int]) -> list[MistakeSet]:
        """Return the sets with one more mistake, the likeliest first."""
        found: set[MistakeSet] = set()
        for one, places in candidates.items():
            # Another mistake that, alone, changes an answer that the set does not explain yet: the
            # one of these answers which fewest mistakes change.
            fewest = min(map(self._changing, each_bit(places)), key=len, default=[])
            found.update(self._join(one, fewest))
        for one in list(candidates)[:_IN_CONTEXT]:
            together = set(self._in_context(one))
            self._together |= together
            found |= together

        def likelihood(mistakes: MistakeSet) -> tuple[bool, int, list[str]]:
            """Sort by what is left unexplained; among equals always in the same order."""
            left = self._find_settled_wrong(mistakes).bit_count()
            return mistakes not in self._together, left, sorted(one.name for one in mistakes)

        return sorted(found, key=likelihood)[:_WIDTH]

    def most(self, failed: int) -> list[MistakeSet]:
        """Return the single mistakes that explain the most failures, at least three quarters.

        ``failed``: the failures, as bits. None where mistakes explain as many, but not the same.
        """
        fit = {}
        for one, alone in self.alone.items():
            # Where the engine was wrong and so is the mistake, in the same way.
            found = self.wrong & alone.changed & alone.agreed & failed
            left = failed & ~found
            if not (self._every & ~left & ~alone.agreed or left & alone.changed):
                fit[one] = found
        most = max((found.bit_count() for found in fit.values()), default=0)
        best = [one for one, found in fit.items() if found.bit_count() == most]
        if 4 * most < 3 * failed.bit_count() or len({fit[one] for one in best}) > 1:
            return []
        return [frozenset([one]) for one in best]

    def _find_unexplained(self, mistakes: MistakeSet) -> int:
        """Return where a set does not explain what the engine did, as bits; not all such."""
        settled = self._find_settled_wrong(mistakes)
        if settled and mistakes not in self._together:
            return settled
        return self._every if self._is_exhausted else self._replayer.find_disagreement(mistakes)

    def _find_settled_wrong(self, mistakes: MistakeSet) -> int:
        """Return the same as far as single mistakes tell: where at most one changes the answer."""
        once = twice = agreed = 0
        for one in mistakes:
            alone = self.alone[one]
            twice |= once & alone.changed
            once |= alone.changed
            agreed |= alone.changed & alone.agreed
        return (self.wrong & ~once) | (once & ~twice & ~agreed)

    def _in_context(self, mistakes: MistakeSet) -> Iterator[MistakeSet]:
        """Yield the set with one more that, beside the others, explains the first such answer.

        So mistakes are found that show only together: one writes a draw wrong, and only another
        one makes a draw.
        """
        if not mistakes or self._is_exhausted:
            return
        first = next(each_bit(self._replayer.find_disagreement(mistakes)), 0)
        for more in self._join(mistakes, self.alone):
            if first and self._replayer.agrees_at(more, first):
                yield more

    def _join(self, mistakes: MistakeSet, others: Iterable[Mistake]) -> Iterator[MistakeSet]:
        """Yield the set with each of some others that it can meet in one engine."""
        for one in others:
            if one not in mistakes and can_meet([*mistakes, one]):
                yield mistakes | {one}


# --- The diagnosis of an engine: a smallest set of mistakes that explains its failures -----------
# Mistakes (:mod:`oracle.mistakes`) explain results when an engine that makes them all gives the
# same wrong answers to the same tests, passes where the engine passed, refuses the same setup, and
# breaks down at the same commands. One difference, and they are not named.
#
# Several sets may explain the same results: then nothing in them tells which it is, and all are
# named. Where :data:`TOO_MANY` or more fit, nothing is said: the failures tell too little. Nor is
# anything said where several mistakes are needed for fewer than :data:`SUPPORT` failures each:
# some mistakes explain most single failures, though the engine makes another one that the bank
# lacks.
#
# An engine may also make a mistake that the bank lacks beside one that it has. So where no set
# explains all failures, a single mistake may be named that explains three quarters of them. Also
# then nothing that passed is contradicted, and to the other failed tests it answers rightly.

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
    told = [(file, specifications_of(file.case)) for file in files]
    first = {one[0].key: one[0] for _, one in told if one}
    related = {key for one in first.values() for key in one.relatives}
    leading = [one for key, one in first.items() if key not in related]
    found = []
    for one in leading:
        # Files of its relatives belong to it, and so do files that tell nothing, if it is alone.
        keys = {"" if len(leading) == 1 else None, one.key, *one.relatives}
        own = [file for file, others in told if (others[0].key if others else "") in keys]
        found.append(_diagnosis(one, own, known))
    return tuple(filter(None, found))


def failures(file: FileResult) -> int:
    """Return how many tests failed; the engine's breaking down is one failure more."""
    return sum(outcome.verdict is Verdict.FAILED for outcome in file.outcomes) + len(file.failures)


def _diagnosis(
    specification: Specification, files: Sequence[FileResult], memory: Memory
) -> Diagnosis | None:
    """Return what explains the failures in some files of one assignment.

    None when nothing failed, when nothing explains it, or when too much does.
    """
    total = sum(map(failures, files))
    if not total or sum(len(file.case.steps) for file in files) > _MAX_STEPS:
        return None
    # Files with failures rule out nearly all, so they come first.
    ordered_files = sorted(files, key=lambda file: not failures(file))
    pairs = [pair for file in ordered_files for pair in _conversations(file)]
    replayer = Replayer([one for one, _ in pairs], specification.key, memory)
    failed = offset = 0  # as bits, the failures
    for conversation, bits in pairs:
        failed |= bits << offset
        offset += conversation.items
    found = _explain(replayer, failed, list(_candidates(specification)))
    if not 0 < len(found) < TOO_MANY:
        return None
    places = {mistake: place for place, mistake in enumerate(MISTAKES.values())}
    ordered = (tuple(sorted(mistakes, key=places.__getitem__)) for mistakes in found)
    return Diagnosis(
        tuple(sorted(ordered, key=lambda one: [places[mistake] for mistake in one])),
        (failed & replayer.behaviour(found[0]).agreed).bit_count(),
        total,
    )


def _candidates(specification: Specification) -> Iterator[tuple[Mistake, ...]]:
    """Yield the mistakes to look for: those of the specification, then its relatives' as well.

    The author of a player is told of a mistake in the rules only where none in the player will do.
    """
    yield specification.mistakes
    if relatives := specification.relatives:
        keys = (specification.key, *relatives)
        yield tuple(one for one in MISTAKES.values() if one.assignment in keys)


def _conversations(file: FileResult) -> Iterator[tuple[RecordedConversation, int]]:
    """Yield what each engine of a file was asked, and its failures as bits.

    After each break a new engine continues.
    """
    firsts = [0, *(one.step for one in file.restarts)]
    ends = [*file.failures, *[None] * (len(firsts) - len(file.failures))]
    for first, failure in zip(firsts, ends, strict=True):
        conversation = _conversation(file, first, failure)
        items = conversation.items
        failed = 1 << items >> 1 if failure else 0
        for outcome in file.outcomes:
            place = outcome.step - first
            if outcome.verdict is Verdict.FAILED and 0 <= place < items:
                failed |= 1 << place
        yield conversation, failed


def _conversation(file: FileResult, first: int, failure: Failure | None) -> RecordedConversation:
    """Return what an engine was asked from a first step on, and how it ended."""
    sent = next((one.sent for one in file.restarts if one.step == first), ())
    outcomes = {outcome.step - first: outcome for outcome in file.outcomes}
    steps, replies = file.case.steps[first:], file.replies[first:]
    if failure and failure.step is not None:
        failure = failure._replace(step=failure.step - first)

    def alike(index: int, reply: Reply) -> bool:
        theirs, outcome = replies[index], outcomes.get(index)
        assert theirs is not None
        if outcome is None:
            return reply.ok is theirs.ok
        return _ends_alike(file, outcome, reply)

    texts = tuple(exchange.text for exchange in sent)
    return RecordedConversation(steps, replies, failure, alike, folder_of(file.case), texts)


def _explain(
    replayer: Replayer, failed: int, candidates: Sequence[Sequence[Mistake]]
) -> list[MistakeSet]:
    """Return the smallest sets of mistakes that explain all failures, or else most.

    ``failed``: the failures, as bits. ``candidates``: the mistakes to look for, and those to look
    for if these will not do.
    """
    if replayer.items > _MAX_FOR_SEVERAL:  # only mistakes that each explain everything
        if not replayer.find_disagreement(()):
            return []
        for mistakes in candidates:
            if fit := [one for one in mistakes if not replayer.find_disagreement([one])]:
                return [frozenset([one]) for one in fit]
        return []
    searches: list[Search] = []
    for mistakes in candidates:
        searches.append(Search(replayer, mistakes))
        if found := searches[-1].smallest():
            # Whether there are failures enough for so many mistakes.
            count = len(found[0])
            return found if count == 1 or failed.bit_count() >= SUPPORT * count else []
    return next(filter(None, (search.most(failed) for search in searches)), [])


def _ends_alike(file: FileResult, outcome: Outcome, reply: Reply) -> bool:
    """Whether a test ended with the same verdict and, if it failed, for the same answer."""
    step, theirs = file.case.steps[outcome.step], outcome.reply
    if outcome.verdict in (Verdict.NOT_JUDGED, Verdict.IGNORED) or theirs is None:
        return True
    dialect = dialect_of(file.case, find_dialect("gogui"))
    if dialect.verdict(step.pattern, reply) is not outcome.verdict:
        return False
    if outcome.verdict in (Verdict.PASSED, Verdict.UNEXPECTED_PASS):
        return True
    reply = dialect.judged(reply) if dialect.judged else reply
    return _form(step.command, reply) == _form(step.command, theirs)


def _form(command: str, reply: Reply) -> str:
    """Return what matters of a wrong answer: no case, no blanks, no fraction of a whole number.

    Of an error nothing matters but that it is one, and of a random move that it is a move.
    """
    if not reply.ok:
        return "?"
    text = _FRACTION.sub("", " ".join(reply.text.lower().split()))
    return "a move" if "genmove" in command and _VERTEX.fullmatch(text) else text
