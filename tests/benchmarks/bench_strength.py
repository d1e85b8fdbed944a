"""Tests against mistakes: how long 1,000 tests take to meet 60 mistakes, in CPU seconds.

The tests are the shipped ones, and their files again and again until there are 1,000; the mistakes
are the assignment's own, cut to 60 or repeated. The peer is the right engine in the same process,
which is sent the same commands once for every mistake: less than that no such matrix can cost
without sharing work between engines.
"""

from itertools import cycle, islice
from pathlib import Path
from time import process_time

from harness.judging import in_process
from harness.judging.strength import of_file
from harness.reading import casefile, suite
from harness.reading.dialect import find_dialect
from harness.specifications import specification
from oracle.mistakes import ASSIGNMENTS, MISTAKES

CASES = Path(__file__).parents[2] / "cases"
TESTS, WRONG = 1000, 60


def cases_of(assignment):
    """Return the shipped case files, repeated until they have enough tests."""
    paths = cycle(suite.expand([str(CASES / assignment)]))
    found = []
    while sum(step.is_test for case in found for step in case.steps) < TESTS:
        found.append(casefile.read(next(paths)))
    return found


def time_work(work, cases):
    start = process_time()
    for case in cases:
        work(case)
    return process_time() - start


def main():
    print(f"{TESTS:,} tests x {WRONG} mistakes, CPU seconds in one process\n")
    print(f"{'assignment':16}{'matrix':>8}{'right engine':>14}{'ratio':>8}")
    for assignment in ASSIGNMENTS:
        cases, judge = cases_of(assignment), find_dialect("gogui")
        own = [one for one in MISTAKES.values() if one.assignment == assignment]
        wrong = list(islice(cycle(own), WRONG))

        def right(case, assignment=assignment, judge=judge):
            for _ in range(WRONG):
                in_process.failing_lines(case, specification(assignment).reference_engine(), judge)

        matrix = time_work(lambda case: of_file(case, wrong, assignment), cases)  # noqa: B023
        peer = time_work(right, cases)
        print(f"{assignment:16}{matrix:8.2f}{peer:14.2f}{matrix / peer:8.2f}")


if __name__ == "__main__":
    main()
