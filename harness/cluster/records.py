"""The records that dispatcher, connector and worker exchange: plain data, all immutable."""

from __future__ import annotations

from typing import NamedTuple

from harness.cluster.rules import Facts, Needs
from harness.environments.records import PackedEnvironment
from harness.work.records import Sha256


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

    sha256: Sha256
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
    brought: str  # JSON of Brought, which nobody has looked at


class LostUnit(NamedTuple):
    """A unit that will get no report: from the connector."""

    id: str
    why: str
    begun: bool  # a worker had it in hand


class NamedUnit(NamedTuple):
    """What a person knows a unit by."""

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
