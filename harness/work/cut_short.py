"""Runs that were cut short because the engine computed for ever, or so it seemed. Pure.

In the first run of a case file a command that asks is cut short after a part of its limit
(:class:`~harness.running.hangs.ShortLimits`). Such a run is in doubt. What decides, for all case
files of a submission together, is :class:`Evidence`: how its runs answered each command.

- A command that hung for its full limit, in a run that counts, *has hung*. Cuts at it are hangs,
  too, if the submission never answered it; or if it did, each time within the short limit, and
  the cut came no earlier.
- A command that was ever answered later than the short limit is *slow*: its cuts count for
  nothing, and its case files are run as if there were no short limits.
- What is between is rerun alone. One full limit is spent in finding out whether a command hangs:
  after it, the command has the short limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.options import Limits
from harness.records import Failure, FailureKind, FileResult
from harness.running.hangs import short_limit
from oracle.command_properties import PropertyTable

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
    """How a submission answers its commands, by their names, in all its runs."""

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
