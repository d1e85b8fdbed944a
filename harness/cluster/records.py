"""The records that dispatcher, connector and worker exchange, and which worker gets a unit.

They are plain, immutable data, and travel as lines of JSON.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from harness.core.errors import UsageError
from harness.environments.interpreters import PackedEnvironment
from harness.work import canonical_json
from oracle import __version__


class SchedulerSettings(NamedTuple):
    """The settings of a scheduler."""

    host: str
    port: int
    tls: str  # the folder of certificates; empty: none


class WorkerSettings(NamedTuple):
    """The settings of a worker."""

    scheduler: str
    tls: str
    machine: str  # what it is called
    host: str  # an address of this machine, by which the scheduler reaches it; empty: any
    cache: str  # a folder
    cache_size: int  # bytes
    locks: str  # a folder that all workers of this machine have
    unsafe: bool  # engines may run without a sandbox
    environments_size: int  # bytes of environments that were fetched


class ConnectorSettings(NamedTuple):
    """The settings of a connector."""

    scheduler: str
    tls: str  # the folder of certificates; empty: none
    host: str  # an address of this machine, by which workers reach it
    port: int  # 0: any
    watches: bool = False  # also tell, every few seconds, what each worker does


class ServedFile(NamedTuple):
    """Bytes on the server."""

    sha256: canonical_json.Sha256
    path: str


class Load(NamedTuple):
    """A unit for the connector to send: from the dispatcher."""

    id: str  # never used again
    number: int  # what has a smaller one goes before
    # JSON of a WorkUnit without places, which are the server's own. Only the worker reads it: for
    # those in between that would cost more than all else.
    unit: str
    files: tuple[ServedFile, ...]  # all that the unit names
    needs: Needs
    only: tuple[str, ...]  # addresses of workers; one is to do it
    environment: PackedEnvironment | None = None  # for a worker that does not have it
    cases: int = 0  # of the unit, for people
    alone: bool = False  # nothing else runs beside it, for people
    assignment: str = ""  # its name, for people
    submission: str = ""  # whose it is, for people


class Drop(NamedTuple):
    """A load that is no longer needed: to the connector."""

    id: str


Order = Load | Drop


class DaskTask(NamedTuple):
    """A unit as a worker gets it."""

    unit: str  # JSON of a WorkUnit
    bytes_at: str  # such as https://10.0.0.1:4711
    token: str  # good for this one
    environment: PackedEnvironment | None = None  # to be fetched if it is not there


class WorkerReport(NamedTuple):
    """The report of a worker about a unit."""

    machine: str
    lines: tuple[str, ...]  # words of harness.work, without their line ends
    trouble: str = ""  # of the worker itself: then the unit goes to another one


class PresentWorkers(NamedTuple):
    """The present workers: from the connector, whenever they change."""

    workers: tuple[Facts, ...]


class FinishedUnit(NamedTuple):
    """A unit with a report: from the connector."""

    id: str
    address: str  # of the worker
    brought: str  # JSON of a WorkerReport, which nobody has looked at


class LostUnit(NamedTuple):
    """A unit that will get no report: from the connector."""

    id: str
    why: str
    begun: bool  # a worker had it in hand


class NamedUnit(NamedTuple):
    """Names of a unit for people."""

    id: str
    assignment: str
    submission: str  # whose it is

    @property
    def described(self) -> str:
        return f"{self.assignment}: {self.submission} ({self.id})" if self.assignment else self.id


class WorkerStatus(NamedTuple):
    """A worker at a moment, as the scheduler and the worker itself report it."""

    facts: Facts
    name: str  # of its process
    load: float  # per cent of a core
    memory: int  # bytes
    silent: float  # seconds since it was heard
    loads: tuple[NamedUnit, ...]  # what it has, at work or waiting
    done: int = 0  # units, by its own account
    troubles: int = 0  # units that it could not do, by its own account
    trouble: str = ""  # the last of them


class DepartedWorker(NamedTuple):
    """A worker that has left."""

    address: str
    at: float  # seconds since 1970
    machine: str = ""
    lost: tuple[NamedUnit, ...] = ()  # what it had, at work or waiting


class ClusterState(NamedTuple):
    """The state of a cluster at a moment: from a connector that watches."""

    workers: tuple[WorkerStatus, ...]
    left: tuple[DepartedWorker, ...] = ()  # the last ones, since the scheduler was started


News = PresentWorkers | FinishedUnit | LostUnit | ClusterState


# --- The rules by which workers get units, pure --------------------------------------------------
# * At most two units are under way for each worker: one that it runs and one that waits for it. So
# a worker is never idle, and little is lost if it dies.
# * A unit that was never tried goes before one that goes again; then the earlier unit goes first.
# So nobody waits behind a program that kills workers.
# * A unit goes only to a worker that has the version, the sandbox level, the programs and the
# Python that it needs, or a Python with which the environment that is sent works. Workers announce
# what they have as resources of Dask, and units ask for these resources, so that Dask itself
# enforces this, too.
# * A worker gets nothing if it says that it is more than four times as slow or as fast as the
# reference machine.
# * One attempt in a hundred is done twice, on two machines. No worker can tell which.


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
    excluded_machines: Collection[str] = (),
    untrusted: Collection[str] = (),
) -> list[Facts]:
    """Return the workers that may do a unit.

    ``excluded_machines``: are not to, if there is any other one. ``untrusted``: addresses of
    workers that are no longer trusted.
    """
    fitting = [one for one in workers if one.address not in untrusted and fits(one, needs)]
    return elsewhere(fitting, excluded_machines)


def elsewhere(workers: list[Facts], machines: Collection[str]) -> list[Facts]:
    """Return the workers that are not on these machines; all if there is no other one."""
    if not machines:
        return workers
    return [one for one in workers if one.machine not in machines] or workers


def is_seconded(basis: str, secret: str) -> bool:
    """Whether an attempt is done twice.

    ``secret``: of the ledger. A worker is sent the basis. If that alone decided, it could lie
    wherever nobody looks.
    """
    found = hmac.digest(secret.encode(), f"second opinion {basis}".encode(), "sha256")
    return int.from_bytes(found[:8], "big") % SECONDED == 0


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
    is_pace = canonical_json.is_number(pace) and 0 < pace < _SLOWEST
    machine = name.rpartition(":")[0]
    texts: tuple[object, ...] = (address, name, *resources)
    is_readable = all(isinstance(one, str) and one.isprintable() for one in texts)
    if not (machine and is_pace and is_readable):
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


# --- Messages to and from a connector, as lines of JSON ------------------------------------------


_BY_NAME: dict[str, type[Any]] = {
    "present": PresentWorkers,
    "back": FinishedUnit,
    "lost": LostUnit,
    "seen": ClusterState,
    "load": Load,
    "drop": Drop,
}
_NAMES = {one: name for name, one in _BY_NAME.items()}
_ORDERS = (Load, Drop)


def to_line(record: News | Order) -> bytes:
    """Return a record as a line."""
    return f'{{"record":"{_NAMES[type(record)]}",{canonical_json.dumps(record)[1:]}\n'.encode()


def read_news(text: bytes) -> News:
    """Return the news of a line; raises UsageError if it is not one."""
    found = _read(text)
    if isinstance(found, _ORDERS):
        raise UsageError(f"found {text[:60]!r}, expected news of a connector")
    news: News = found
    return news


def read_order(text: bytes) -> Order:
    """Return what a line tells a connector to do; raises UsageError if it is not an order."""
    found = _read(text)
    if not isinstance(found, _ORDERS):
        raise UsageError(f"found {text[:60]!r}, expected an order to a connector")
    return found


def _read(text: bytes) -> Any:
    try:
        found = json.loads(text)
        kind = _BY_NAME[found.pop("record")]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise UsageError(
            f"found {text[:60]!r}, expected what a connector says or is told"
        ) from None
    return canonical_json.value(kind, found, f"the record {_NAMES[kind]!r}")
