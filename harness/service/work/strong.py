"""How many of the mistakes people make the private case files catch: measured by a worker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.judging import strength
from harness.records import CaseFile
from harness.service.courses import cases
from harness.service.records import Job
from harness.service.work.grounds import Ground
from harness.specifications.record import Specification
from harness.work import canonical_json


class OfFile(NamedTuple):
    """What one case file catches."""

    name: str
    tests: int
    caught: int  # mistakes
    wrong: tuple[int, ...]  # lines of tests that the reference engine fails


class CaughtMistakes(NamedTuple):
    """What all private case files of an assignment catch."""

    files: tuple[OfFile, ...]
    caught: int  # mistakes that some file catches
    of: int  # mistakes that are known; 0: none are
    survivors: tuple[str, ...]  # sentences


def measure(ground: Ground, job: Job) -> None:
    """Measure the private case files, if they still are those that the job is about."""
    made = ground.settings.made(ground.assigned.id)
    if cases.digest(made) != job.about.rpartition("-")[2]:
        return  # another job is about those that there are now
    found = canonical_json.dumps(
        measured(cases.read(made), ground.wanted.assignment.specification)
    )
    path = place(made, job.about)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    unfinished = path.with_suffix(".new")
    unfinished.write_text(found)
    unfinished.replace(path)


def about(assignment: str, made: Path) -> str:
    """Return what a job is about that measures the case files as they are."""
    return f"{assignment}-{cases.digest(made)}"


def place(made: Path, what: str) -> Path:
    """Return where the result of a job about ``what`` is."""
    return made / "strength" / f"{what}.json"


def known(made: Path, what: str) -> CaughtMistakes | None:
    """Return the result of a job about ``what``; None: there is none yet."""
    path = place(made, what)
    return canonical_json.loads(CaughtMistakes, path.read_text()) if path.exists() else None


def measured(files: Sequence[CaseFile], specification: Specification | None) -> CaughtMistakes:
    """Return what case files catch. Without a specification nobody knows any mistake."""
    if specification is None:
        return CaughtMistakes(tuple(_of(one, None) for one in files), 0, 0, ())
    parts = [strength.measure([one], specification) for one in files]
    caught, mistakes = 0, specification.settled_mistakes
    for part in parts:
        caught |= part.caught
    alive = [one.sentence for place, one in enumerate(mistakes) if not caught >> place & 1]
    own = tuple(_of(one, part) for one, part in zip(files, parts, strict=True))
    return CaughtMistakes(own, caught.bit_count(), len(mistakes), tuple(alive))


def _of(case: CaseFile, found: strength.Strength | None) -> OfFile:
    name, tests = Path(case.path).name, sum(step.is_test for step in case.steps)
    if found is None:
        return OfFile(name, tests, 0, ())
    return OfFile(
        name, tests, found.caught.bit_count(), tuple(one.step.line for one in found.wrong)
    )
