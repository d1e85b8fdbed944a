"""Time limits that decide a mark, runs that were cut short, and reruns. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.adapters.inside.go_board import TIMED_OUT
from harness.options import BoxLimits, Limits
from harness.records import Failure, FailureKind, FileResult, Outcome, Reply, Step
from harness.running.hangs import short_limit
from harness.running.rerun import believe, fails_by_choice
from harness.work.records import Measurements
from oracle.command_properties import STANDARD, PropertyTable

START = ""  # the name of what comes before the first reply


def find_limit(limits: Limits, command_properties: PropertyTable, name: str) -> float:
    """Return the full limit of a command."""
    if name == START:
        return limits.startup
    return limits.of_command(thinks=command_properties.at_hand(name).may_think)


def find_cuts(
    result: FileResult, limits: Limits, command_properties: PropertyTable
) -> dict[str, float]:
    """Return the commands of a run that were cut short, with the least limit that each had."""
    found: dict[str, float] = {}
    for name, allowed in _list_late(result):
        if allowed < find_limit(limits, command_properties, name):
            found[name] = min(allowed, found.get(name, allowed))
    return found


def is_cut(
    result: FileResult, failure: Failure, limits: Limits, command_properties: PropertyTable
) -> bool:
    """Whether a failure of a run is such a cut."""
    return bool(find_cuts(result._replace(failures=(failure,)), limits, command_properties))


def _list_late(result: FileResult) -> Iterator[tuple[str, float]]:
    """Yield the commands that were not answered in time, with the limit that each had."""
    for failure in result.failures:
        limit = failure.limit
        if failure.kind is FailureKind.TIMEOUT and limit and limit.name in ("command", "start"):
            is_start = limit.name == "start" or failure.step is None
            yield START if is_start else _name(result, failure.step or 0), limit.allowed


def _list_used_up(
    result: FileResult, limits: Limits, command_properties: PropertyTable
) -> Iterator[str]:
    """Yield the commands at which nearly all CPU time of the file was used up."""
    answers = sum(reply.seconds for reply in result.replies if reply)
    for failure in result.failures:
        if failure.kind is FailureKind.CPU and failure.step is not None:
            name = _name(result, failure.step)
            if answers < short_limit(find_limit(limits, command_properties, name)):
                yield name


def _name(result: FileResult, step: int) -> str:
    return result.case.steps[step].command.partition(" ")[0]


class Evidence(NamedTuple):
    """A submission's answers to commands, by their names, in all its runs."""

    hung: tuple[str, ...] = ()  # for the full limit, in a run that counts
    slow: tuple[str, ...] = ()  # answered, but later than the short limit
    answered: frozenset[str] = frozenset()

    def believes(
        self, cuts: Mapping[str, float], limits: Limits, command_properties: PropertyTable
    ) -> bool:
        """Whether cuts of a first run are hangs."""
        return all(
            name in self.hung
            and name not in self.slow
            and (
                name not in self.answered
                or cut >= short_limit(find_limit(limits, command_properties, name))
            )
            for name, cut in cuts.items()
        )


def weigh(
    runs: Iterable[tuple[FileResult, bool]], limits: Limits, command_properties: PropertyTable
) -> Evidence:
    """Return the evidence of runs: results with their times, and whether each counts."""
    hung, slow, answered = set(), set(), set()
    for result, counts in runs:
        if counts:
            hung |= {
                name
                for name, allowed in _list_late(result)
                if allowed >= find_limit(limits, command_properties, name)
            }
            hung |= set(_list_used_up(result, limits, command_properties))
        for name, seconds in _list_answered(result):
            answered.add(name)
            if seconds > short_limit(find_limit(limits, command_properties, name)):
                slow.add(name)
    return Evidence(tuple(sorted(hung)), tuple(sorted(slow)), frozenset(answered))


def _list_answered(result: FileResult) -> Iterator[tuple[str, float]]:
    firsts = [result.before[:1], *(one.sent[:1] for one in result.restarts)]
    for exchange in (one for first in firsts for one in first):
        if exchange.reply:
            yield START, exchange.reply.seconds
    for step, reply in zip(result.case.steps, result.replies, strict=True):
        if reply:
            yield step.command.partition(" ")[0], reply.seconds


# --- Which time limits decide a mark, and when an attempt is to be rerun. Pure -------------------
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
# of it, and says in its reply that one was hit
# (:data:`~harness.adapters.inside.go_board.TIMED_OUT`): that is in doubt, whatever was computed.
#
# A command at which an engine computes without an answer is cut short
# (:mod:`harness.work.fairness`).
#
# Once a submission has hung three times, its commands have a tenth of their limit, after which an
# engine that sleeps is left and waited for at the end of the file (:mod:`harness.running.hangs`).
# If it does anything by then, the file is in doubt, too.
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


