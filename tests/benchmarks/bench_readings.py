"""Fuzzing engines that read the documents otherwise: two minutes each, and nothing is found.

``python -m tests.benchmarks.bench_readings [SECONDS [ASSIGNMENT…]]`` shows how many conversations
each had. The engines are in this process, so that the time is the fuzzer's.
"""

import sys

from oracle.mistakes import ASSIGNMENTS
from tests.harness.in_process import start_fuzzer
from tests.harness.test_readings import engines

SECONDS = 120.0


def main(seconds: float = SECONDS, assignments: tuple[str, ...] = tuple(ASSIGNMENTS)) -> int:
    """Print what was found in each; return how many were accused."""
    accused = 0
    print(f"{seconds:g} s each\nassignment      reading{'':31}conversations  findings")
    for assignment in assignments:
        for number, (name, start) in enumerate(engines(assignment).items()):
            with start_fuzzer(
                start, assignment, examples=0, seconds=seconds, seed=1000 + number
            ) as fuzzer:
                found = list(fuzzer.findings())
            accused += bool(found)
            print(f"{assignment:15} {name:38}{fuzzer.budget.examples:13,}{len(found):10}")
            for one in found:
                print(f"    {one.difference}\n    {one.script.commands}", flush=True)
    print(f"{accused} accused")
    return accused


if __name__ == "__main__":
    words = sys.argv[1:]
    chosen = tuple(words[1:]) or tuple(ASSIGNMENTS)
    sys.exit(bool(main(float(words[0]) if words else SECONDS, chosen)))
