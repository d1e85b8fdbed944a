"""``python -m tests.mutation``: draw changes, try each, tell which no test noticed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutation import drawing, known, table
from tests.mutation.drawing import Change
from tests.mutation.modules import deciding
from tests.mutation.trying import Copy, Outcome

_FLOOR = 0.95


def main() -> int:
    """Return 0 if as many changes as we want are noticed, else 1."""
    given = _command_line().parse_args()
    drawn = drawing.draw(deciding(given.module), given.count, given.seed)
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        tried = list(_tried(drawn, Path(folder), given.jobs))
    print(table.markdown(tried))
    noticed = table.share(tried)
    print(f"{noticed:.1%} of the changes that change something are noticed (seed {given.seed})")
    return 0 if noticed >= _FLOOR else 1


def _tried(drawn: list[Change], folder: Path, jobs: int) -> Iterator[tuple[Change, Outcome]]:
    """Yield each change with what came of it, and tell of those that nobody noticed."""
    copies: SimpleQueue[Copy] = SimpleQueue()
    for number in range(jobs):
        copies.put(Copy(folder / str(number)))
    with ThreadPoolExecutor(jobs) as threads:
        outcomes = threads.map(lambda one: _attempt(one, copies), drawn)
        for number, (change, outcome) in enumerate(zip(drawn, outcomes, strict=True), 1):
            print(f"{number}: {outcome}: {change}", flush=True)
            yield change, outcome


def _attempt(change: Change, copies: SimpleQueue[Copy]) -> Outcome:
    if known.is_equivalent(change):
        return Outcome.EQUIVALENT
    copy = copies.get()
    try:
        return copy.attempt(change)
    finally:
        copies.put(copy)


def _command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    add = parser.add_argument
    add("--count", type=int, default=40, help="changes (default: %(default)s)")
    add("--seed", type=int, default=1, help="draws the same again (default: %(default)s)")
    add("--module", default="", metavar="TEXT", help="only modules whose path has it")
    add("--jobs", type=int, default=2, help="at a time (default: %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
