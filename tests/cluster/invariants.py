"""What must hold in the record of a grading, whatever happened to the hosts meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

_MOST_RUNS = 2  # the second one alone, where the first was in doubt
_MOST_FAULTS = 2  # of an attempt that is done all the same


class Written(NamedTuple):
    """A result as the ledger has it."""

    basis: str
    number: int
    place: int  # among all results, in the order in which they were written
    token: str  # of the lease it was written with
    held: str  # the lease with which the attempt was last taken
    last: bool  # the attempt was done with it
    machine: str
    sandbox: str  # in which it was run; empty if nothing was run
    result: str


def find_violations(
    wanted: Mapping[str, str],
    written: Iterable[Written],
    machines: Collection[str],
    level: str,
    faults: Mapping[str, int],
    deaths: int,
) -> list[str]:
    """Return what does not hold.

    ``wanted``: the state of each attempt, by its basis. ``machines``: on which attempts may have
    been run. ``level``: what each sandbox is called at its beginning. ``faults``: of attempts;
    ``deaths``: how many workers died at most, each over one case file.
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
    return found + _of_leases(rows) + _of_faults(faults, deaths)


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
    if runs[-1].last and runs[-1].token != runs[-1].held:
        found.append(f"{basis}: the last result came from a worker without the lease")
    return found


def _of_leases(rows: list[Written]) -> list[str]:
    """Return the leases with which something was written after another one had taken over."""
    in_order = sorted(rows, key=lambda one: one.place)
    leases = [token for token, _ in groupby(one.token for one in in_order)]
    again = sorted({token for token in leases if leases.count(token) > 1})
    return [f"the lease {token}: a result after those of the next one" for token in again]


def _of_faults(faults: Mapping[str, int], deaths: int) -> list[str]:
    """Return what is wrong with how often the harness failed."""
    found = [f"{basis}: {n} faults" for basis, n in faults.items() if n > _MOST_FAULTS]
    if (total := sum(faults.values())) > deaths:
        found.append(f"{total} faults, and no more than {deaths} deaths of workers")
    return found


def _of_machine(row: Written, machines: Collection[str], level: str) -> list[str]:
    """Return what is wrong with where a result comes from."""
    found = []
    if row.machine not in machines:
        found.append(f"{row.basis}: run on {row.machine!r}")
    if row.sandbox and not row.sandbox.startswith(level):
        found.append(f"{row.basis}: run in {row.sandbox!r} on {row.machine}")
    return found
