"""Points of an assignment's parts, and weights of single tests, in a course.

A test of weight 0 does not count: one that is found to be wrong after the deadline is left out so.
It stays left out when its file is put right later, which has to be told (:func:`still_left_out`).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.assignments.assignment import Assignment, MarkPart
from harness.core.errors import UsageError
from harness.core.records import Step
from harness.grading.attempts import attempt_plan
from harness.grading.marks import marking
from harness.grading.records import exact
from harness.service.records import CourseAssignment

_NOTHING = "0"  # a weight


class PointWeights(NamedTuple):
    """Points and weights that differ from the assignment's; numbers are exact fractions."""

    points: Mapping[str, str] = {}  # of parts, by their names
    weights: Mapping[str, Mapping[str, str]] = {}  # of tests: by part, and by FILE:ID
    left_out: Mapping[str, Mapping[str, str]] = {}  # of weight 0: SHA-256 of files then


class WeighedTest(NamedTuple):
    """The tests of a part that have one name: most often one."""

    name: str  # FILE:ID, as weights name it; the ID of tests without a number is -1
    commands: tuple[str, ...]
    weight: Fraction
    sha256: str  # of its file

    @property
    def file(self) -> str:
        """Return the name of its file."""
        return self.name.rpartition(":")[0]

    @property
    def title(self) -> str:
        """Return what a person calls it."""
        _, _, number = self.name.rpartition(":")
        return f"{self.file}, without a number" if number == "-1" else self.name


class WeighedPart(NamedTuple):
    """A part with its tests, as they are in a course."""

    part: MarkPart
    tests: tuple[WeighedTest, ...]

    @property
    def has_weights(self) -> bool:
        """Whether some test does not weigh what others do."""
        return len({test.weight for test in self.tests}) > 1


def load_weights(assignment: CourseAssignment) -> PointWeights:
    """Return what is worth something else in an assignment of a course."""
    texts = assignment.points, assignment.weights, assignment.left_out
    return PointWeights(*(json.loads(text or "{}") for text in texts))


def apply_weights(assignment: Assignment, weights: PointWeights) -> Assignment:
    """Return an assignment with new points for these parts."""
    parts = []
    for part in assignment.marks:
        own = weights.weights.get(part.name, {})
        points = Fraction(weights.points.get(part.name, part.points))
        weighed = {**part.weights, **{name: Fraction(own[name]) for name in own}}
        parts.append(part._replace(points=points, weights=weighed))
    return assignment._replace(marks=tuple(parts))


def list_weighed_parts(assignment: Assignment, private: Path) -> list[WeighedPart]:
    """Return the parts of an assignment with their tests.

    ``private``: the folder of the private case files of the course.
    """
    named = [str(private)] if any(private.glob("*.gtp")) else []
    files = attempt_plan.read_cases(assignment, named)
    return [WeighedPart(part, tuple(_tests(part, files))) for part in assignment.marks]


def _tests(part: MarkPart, files: Iterable[attempt_plan.PlannedCase]) -> Iterator[WeighedTest]:
    groups: dict[tuple[str, str], list[Step]] = {}
    digests: dict[str, list[str]] = {}  # by the names that weights know files by: without folders
    for case in files:
        if case.kind == part.judged_by:
            digests.setdefault(PurePosixPath(case.name).name, []).append(case.sha256)
            for step in marking.list_tests(part, case.parse()):
                groups.setdefault(marking.names(case.name, step), []).append(step)
    for (name, file), steps in groups.items():
        commands = tuple(step.command for step in steps)
        weight, own = marking.weight(part, (name, file)), digests[file]
        # Files in several folders may have one name.
        joined = own[0] if len(own) == 1 else hashlib.sha256(" ".join(own).encode()).hexdigest()
        yield WeighedTest(name, commands, weight, joined)


def read(assignment: Assignment, parts: Sequence[WeighedPart], new: PointWeights) -> PointWeights:
    """Return what is to be kept where this is told; what is not told stays as it is.

    ``assignment``: as it is made, without what is worth something else in the course. ``parts``:
    its parts as they are before.

    Raises:
        UsageError: there is no such part or test; a number cannot be read; no test of a part
            counts; or all points together are none, or less than what a submission gets whose
            engine never answers.
    """
    names = [one.part.name for one in parts]
    for name in (*new.points, *new.weights):
        if name not in names:
            raise UsageError(f"there is no part {name!r}; there are: {', '.join(names)}")
    points = {one.part.name: one.part.points for one in parts}
    for name, text in new.points.items():
        points[name] = _number(name, text, "points such as 4 or 2.5")
    total = sum(points.values())
    if not total or total < assignment.does_not_run:
        least = assignment.does_not_run or "more than 0"
        raise UsageError(f"points: found {total} together, expected at least {least}")
    own = {part.name: part for part in assignment.marks}
    weights = {
        one.part.name: _weights(one, own[one.part.name], points[one.part.name], new)
        for one in parts
    }
    left_out: dict[str, dict[str, str]] = {}  # digests of files; told ones go before
    for one in parts:
        name = one.part.name
        files = {test.name: test.sha256 for test in one.tests}
        files |= new.left_out.get(name, {})
        found = {test: files[test] for test, own in weights[name].items() if own == _NOTHING}
        left_out |= {name: found} if found else {}
    return PointWeights(
        {name: str(value) for name, value in points.items()},
        {name: found for name, found in weights.items() if found},
        left_out,
    )


def still_left_out(parts: Iterable[WeighedPart], weights: PointWeights) -> list[WeighedTest]:
    """Return the tests that do not count, though their files have changed since that was said.

    ``parts``: as they are now; ``weights``: what was said in the course. A test of several parts
    is there once.
    """
    found = {
        test.name: test
        for one in parts
        for test in one.tests
        if weights.weights.get(one.part.name, {}).get(test.name) == _NOTHING
        and weights.left_out.get(one.part.name, {}).get(test.name) != test.sha256
    }
    return [*found.values()]


def _weights(
    weighed_part: WeighedPart, mark_part: MarkPart, points: Fraction, weights: PointWeights
) -> dict[str, str]:
    """Return the weights that are not as the assignment has them, by the names of tests."""
    found = {test.name: test.weight for test in weighed_part.tests}
    for name, text in weights.weights.get(weighed_part.part.name, {}).items():
        if name not in found:
            raise UsageError(f"{weighed_part.part.name}: there is no test {name!r}")
        found[name] = _number(name, text, "a weight such as 0, 1 or 0.5")
    if points and found and not any(found.values()):
        raise UsageError(
            f"{weighed_part.part.name}: no test of it would count; give the part 0 points instead"
        )
    return {
        name: str(weight)
        for name, weight in found.items()
        if weight != marking.weight(mark_part, (name, name.rpartition(":")[0]))
    }


def _number(name: str, text: str, expected: str) -> Fraction:
    if (found := exact(text)) is None:
        raise UsageError(f"{name}: found {text!r}, expected {expected}")
    return found
