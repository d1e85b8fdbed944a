"""Causes of differences: mistakes of the bank that explain them, or none known.

A mistake explains a trace when an engine that makes it gives the same answers to the same
commands, right and wrong ones. So it tells which differences are news: those that no mistake
found so far explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.fuzzing.reply_judge import ReplyJudge, WrongReply, differences
from harness.judging import mistaken
from harness.judging.equivalence import same
from harness.judging.mutant_replay import RecordedConversation, agreement, answers
from harness.records import Failure, FailureKind, Reply
from harness.running import protocol_facts
from harness.specifications.record import Specification
from harness.specifications.truth import reply_of
from harness.vocabulary.script import Script, Trace, lay_files
from oracle.mistakes import Hang, Mistake


class FindingCause(NamedTuple):
    """What explains a finding and all that is like it."""

    signature: tuple[str, str]  # of the difference
    mistakes: tuple[Mistake, ...]  # the likeliest first; empty if unknown
    is_flaky: bool = False

    def explains(
        self,
        trace: Trace,
        found: Sequence[WrongReply],
        specification: Specification,
        folder: Path,
    ) -> bool:
        """Whether a trace with differences, one at least, shows nothing but this cause."""
        if self.mistakes and any(
            explains(one, trace, specification, folder) for one in self.mistakes[:1]
        ):
            return True
        return not self.mistakes and {one.signature for one in found} == {self.signature}


class Causes:
    """The causes found so far."""

    def __init__(self, judge: ReplyJudge) -> None:
        self.judge = judge
        self.found: list[FindingCause] = []

    @property
    def specification(self) -> Specification:
        """The specification that the engine is tested against."""
        return self.judge.specification

    def news(self, trace: Trace) -> WrongReply | None:
        """Return the first difference that no known cause explains."""
        found = list(differences(trace, self.judge))
        folder = self.judge.folder
        if not found or any(
            one.explains(trace, found, self.specification, folder) for one in self.found
        ):
            return None
        unknown = {one.signature for one in self.found if one.is_flaky or not one.mistakes}
        return next((one for one in found if one.signature not in unknown), None)


def explains(mistake: Mistake, trace: Trace, specification: Specification, folder: Path) -> bool:
    """Whether an engine that makes a mistake does all that the engine did."""
    conversation = _conversation(trace, specification, folder)
    lay_files(trace.script, folder)
    found = answers(conversation, mistaken.mutant_engine(mistake))
    return agreement(conversation, found) == (1 << conversation.items) - 1


def _conversation(
    trace: Trace, specification: Specification, folder: Path
) -> RecordedConversation:
    """Return a trace as a conversation; who replays it sees that its files are in the folder."""
    steps = tuple(map(protocol_facts.own_step, trace.script.commands))
    missing = [None] * (len(steps) - len(trace.replies))

    def alike(index: int, mine: Reply) -> bool:
        return same(steps[index].command, mine, trace.replies[index], specification)

    replies = (*trace.replies, *missing)
    return RecordedConversation(steps, replies, trace.failure, alike, str(folder))


def run_mistake(mistake: Mistake, script: Script, folder: Path) -> Trace:
    """Return what an engine that makes a mistake does with a script."""
    engine = mistaken.mutant_engine(mistake).in_folder(str(folder))
    steps = map(protocol_facts.own_step, script.commands)
    replies: list[Reply] = []
    lay_files(script, folder)
    for index, (_, raw) in enumerate(mistaken.replay(steps, engine)):
        if not isinstance(raw, str):
            kind = FailureKind.TIMEOUT if isinstance(raw, Hang) else FailureKind.DIED
            return Trace(script, tuple(replies), Failure(kind, "", index))
        replies.append(reply_of(raw))
    return Trace(script, tuple(replies))
