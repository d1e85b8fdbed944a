"""A unit of work, as plain data. All immutable, none does anything.

What a digest stands for is looked for where the unit says that it lies and, failing that, in the
stores that the worker was given.
"""

from __future__ import annotations

from typing import NamedTuple, NewType

from harness.environments.records import EnginePython
from harness.options import BoxLimits, Limits

VERSION = 1  # of units and words

Sha256 = NewType("Sha256", str)  # 64 hexadecimal digits
Name = NewType("Name", str)  # of a file below a folder, with / between its parts
Level = NewType("Level", str)  # one of harness.options.SANDBOXES


class UnitFile(NamedTuple):
    """A file of a folder."""

    name: Name
    sha256: Sha256


class Folder(NamedTuple):
    """Files that lie together."""

    name: str  # that it has
    files: tuple[UnitFile, ...]
    place: str = ""  # where it lies; "" or not there: to be laid out from a store


class UnitSubmission(NamedTuple):
    """The submission, and what of it counts."""

    key: str  # whose it is
    sha256: Sha256  # of the archive
    root: str  # what the names of its own files begin with in the archive
    kept: tuple[str, ...]  # its files by their names below root
    path: str = ""  # of the archive; "" or not there: in a store


class UnitCase(NamedTuple):
    """A case file to be run."""

    basis: str  # what the result is known by
    name: str  # of the file
    sha256: Sha256
    beside: tuple[UnitFile, ...] = ()  # what its commands name, by names from its folder
    # Where it lies, and with it what is beside it. Its own bytes may be in a store all the same.
    place: str = ""
    is_image: bool = False  # of another case file: its tests give no points


class Environment(NamedTuple):
    """In what engines run."""

    sandbox: Level
    python: EnginePython | None = None  # None: the system's
    hidden: tuple[str, ...] = ()  # paths that no engine may see


class WorkUnit(NamedTuple):
    """A submission with the case files that are to be run."""

    unit: int  # VERSION
    submission: UnitSubmission
    build: str  # what the result of its build is known by
    cases: tuple[UnitCase, ...]
    assignment: Folder
    course: Folder | None  # laid beside the submission
    environment: Environment
    limits: Limits
    box: BoxLimits
    alone: bool  # nothing else is running: what is measured counts
    budget: float  # seconds of wall time for all its case files
    spent: float = 0.0  # seconds of that
    # Seconds that this machine computes for what the reference machine does in one: what engines
    # compute is limited and told in seconds of that one. 0: in those of this machine.
    pace: float = 0.0
    # Names of commands, "" for the start: at which the submission hung alone, for the full limit,
    # and which it answers later than the short limit; see harness.running.hangs.ShortLimits.
    hung: tuple[str, ...] = ()
    patient: tuple[str, ...] = ()
