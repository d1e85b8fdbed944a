"""What must hold in the record of a grading, whatever happened to the hosts meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

_MOST_RUNS = 2  # the second one alone, where the first was in doubt


class Written(NamedTuple):
    """A result as the ledger has it."""

    basis: str
    number: int
    token: str  # of the lease it was written with
    last: bool  # the attempt was done with it
    machine: str
    sandbox: str  # in which it was run; empty: nothing was run
    result: str


def broken(
    wanted: Mapping[str, str],
    written: Iterable[Written],
    machines: Collection[str],
    level: str,
) -> list[str]:
    """Return what does not hold.

    ``wanted``: the state of each attempt, by its basis. ``machines``: on which attempts may have
    been run. ``level``: what each sandbox is called at its beginning.
    """
    rows = sorted(written)
    by_basis = {basis: list(of) for basis, of in groupby(rows, key=lambda one: one.basis)}
    found = [f"{basis}: {state}, not done" for basis, state in wanted.items() if state != "done"]
    found += [f"{basis}: done without a result" for basis in wanted if basis not in by_basis]
    found += [f"{basis}: a result that nobody wants" for basis in by_basis if basis not in wanted]
    for runs in by_basis.values():
        found += _of_attempt(runs)
    for row in rows:
        found += _of_machine(row, machines, level)
    return found


def _of_attempt(runs: list[Written]) -> list[str]:
    """Return what is wrong with the results of one attempt."""
    found = []
    basis, numbers = runs[0].basis, [one.number for one in runs]
    if numbers != list(range(1, len(runs) + 1)) or len(runs) > _MOST_RUNS:
        found.append(f"{basis}: results with the numbers {numbers}")
    if any(one.last for one in runs[:-1]):
        found.append(f"{basis}: a result after the last one")
    if not all(one.token for one in runs):
        found.append(f"{basis}: a result without a lease")
    return found


def _of_machine(row: Written, machines: Collection[str], level: str) -> list[str]:
    """Return what is wrong with where a result comes from."""
    found = []
    if row.machine not in machines:
        found.append(f"{row.basis}: run on {row.machine!r}")
    if row.sandbox and not row.sandbox.startswith(level):
        found.append(f"{row.basis}: run in {row.sandbox!r} on {row.machine}")
    return found
