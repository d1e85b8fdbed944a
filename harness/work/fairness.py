"""Time limits that decide a mark, runs that were cut short, and reruns. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.adapters.inside.adapter_protocol import TIMED_OUT
from harness.assignments.assignment import Assignment
from harness.core.options import BoxLimits, Limits
from harness.core.records import Failure, FailureKind, FileResult, Outcome, Step
from harness.running.hangs import short_limit
from harness.running.rerun import believe, fails_by_choice
from harness.work.records import Measurements
from oracle.command_properties import PropertyTable

START = ""  # the name of what comes before the first reply

# Time limits are about the engine's own time (:mod:`harness.engine.engine_clock`): what it waited
# for a processor does not count. What it computes takes longer beside other engines, though, which
# share caches, and cores that are halves of one. So in the first run of a case file an engine may
# compute for :data:`BESIDE` times its limit, and use a fifth more CPU time in all. An engine
# that stays within the assignment's own limits is in time. One that sleeps for its limit, or
# computes for longer than that, is not. What is between is in *doubt*: it is rerun with the
# assignment's own limits, alone, and that run counts. So is an engine that computed for a part of
# its limit and then gave no answer: what it did for the other part may be our mistake.
#
# An adapter, which answers for a program that speaks no GTP, has limits of its own for each call
# of it, and says in its reply that one was hit (``TIMED_OUT``): that is in doubt, whatever was
# computed.
#
# So is an engine that did anything after it was left asleep (:mod:`harness.running.hangs`).
#
# An engine that SIGKILL ended, and no limit of ours, may have done that itself. Or a machine that
# was short of memory did, or a person: that is in doubt, too.
#
# On a cluster, machines differ: what an engine computes is limited and told in seconds of the
# reference machine (:mod:`harness.cluster.cluster_processes`). The pace of a machine is not known
# exactly. So one that stays within a limit, but nearly hits it, is in doubt there, too.
#
# So is a failed test of a command that chooses a move, or of one after it on the same board: a
# player with a clock and dice is believed to have failed only when it fails again, alone. Such a
# test passes if it passed in either run, within the assignment's limits.


MARGIN = 0.2  # of a limit: as near as this is near
BESIDE = 2.0  # how many times its limit an engine may compute beside others
_A_PART = 0.05  # of a limit: an engine that used up less of it computing slept


class Evidence(NamedTuple):
    """A submission's answers to commands, by their names, in all its runs."""

    hung: tuple[str, ...] = ()  # for the full limit, in a run that counts
    slow: tuple[str, ...] = ()  # answered, but later than the short limit
    answered: frozenset[str] = frozenset()


