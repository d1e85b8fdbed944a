"""What passes between carrier, porter and worker, as plain data. All immutable."""

from __future__ import annotations

from typing import NamedTuple

from harness.cluster.rules import Facts, Needs
from harness.work.records import Sha256, WorkUnit


class SchedulerSettings(NamedTuple):
    """What a scheduler is told."""

    host: str
    port: int
    tls: str  # the folder of certificates; empty: none


class WorkerSettings(NamedTuple):
    """What a worker is told."""

    scheduler: str
    tls: str
    machine: str  # what it is called
    host: str  # an address of this machine, by which the scheduler reaches it; empty: any
    cache: str  # a folder
    cache_size: int  # bytes
    locks: str  # a folder that all workers of this machine have
    unsafe: bool  # engines may run without a sandbox


class PorterSettings(NamedTuple):
    """What a porter is told."""

    scheduler: str
    tls: str  # the folder of certificates; empty: none
    host: str  # an address of this machine, by which workers reach it
    port: int  # 0: any


class Lying(NamedTuple):
    """Bytes on the server."""

    sha256: Sha256
    path: str


class Load(NamedTuple):
    """A unit that the porter is to send: from the carrier."""

    id: str  # never used again
    number: int  # what has a smaller one goes before
    unit: WorkUnit  # without places: they are the server's own
    files: tuple[Lying, ...]  # all that the unit names
    needs: Needs
    only: tuple[str, ...]  # addresses of workers, of which one is to do it


class Errand(NamedTuple):
    """A unit as a worker gets it."""

    unit: WorkUnit
    bytes_at: str  # such as https://10.0.0.1:4711
    token: str  # good for this one


class Brought(NamedTuple):
    """What a worker says when it comes back."""

    machine: str
    lines: tuple[str, ...]  # words of harness.work, without their line ends
    trouble: str = ""  # of the worker itself: then the unit goes to another one


class Present(NamedTuple):
    """The workers that are there: from the porter, whenever it changes."""

    workers: tuple[Facts, ...]


class Back(NamedTuple):
    """A worker came back: from the porter."""

    id: str
    address: str  # of the worker
    brought: str  # JSON of Brought, which nobody has looked at


class Lost(NamedTuple):
    """A unit does not come back: from the porter."""

    id: str
    why: str
    begun: bool  # a worker had it in hand


News = Present | Back | Lost
