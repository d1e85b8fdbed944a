"""The rules by which workers get units, pure.

* At most two units are under way for each worker: one that it runs and one that waits for it. So
  a worker is never idle, and little is lost if it dies.
* A unit that was never tried goes before one that goes again; then the earlier unit goes first.
  So nobody waits behind a program that kills workers.
* A unit goes only to a worker that has the version, the sandbox level, the programs and the
  Python that it needs, or a Python with which the environment that is sent works. Workers announce
  what they have as resources of Dask, and units ask for these resources, so that Dask itself
  enforces this, too.
* A worker gets nothing if it says that it is more than four times as slow or as fast as the
  reference machine.
* One attempt in a hundred is done twice, on two machines. No worker can tell which.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from harness.work.plain_values import is_number
from oracle import __version__

ON_THE_WAY = 2  # units for each worker
SECONDED = 100  # of so many attempts one is done twice
_OURS = "gtp-harness"  # what our resources begin with
_SLOWEST = 1000.0  # paces that can be
PACES = (0.25, 4.0)  # those of workers that get something
_PACE = f"{_OURS} pace"


class Needs(NamedTuple):
    """The resources that a worker must have for a unit."""

    version: str  # of the harness
    level: str  # of the sandbox, or off
    tools: tuple[str, ...] = ()  # programs
    python: str = ""  # fingerprint; empty: none
    base: str = ""  # the Python for which the environment can be sent; empty if it is not sent


class Facts(NamedTuple):
    """The resources that a worker announces."""

    address: str
    machine: str
    version: str
    levels: tuple[str, ...]
    tools: tuple[str, ...]
    pythons: tuple[str, ...]
    pace: float = 1.0  # seconds that it computes for what the reference machine does in one
    bases: tuple[str, ...] = ()  # Pythons for which it takes environments


def wrong_with_pace(pace: float) -> str:
    """Return why a worker's pace keeps it from getting work, or "" if it does not.

    One that says that it is slow gives engines more time: how much more is bounded.
    """
    least, most = PACES
    if least <= pace <= most:
        return ""
    return f"its pace is {pace:g}, and paces from {least:g} to {most:g} are taken"


def find_unfitness(facts: Facts) -> str:
    """Return why a worker gets no work at all, or "" if it may get some."""
    if facts.version != __version__:
        return f"its gtp-harness is {facts.version}, and ours is {__version__}"
    return wrong_with_pace(facts.pace)


def count_free(workers: int, on_the_way: int) -> int:
    """Return how many units may be sent now."""
    return max(0, ON_THE_WAY * workers - on_the_way)


def order(tries: int, index: int) -> tuple[int, int]:
    """Return what units are sorted by; ``tries``: how often it was sent before."""
    return tries, index


def fits(facts: Facts, needs: Needs) -> bool:
    """Whether a worker has what a unit needs."""
    return _list_required(needs) <= _had(facts) and _has_python(facts, needs)


def _has_python(facts: Facts, needs: Needs) -> bool:
    """Whether a worker has the environment of a unit, or can be sent it."""
    is_sent = bool(needs.base) and needs.base in facts.bases
    return not needs.python or needs.python in facts.pythons or is_sent


def missing(facts: Facts, needs: Needs) -> list[str]:
    """Return what a worker has not of what a unit needs, in words."""
    found = [one.removeprefix(f"{_OURS} ") for one in _list_required(needs) - _had(facts)]
    python = [] if _has_python(facts, needs) else [needs.base or "the Python of the assignment"]
    return sorted(one for one in found if not one.startswith("python ")) + python


# Each worker is asked for each unit.
@lru_cache(maxsize=1 << 8)
def _list_required(needs: Needs) -> frozenset[str]:
    return frozenset(list_requested_resources(needs))


@lru_cache(maxsize=1 << 14)
def _had(facts: Facts) -> frozenset[str]:
    return frozenset(list_announced_resources(facts))


def eligible_workers(
    workers: Iterable[Facts],
    needs: Needs,
    not_on: Collection[str] = (),
    aside: Collection[str] = (),
) -> list[Facts]:
    """Return the workers that may do a unit.

    ``not_on``: machines that are not to, if there is any other one. ``aside``: addresses of
    workers that are no longer trusted.
    """
    fitting = [one for one in workers if one.address not in aside and fits(one, needs)]
    return elsewhere(fitting, not_on)


def elsewhere(workers: list[Facts], not_on: Collection[str]) -> list[Facts]:
    """Return the workers that are not on these machines; all if there is no other one."""
    return [one for one in workers if one.machine not in not_on] or workers if not_on else workers


def is_seconded(basis: str, secret: str) -> bool:
    """Whether an attempt is done twice.

    ``secret``: of the ledger. A worker is sent the basis. If that alone decided, it could lie
    wherever nobody looks.
    """
    found = hmac.digest(secret.encode(), f"second opinion {basis}".encode(), "sha256")
    return int.from_bytes(found[:8], "big") % SECONDED == 0


# --- as resources of Dask ----------------------------------------------------------------------


def list_requested_resources(needs: Needs) -> dict[str, float]:
    """Return the resources that a unit asks for.

    Of an environment that can be sent, a worker has one of two things, which Dask cannot ask for:
    it is left to the choice of workers.
    """
    pythons = [] if needs.base else [needs.python]
    return dict.fromkeys(_names(needs.version, [needs.level], needs.tools, pythons), 1.0)


def list_announced_resources(facts: Facts) -> dict[str, float]:
    """Return the resources that a worker announces."""
    names = _names(facts.version, facts.levels, facts.tools, facts.pythons, facts.bases)
    return {**dict.fromkeys(names, 1.0), _PACE: facts.pace}


def _names(
    version: str,
    levels: Iterable[str],
    tools: Iterable[str],
    pythons: Iterable[str],
    bases: Iterable[str] = (),
) -> list[str]:
    return [
        f"{_OURS} version {version}",
        *(f"{_OURS} level {one}" for one in levels),
        *(f"{_OURS} tool {one}" for one in tools),
        *(f"{_OURS} python {one}" for one in pythons if one),
        *(f"{_OURS} base {one}" for one in bases),
    ]


def facts_of(address: str, name: str, resources: Mapping[str, float]) -> Facts | None:
    """Return a worker from the facts that Dask has; None if it is not ours or tells nonsense.

    ``name``: its machine, a colon, and what tells it from others there.
    """
    pace = resources.get(_PACE, 1.0)
    is_pace = is_number(pace) and 0 < pace < _SLOWEST
    machine = name.rpartition(":")[0]
    if not (machine and is_pace and all(map(_is_printable, (address, name, *resources)))):
        return None
    kinds = ("version", "level", "tool", "python", "base")
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    for resource in sorted(resources):
        ours, _, rest = resource.partition(" ")
        kind, _, value = rest.partition(" ")
        if ours == _OURS and kind in found:
            found[kind].append(value)
    if len(found["version"]) != 1:
        return None
    (version,), levels, tools, pythons, bases = map(tuple, found.values())
    return Facts(address, machine, version, levels, tools, pythons, pace, bases)


def _is_printable(found: object) -> bool:
    return isinstance(found, str) and found.isprintable()
