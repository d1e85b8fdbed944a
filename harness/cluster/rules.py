"""Who gets what, and when: the rules of carrying, pure.

* No more units are on their way than twice the workers that are there: a worker has one at work
  and one that waits for it, so that it is never idle, and little is lost with it.
* What was never tried goes before what goes again; then the earlier unit. So nobody waits behind
  somebody's program that kills workers.
* A unit goes only to a worker that has the version, the sandbox level, the programs and the
  Python that it needs. What a worker has is announced as resources of Dask, and asked for as
  such, so that Dask itself holds to it, too.
* One attempt in a hundred is done twice, on two machines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

ON_THE_WAY = 2  # units for each worker
SECONDED = 100  # of so many attempts one is done twice
MOST_DEATHS = 3  # of workers under one attempt, by itself: then it is a fault
_OURS = "gtp-harness"  # what our resources begin with
_SLOWEST = 1000.0  # paces that can be
_PACE = f"{_OURS} pace"


class Needs(NamedTuple):
    """What a worker must have for a unit."""

    version: str  # of the harness
    level: str  # of the sandbox, or off
    tools: tuple[str, ...] = ()  # programs
    python: str = ""  # fingerprint; empty: none


class Facts(NamedTuple):
    """A worker, as it announces itself."""

    address: str
    machine: str
    version: str
    levels: tuple[str, ...]
    tools: tuple[str, ...]
    pythons: tuple[str, ...]
    pace: float = 1.0  # how long it computes for what the reference machine does in a second


def room(workers: int, on_the_way: int) -> int:
    """Return how many units may be sent now."""
    return max(0, ON_THE_WAY * workers - on_the_way)


def order(tries: int, index: int) -> tuple[int, int]:
    """Return what units are sorted by; ``tries``: how often it was sent before."""
    return tries, index


def fits(facts: Facts, needs: Needs) -> bool:
    """Whether a worker has what a unit needs."""
    return asked(needs).keys() <= announced(facts).keys()


def places(
    workers: Iterable[Facts],
    needs: Needs,
    not_on: Collection[str] = (),
    aside: Collection[str] = (),
) -> list[Facts]:
    """Return the workers that may do a unit.

    ``not_on``: machines that are not to, if there is any other one. ``aside``: addresses of
    workers that are not believed any more.
    """
    fitting = [one for one in workers if one.address not in aside and fits(one, needs)]
    return [one for one in fitting if one.machine not in not_on] or fitting


def is_seconded(basis: str) -> bool:
    """Whether an attempt is done twice: by its digest, so that nobody chooses."""
    return int(basis[:8], 16) % SECONDED == 0


# --- as resources of Dask ----------------------------------------------------------------------


def asked(needs: Needs) -> dict[str, float]:
    """Return the resources that a unit asks for."""
    return dict.fromkeys(_names(needs.version, [needs.level], needs.tools, [needs.python]), 1.0)


def announced(facts: Facts) -> dict[str, float]:
    """Return the resources that a worker announces."""
    names = _names(facts.version, facts.levels, facts.tools, facts.pythons)
    return {**dict.fromkeys(names, 1.0), _PACE: facts.pace}


def _names(
    version: str, levels: Iterable[str], tools: Iterable[str], pythons: Iterable[str]
) -> list[str]:
    return [
        f"{_OURS} version {version}",
        *(f"{_OURS} level {one}" for one in levels),
        *(f"{_OURS} tool {one}" for one in tools),
        *(f"{_OURS} python {one}" for one in pythons if one),
    ]


def facts_of(address: str, name: str, resources: Mapping[str, float]) -> Facts | None:
    """Return a worker from what Dask knows of it; None: it is none of ours, or tells nonsense.

    ``name``: its machine, a colon, and what tells it from others there.
    """
    pace = resources.get(_PACE, 1.0)
    is_pace = isinstance(pace, int | float) and 0 < pace < _SLOWEST
    if not (is_pace and all(map(str.isprintable, (address, name, *resources)))):
        return None
    found: dict[str, list[str]] = {"version": [], "level": [], "tool": [], "python": []}
    for resource in sorted(resources):
        ours, _, rest = resource.partition(" ")
        kind, _, value = rest.partition(" ")
        if ours == _OURS and kind in found:
            found[kind].append(value)
    if len(found["version"]) != 1:
        return None
    levels, tools, pythons = (tuple(found[kind]) for kind in ("level", "tool", "python"))
    machine = name.rpartition(":")[0]
    return Facts(address, machine, found["version"][0], levels, tools, pythons, pace)