class TimeRules(NamedTuple):
    """The limits of an assignment, and what follows of them for a run of a case file.

    All results are given with their times, in seconds of the machine that the limits are for.
    """

    limits: Limits
    box: BoxLimits
    command_properties: PropertyTable

    @staticmethod
    def of(assignment: Assignment) -> "TimeRules":
        """Return the rules of an assignment."""
        return TimeRules(assignment.limits, assignment.box, assignment.command_properties)

    def limit_of(self, name: str) -> float:
        """Return the full limit of a command."""
        if name == START:
            return self.limits.startup
        return self.limits.of_command(thinks=self.command_properties.at_hand(name).may_think)

    def find_cuts(self, result: FileResult) -> dict[str, float]:
        """Return the commands of a run that were cut short, with the least limit that each had."""
        found: dict[str, float] = {}
        for name, allowed in _list_late(result):
            if allowed < self.limit_of(name):
                found[name] = min(allowed, found.get(name, allowed))
        return found

    def weigh(self, runs: Iterable[tuple[FileResult, bool]]) -> Evidence:
        """Return the evidence of runs: results, and whether each counts."""
        hung, slow, answered = set(), set(), set()
        for result, counts in runs:
            if counts:
                late = _list_late(result)
                hung |= {name for name, allowed in late if allowed >= self.limit_of(name)}
                # And those at which nearly all CPU time of the file was used up.
                answers = sum(reply.seconds for reply in result.replies if reply)
                for failure in result.failures:
                    if failure.kind is FailureKind.CPU and failure.step is not None:
                        name = result.case.steps[failure.step].name
                        if answers < short_limit(self.limit_of(name)):
                            hung.add(name)
            firsts = [result.before[:1], *(one.sent[:1] for one in result.restarts)]
            replies = [(START, one.reply) for first in firsts for one in first]
            replies += [
                (step.name, reply)
                for step, reply in zip(result.case.steps, result.replies, strict=True)
            ]
            for name, reply in replies:
                if reply:
                    answered.add(name)
                    if reply.seconds > short_limit(self.limit_of(name)):
                        slow.add(name)
        return Evidence(tuple(sorted(hung)), tuple(sorted(slow)), frozenset(answered))

    def are_hangs(self, cuts: Mapping[str, float], evidence: Evidence) -> bool:
        """Whether cuts of a first run are hangs, by what the submission did in all its runs."""
        return all(
            name in evidence.hung
            and name not in evidence.slow
            and (name not in evidence.answered or cut >= short_limit(self.limit_of(name)))
            for name, cut in cuts.items()
        )

    def in_doubt(self, result: FileResult, figures: Measurements) -> bool:
        """Whether a first run says nothing of how an engine stands to the limits.

        What was cut short is not looked at here.
        """
        share = 1 - MARGIN if figures.pace else 1.0  # of a limit, from which on it is in doubt
        if figures.late or any(_find_timed_out(result)):
            return True
        if fails_by_choice(result, self.command_properties):
            return True
        for one in result.failures:  # it neither slept for all of a time limit nor computed
            is_part = one.kind is FailureKind.TIMEOUT and _A_PART < one.computed < 1 - _A_PART
            if is_part and not self.find_cuts(result._replace(failures=(one,))):
                return True
        if any(seconds > share * allowed > 0 for seconds, allowed in self._waits(result)):
            return True
        if any(failure.kind is FailureKind.CPU for failure in result.failures):
            return False
        return 0 < share * self.box.cpu < figures.cpu

    def _waits(self, result: FileResult) -> Iterator[tuple[float, float]]:
        """Yield (seconds, seconds allowed) of each answer, and of the file."""
        own = ((one.text, one.reply) for one in (*result.before, *result.after[:1]))
        asked = zip((step.command for step in result.case.steps), result.replies, strict=True)
        # What each engine was asked: the first one, and those that were started again.
        conversations = [[*own, *asked]]
        conversations += [[(one.text, one.reply) for one in each.sent] for each in result.restarts]
        for conversation in conversations:
            is_first = True
            for command, reply in conversation:
                if reply is not None:
                    name = START if is_first else command.partition(" ")[0]
                    yield reply.seconds, self.limit_of(name)
                    is_first = False
        yield result.seconds, self.limits.file

    def near(self, result: FileResult, figures: Measurements) -> str:
        """Return which limit was nearly or just hit, with the figures; empty: none was.

        ``result``: of the run that counts.
        """
        kinds, allowed_cpu = {failure.kind for failure in result.failures}, self.box.cpu
        if FailureKind.TIMEOUT in kinds and figures.alone:
            return f"timed out alone as well, after {figures.cpu:.1f} s of CPU time in all"
        if figures.alone and (slow := next(_find_timed_out(result), None)):
            return f"'{slow.command}' timed out alone as well"
        beyond = FailureKind.CPU in kinds and not figures.alone
        if allowed_cpu and figures.cpu >= (1 - MARGIN) * allowed_cpu and not beyond:
            return f"took {figures.cpu:.1f} s of {allowed_cpu:g} s of CPU time"
        for seconds, allowed in self._waits(result):
            if allowed and seconds >= (1 - MARGIN) * allowed:
                return f"took {seconds:.1f} s of {allowed:g} s"
        return ""

    def merge_runs(
        self, first: FileResult, second: FileResult, figures: Measurements
    ) -> FileResult:
        """Return what counts of two runs: the second, with what was chosen better in the first.

        ``figures``: of the first one. A choice that took longer than allowed does not count.
        """
        is_over = 0 < self.box.cpu < figures.cpu or 0 < self.limits.file < first.seconds

        def counts(outcome: Outcome) -> bool:
            seconds = outcome.reply.seconds if outcome.reply else 0.0
            limit = self.limit_of(first.case.steps[outcome.step].name)
            return not is_over and not 0 < limit < seconds

        return believe(first, second, self.command_properties, counts)

    def fails_like(self, first: FileResult, second: FileResult) -> bool:
        """Whether ``first`` failed, and only in ways in which ``second``, of any case file, did.

        Nothing else may be in doubt about the first.
        """
        one, other = _breaks(first), _breaks(second)
        return bool(one) and one <= other and not fails_by_choice(first, self.command_properties)


def _list_late(result: FileResult) -> Iterator[tuple[str, float]]:
    """Yield the commands that were not answered in time, with the limit that each had."""
    for failure in result.failures:
        limit = failure.limit
        if failure.kind is FailureKind.TIMEOUT and limit and limit.name in ("command", "start"):
            is_start = limit.name == "start" or failure.step is None
            name = START if is_start else result.case.steps[failure.step or 0].name
            yield name, limit.allowed


def _find_timed_out(result: FileResult) -> Iterator[Step]:
    """Yield the commands to which an adapter answered that the program behind it was too slow."""
    for step, reply in zip(result.case.steps, result.replies, strict=True):
        if reply is not None and not reply.ok and reply.text.startswith(TIMED_OUT):
            yield step


def loose(box: BoxLimits) -> BoxLimits:
    """Return the limits of a first run, beside others."""
    return box._replace(cpu=box.cpu * (1 + MARGIN))


def restate_limits(result: FileResult, box: BoxLimits) -> FileResult:
    """Return a result with the assignment's limit in it, not that of this run on this machine."""

    def restate(failure: Failure) -> Failure:
        if failure.kind is not FailureKind.CPU or failure.limit is None:
            return failure
        return failure._replace(limit=failure.limit._replace(allowed=box.cpu))

    return result._replace(failures=tuple(map(restate, result.failures)))


def find_changed_steps(first: FileResult, second: FileResult) -> tuple[int, ...]:
    """Return the steps on which two runs of a case file gave different verdicts."""
    return tuple(
        one.step
        for one, other in zip(first.outcomes, second.outcomes, strict=True)
        if one.verdict is not other.verdict
    )


def _breaks(result: FileResult) -> set[FailureKind | str]:
    """Return how the engine failed, and the names of the commands that an adapter gave up."""
    slow = {step.name for step in _find_timed_out(result)}
    return {*(failure.kind for failure in result.failures), *slow}
