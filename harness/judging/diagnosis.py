"""What is wrong with an engine: the mistakes that explain all of its failures.

A mistake (:mod:`oracle.mistakes`) explains a result when an engine that makes it gives the same
wrong answers to the same tests, passes where the engine passed, refuses the same setup, and breaks
down at the same command. One difference, and it is not named. Several mistakes may explain the
same results: then nothing in them tells which it is, and all are named.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from harness.judging import mistaken
from harness.judging.recognition import specifications_of
from harness.reading.dialect import named
from harness.records import (
    CaseFile,
    Diagnosis,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Step,
    Verdict,
)
from oracle.errors import VertexError
from oracle.gtp.protocol import Engine
from oracle.mistakes import Breakdown, Hang, Mistake
from oracle.vertex import Point, parse_vertex

_MAX_STEPS = 20_000  # of a file: beyond, a diagnosis might take longer than a reader waits

_FRACTION = re.compile(r"(?<=\d)\.0+(?!\d)")
_VERTEX = re.compile(r"[a-hj-z]\d+")


def diagnoses(files: Sequence[FileResult]) -> tuple[Diagnosis, ...]:
    """Return the diagnosis of all files together, or else of each file that has one.

    An engine that breaks in several files, by no mistake that explains them all, breaks for a
    reason of its own: a mistake that breaks in one of them would be the wrong trail.
    """
    if whole := diagnose(files):
        return (whole,)
    broken = sum(file.failure is not None for file in files)
    found = (
        (file.case.path, diagnose([file])) for file in files if not (file.failure and broken > 1)
    )
    return tuple(one._replace(path=path) for path, one in found if one)


def diagnose(files: Sequence[FileResult]) -> Diagnosis | None:
    """Return the mistakes that explain the results of one engine on some case files.

    None when nothing failed, or when no mistake explains everything. Files that belong to no
    assignment can be explained by nothing.
    """
    failed = [file for file in files if failures(file)]
    if not failed or any(len(file.case.steps) > _MAX_STEPS for file in files):
        return None
    candidates = _candidates(failed[0].case)
    # The failed files rule out nearly all, so they are looked at first.
    for file in (*failed, *(file for file in files if not failures(file))):
        with mistaken.in_folder(file.case):
            candidates = [one for one in candidates if _explains(one, file)]
    if not candidates:
        return None
    return Diagnosis(tuple(candidates), sum(map(failures, failed)))


def failures(file: FileResult) -> int:
    """Return how many tests failed; the engine's breaking down is one failure more."""
    failed = sum(outcome.verdict is Verdict.FAILED for outcome in file.outcomes)
    return failed + len(file.failures)


def _candidates(case: CaseFile) -> list[Mistake]:
    """Return the mistakes of the assignment that a file's commands tell."""
    return [mistake for one in specifications_of(case) for mistake in one.mistakes]


def _explains(mistake: Mistake, file: FileResult) -> bool:
    """Whether the engine that makes a mistake does all that the engine did.

    After each break a new one goes on where the file did.
    """
    begins: list[tuple[int, tuple[Exchange, ...]]] = [(0, ())]
    begins += [(one.step, one.sent) for one in file.restarts]
    failures = [*file.failures, *[None] * (len(begins) - len(file.failures))]
    return all(
        _explains_part(mistake, file, *begin, failure)
        for begin, failure in zip(begins, failures, strict=True)
    )


def _explains_part(
    mistake: Mistake,
    file: FileResult,
    first: int,
    sent: Sequence[Exchange],
    failure: Failure | None,
) -> bool:
    """Whether it does what one engine did, from a step on, up to its ``failure`` or the end."""
    outcomes = {outcome.step: outcome for outcome in file.outcomes}
    part = file.case._replace(steps=file.case.steps[first:])
    engine = mistaken.wrong_engine(mistake)
    follow(engine, zip(part.steps, file.replies[first:], strict=True))
    with contextlib.suppress(Exception):  # a mistaken program may fail in any way
        for exchange in sent:
            engine.handle(exchange.text)
    for index, (_, raw) in enumerate(mistaken.answers(part, engine), first):
        theirs = file.replies[index]
        if theirs is None or not isinstance(raw, str):
            return not isinstance(raw, str) and broke_alike(raw, failure, index)
        mine = mistaken.reply_of(raw)
        outcome = outcomes.get(index)
        if not (mine.ok is theirs.ok if outcome is None else _alike(file, outcome, mine)):
            return False
    return failure is None


class _Following(Random):
    """Chooses the point that another program chose, where that is among the choices."""

    wanted: tuple[Point, int] | tuple[()] = ()  # as point and as bit

    def choice(self, seq: Any) -> Any:
        return next((one for one in seq if one in self.wanted), None) or super().choice(seq)


def follow(engine: Engine, answered: Iterable[tuple[Step, Reply | None]]) -> None:
    """Let a mistaken ``genmove`` choose as another engine did, so that both games are the same."""
    if "genmove" not in engine.commands:
        return
    chosen = iter([reply for step, reply in answered if step.command.startswith("genmove")])
    genmove = engine.commands["genmove"]

    def following(session: Any, words: list[str]) -> str:
        shape, reply = session.game.position.grid, next(chosen, None)
        session._random = _Following(session.seed)
        with contextlib.suppress(VertexError):  # resign, pass or anything
            point = parse_vertex(reply.text if reply else "", shape.rows, shape.columns)
            session._random.wanted = point, shape.bit(point)
        return genmove(session, words)

    engine.commands["genmove"] = following


def _alike(file: FileResult, outcome: Outcome, mine: Reply) -> bool:
    """Whether a test ended with the same verdict and, if it failed, for the same answer."""
    step, theirs = file.case.steps[outcome.step], outcome.reply
    if outcome.verdict in (Verdict.NOT_JUDGED, Verdict.IGNORED) or theirs is None:
        return True
    if named("gogui").verdict(step.pattern, mine) is not outcome.verdict:
        return False
    if outcome.verdict in (Verdict.PASSED, Verdict.UNEXPECTED_PASS):
        return True
    return _form(step.command, mine) == _form(step.command, theirs)


def _form(command: str, reply: Reply) -> str:
    """Return what matters of a wrong answer: no case, no blanks, no fraction of a whole number.

    Of an error nothing matters but that it is one, and of a random move that it is a move.
    """
    if not reply.ok:
        return "?"
    text = _FRACTION.sub("", " ".join(reply.text.lower().split()))
    return "a move" if "genmove" in command and _VERTEX.fullmatch(text) else text


def broke_alike(mine: Breakdown, theirs: Failure | None, index: int) -> bool:
    """Whether the engine died where the mistake crashes, or fell silent where it hangs."""
    kind = FailureKind.TIMEOUT if isinstance(mine, Hang) else FailureKind.DIED
    return theirs is not None and (theirs.kind, theirs.step) == (kind, index)
