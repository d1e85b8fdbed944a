"""The sets of tests of an assignment, and what each of them is worth: public, thorough, private.

A good assignment has few tests, which catch every mistake: at most :data:`MOST` public and private
ones together catch all, and the public ones alone :data:`LEAST` per cent or more.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.assignments.assignment import Assignment, specification_of
from harness.judging.strength import Strength, measure
from harness.reading import casefile, suite
from harness.specifications.record import Specification

MOST = 40  # public and private tests together
LEAST = 70  # per cent of the mistakes that the public tests alone catch
THOROUGH = "thorough"  # the subfolder of what ships beyond the public tests


class Set(NamedTuple):
    """Some case files of an assignment under one name."""

    name: str
    files: int
    strength: Strength

    @property
    def tests(self) -> int:
        """Number of tests, right or not."""
        return len(self.strength.tests) + len(self.strength.wrong)


def sets_of(assignment: Assignment, private: Sequence[str] = ()) -> Iterator[Set]:
    """Yield the assignment's sets of case files; public and private together come last.

    ``private``: case files or folders of them, beside those that lie in the assignment's folder.

    Raises:
        UsageError: the assignment has no specification.
    """
    public = [str(path) for path in assignment.public_cases()]
    secret = [*map(str, assignment.private_cases()), *suite.expand(private, has_answers=True)]
    thorough = assignment.place / THOROUGH
    specification = specification_of(assignment)
    yield _measure_set("public", public, specification)
    if thorough.is_dir():
        yield _measure_set(THOROUGH, suite.expand([str(thorough)]), specification)
    if secret:
        yield _measure_set("private", secret, specification)
        yield _measure_set("public and private", [*public, *secret], specification)


def is_good(sets: Sequence[Set]) -> bool:
    """Return whether an assignment's sets have the strength and the size that they should.

    Without private tests the public ones have to do.
    """
    found = {one.name: one for one in sets}
    together = found.get("public and private", found["public"])
    return (
        100 * found["public"].strength.kill_rate >= LEAST
        and together.strength.kill_rate == 1
        and together.tests <= MOST
        and not any(one.strength.wrong for one in sets)
    )


def _measure_set(name: str, paths: Sequence[str], specification: Specification) -> Set:
    return Set(name, len(paths), measure([casefile.read(path) for path in paths], specification))
