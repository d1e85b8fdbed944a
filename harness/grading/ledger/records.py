"""Records of a ledger, which are read and made without its database."""

from typing import NamedTuple


class Run(NamedTuple):
    """A grading run."""

    started: str
    version: str
    assignment: str
    digest: str
    options: str


class CaseRow(NamedTuple):
    """A case file of a run."""

    kind: str
    name: str
    content: bytes
    path: str  # where it lay
    sha256: str


class PlannedAttempt(NamedTuple):
    """An attempt of a plan."""

    basis: str
    key: str
    kind: str
    name: str
    sha256: str
    build: str = ""


class AttemptState(NamedTuple):
    """The state of an attempt."""

    state: str  # waiting, leased, done or fault
    faults: int
    fault: str


class ResultRow(NamedTuple):
    """A result as the ledger stores it."""

    result: str
    started: str
    pid: int
    seconds: float
    cpu: float
    memory: int
    own_cpu: float
    figures: str


class FinishedRun(NamedTuple):
    """A run of an attempt that has ended."""

    basis: str
    row: ResultRow
    number: int  # of the run of it, from 1, of those that count
    last: bool  # the attempt is done with that


class BuildRow(NamedTuple):
    """A build as the ledger stores it."""

    basis: str
    result: str
    seconds: float


class MarkRow(NamedTuple):
    """A mark as the ledger stores it."""

    key: str
    marks: str
    submission: str
    bases: tuple[str, ...]
    run: int = 0
    given: str = ""


class Lease(NamedTuple):
    """Leased attempts, and the token to finish them with."""

    token: str
    bases: tuple[str, ...]
