"""Attempts at public tests and their images by engines in this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from harness.assignments.assignment import find
from harness.core.records import CaseFile, Failure, FailureKind, Outcome, Reply, Verdict
from harness.grading.attempts.variants import image_of
from harness.grading.records import IMAGE, PUBLIC, Attempt
from harness.judging.in_process import answers
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.running.file_runner import not_run
from harness.specifications import specification
from harness.specifications.record import reply_of
from oracle.gtp.protocol import Engine
from oracle.mistakes import Breakdown

GOGUI = find_dialect("gogui")


@cache
def public_cases(assignment: str, folder: str = ".") -> tuple[CaseFile, ...]:
    """Return the case files of an assignment that ships: the public ones, or those of a folder."""
    paths = sorted((find(assignment).place / folder).glob("*.gtp"))
    return tuple(casefile.read(str(path)) for path in paths)


@cache
def images(assignment: str, seed: str, folder: str = ".") -> tuple[tuple[CaseFile, CaseFile], ...]:
    """Return the case files that have images, each with its image."""
    found = []
    for case in public_cases(assignment, folder):
        image = image_of(case, specification(assignment), seed)
        found += [] if image is None else [(case, image)]
    return tuple(found)


def attempt(case: CaseFile, engine: Engine, kind: str) -> Attempt:
    """Return what comes of a case file with an engine."""
    replies: list[Reply] = []
    failure = None
    for _step, raw in answers(case, engine):
        if isinstance(raw, Breakdown):
            failure = Failure(FailureKind.DIED, "It died.", len(replies))
        else:
            replies.append(reply_of(raw))
    given = (*replies, *[None] * (len(case.steps) - len(replies)))
    outcomes = tuple(
        Outcome(i, GOGUI.verdict(step.pattern, reply) if reply else Verdict.NOT_RUN, reply)
        for i, (step, reply) in enumerate(zip(case.steps, given, strict=True))
        if step.is_test
    )
    result = not_run(case, failure)._replace(outcomes=outcomes, replies=given)
    return Attempt("ada", kind, case.path, result)


def attempts(assignment: str, make: Callable[[], Engine], seed: str) -> list[Attempt]:
    """Return all attempts of the engine that ``make`` starts afresh for each file."""
    own = [attempt(case, make(), PUBLIC) for case in public_cases(assignment)]
    return own + [attempt(image, make(), IMAGE) for _, image in images(assignment, seed)]