def in_doubt(
    result: FileResult,
    figures: Measurements,
    limits: Limits,
    box: BoxLimits,
    command_properties: PropertyTable,
) -> bool:
    """Whether a first run says nothing of how an engine stands to the assignment's limits.

    What was cut short is not looked at here: see :mod:`harness.work.fairness`.

    ``result``: as it was run, with its times. ``command_properties``: of its commands. ``limits``,
    ``box``, ``figures``: in seconds of the same machine.
    """
    share = 1 - MARGIN if figures.pace else 1.0  # of a limit, from which on it is in doubt
    if figures.late or any(_find_timed_out(result)) or fails_by_choice(result, command_properties):
        return True
    late = [one for one in result.failures if not is_cut(result, one, limits, command_properties)]
    if any(map(_has_computed_in_part, late)):
        return True
    waits = _waits(result, limits, command_properties)
    if any(seconds > share * allowed > 0 for seconds, allowed in waits):
        return True
    if any(failure.kind is FailureKind.CPU for failure in result.failures):
        return False
    return 0 < share * box.cpu < figures.cpu


def _has_computed_in_part(failure: Failure) -> bool:
    """Whether an engine hit a time limit, but neither slept for all of it nor computed."""
    return failure.kind is FailureKind.TIMEOUT and _A_PART < failure.computed < 1 - _A_PART


def _find_timed_out(result: FileResult) -> Iterator[Step]:
    """Yield the commands to which an adapter answered that the program behind it was too slow."""
    for step, reply in zip(result.case.steps, result.replies, strict=True):
        if reply is not None and not reply.ok and reply.text.startswith(TIMED_OUT):
            yield step


def _waits(
    result: FileResult, limits: Limits, command_properties: PropertyTable
) -> Iterator[tuple[float, float]]:
    """Yield (seconds, seconds allowed) of each answer, and of the file."""
    for replies in _conversations(result):
        is_first = True
        for command, reply in replies:
            name = START if is_first else command.partition(" ")[0]
            yield reply.seconds, find_limit(limits, command_properties, name)
            is_first = False
    yield result.seconds, limits.file


def _conversations(result: FileResult) -> Iterator[list[tuple[str, Reply]]]:
    """Yield the commands of the file with their replies, then those first sent to each engine
    that was started again.
    """
    own = ((one.text, one.reply) for one in (*result.before, *result.after[:1]))
    asked = zip((step.command for step in result.case.steps), result.replies, strict=True)
    yield [(command, reply) for command, reply in (*own, *asked) if reply is not None]
    for restart in result.restarts:
        yield [(one.text, one.reply) for one in restart.sent if one.reply is not None]


def near(
    result: FileResult,
    figures: Measurements,
    limits: Limits,
    box: BoxLimits,
    command_properties: PropertyTable = STANDARD,
) -> str:
    """Return which limit was nearly or just hit, with the figures; empty: none was.

    ``result``: with its times, and of the run that counts.
    """
    kinds = {failure.kind for failure in result.failures}
    if FailureKind.TIMEOUT in kinds and figures.alone:
        return f"timed out alone as well, after {figures.cpu:.1f} s of CPU time in all"
    if figures.alone and (slow := next(_find_timed_out(result), None)):
        return f"'{slow.command}' timed out alone as well"
    beyond = FailureKind.CPU in kinds and not figures.alone
    if box.cpu and figures.cpu >= (1 - MARGIN) * box.cpu and not beyond:
        return f"took {figures.cpu:.1f} s of {box.cpu:g} s of CPU time"
    for seconds, allowed in _waits(result, limits, command_properties):
        if allowed and seconds >= (1 - MARGIN) * allowed:
            return f"took {seconds:.1f} s of {allowed:g} s"
    return ""


def merge_runs(
    runs: tuple[FileResult, FileResult],
    figures: Measurements,
    limits: Limits,
    box: BoxLimits,
    command_properties: PropertyTable,
) -> FileResult:
    """Return what counts of two runs: the second, with what was chosen better in the first.

    ``runs``: with their times. ``figures``: of the first one. A choice that took longer than the
    assignment allows does not count.
    """
    first, second = runs
    is_over = 0 < box.cpu < figures.cpu or 0 < limits.file < first.seconds

    def counts(outcome: Outcome) -> bool:
        seconds = outcome.reply.seconds if outcome.reply else 0.0
        command = first.case.steps[outcome.step].command
        allowed = find_limit(limits, command_properties, command.partition(" ")[0])
        return not is_over and not 0 < allowed < seconds

    return believe(first, second, command_properties, counts)


def find_changed_steps(first: FileResult, second: FileResult) -> tuple[int, ...]:
    """Return the steps on which two runs of a case file gave different verdicts."""
    return tuple(
        one.step
        for one, other in zip(first.outcomes, second.outcomes, strict=True)
        if one.verdict is not other.verdict
    )


def fails_like(first: FileResult, second: FileResult, command_properties: PropertyTable) -> bool:
    """Whether ``first`` failed, and only in ways in which ``second``, of any case file, did.

    Nothing else may be in doubt about the first.
    """
    one, other = _breaks(first), _breaks(second)
    return bool(one) and one <= other and not fails_by_choice(first, command_properties)


def _breaks(result: FileResult) -> set[FailureKind | str]:
    """Return how the engine failed, and the names of the commands that an adapter gave up."""
    slow = {step.command.partition(" ")[0] for step in _find_timed_out(result)}
    return {*(failure.kind for failure in result.failures), *slow}
