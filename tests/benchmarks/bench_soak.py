"""What remains of very many engines: 10,000 alike, and 2,000 drawn from good and broken ones.

The first are started and ended one after the other; the second judged four at a time, in the
strongest sandbox, and every result compared with the engine's result alone and without. Counted
before and after: processes, zombies, descriptors, mounts, temporary folders, control groups.
Takes some minutes.
"""

import sys
from contextlib import closing
from time import perf_counter

from harness.sandbox import levels, view
from tests.harness.soak import apart, count, kinds, soak
from tests.harness.test_broken_engines import ROWS

ENGINES = 10_000
RUNS = 2_000


def ten_thousand() -> bool:
    """Start and end engines; print what is left, and return whether that is nothing."""
    words = ["/bin/true", "soak-of-ten-thousand"]
    seen = view.of_program(words, "/")
    with apart():
        before = count(words[1])
        begun = perf_counter()
        with closing(levels.choose()) as launcher:
            for _ in range(ENGINES):
                box = launcher.start(seen, words)
                assert box.wait(60) is not None
                box.close()
        after = count(words[1])
    seconds = perf_counter() - begun
    print(f"{ENGINES:,} engines at level {launcher.level}: {seconds:.0f} s")
    print(f"  before {before}\n  after  {after}")
    return after == before


def many_kinds() -> bool:
    """Soak; print what is left and which results were not as alone; return whether none."""
    begun = perf_counter()
    outcome = soak(RUNS, "auto", ROWS)
    seconds = perf_counter() - begun
    print(f"{RUNS:,} runs, four at a time, of {dict(kinds(ROWS))} engines: {seconds:.0f} s")
    print(f"  before {outcome.before}\n  after  {outcome.after}")
    print(f"  results that differ from those alone: {len(outcome.wrong)}")
    print("".join(f"    {line}\n" for line in outcome.wrong), end="")
    return outcome.after == outcome.before and not outcome.wrong


def main() -> None:
    """Do both; the exit status is 1 if anything is left or differs."""
    clean = ten_thousand()
    sys.stdout.flush()
    if not (many_kinds() and clean):
        sys.exit(1)


if __name__ == "__main__":
    main()
