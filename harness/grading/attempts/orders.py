"""Hand out attempts as units of work (:mod:`harness.work`), but not to distrusted machines."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.assignments.assignment import Assignment
from harness.core.errors import UsageError
from harness.core.options import BoxLimits
from harness.grading.ledger.records import Lease
from harness.sandbox.boxed_engines import Sandbox
from harness.work import canonical_json, records
from harness.work.canonical_json import Level
from harness.work.crew import Crew, Ends
from harness.work.unit_runner import UnitRunner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.grading.ledger.ledger import Ledger


class GradingListener:
    """A listener to the events of a grading; this one ignores them."""

    def on_event(self, unit: records.WorkUnit, event: records.AttemptEvent) -> None:
        """Take in what a worker says."""

    def on_progress(self, unit: records.WorkUnit, event: records.ProgressEvent) -> None:
        """Take note of what runs now; where engines run elsewhere, nothing is told of it."""

    def on_time(self, under_way: Sequence[records.WorkUnit]) -> None:
        """Take note that time goes by; called several times a second, between two events."""


# --- Machines whose results count for nothing ----------------------------------------------------


def ran_on(figures: Iterable[str]) -> set[str]:
    """Return the machines of a cluster that gave results; ``figures``: of these."""
    return {canonical_json.loads(records.Measurements, one).machine for one in figures} - {""}


def withdraw(ledger: "Ledger", bases: Iterable[str], set_aside: "SetAside") -> list[str]:
    """Withdraw attempts in which such a machine has a part, to be rerun; return them."""
    found = set_aside.find_distrusted(ledger, bases)
    why = ", ".join(sorted(set(found.values())))
    return ledger.withdraw(found, f"set aside: {why}") if found else []


class DistrustedMachine(NamedTuple):
    """A machine that was set aside."""

    name: str
    at: float  # seconds since 1970


class SetAside:
    """The machines that were set aside."""

    def __init__(self, path: Path | None = None) -> None:
        """``path``: a file with a line of JSON for each machine; None to keep nothing."""
        self._path = path
        self._own: set[str] = set()
        self._stamp: tuple[int, ...] = ()  # of the file when it was read last
        self._kept: list[DistrustedMachine] = []

    def machines(self) -> frozenset[str]:
        """Return the names of all of them now; other processes may have added some.

        Raises:
            UsageError: the file cannot be read as one of ours.
        """
        return frozenset(self._own | {one.name for one in self.read_kept()})

    def add(self, machine: str, reason: str) -> None:
        """Set a machine aside.

        Raises:
            OSError: that cannot be kept.
        """
        self._own.add(machine)
        if self._path is None:
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        line = json.dumps({"at": round(time.time(), 3), "machine": machine, "why": reason})
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode())
        finally:
            os.close(descriptor)

    def find_distrusted(self, ledger: "Ledger", bases: Iterable[str]) -> dict[str, str]:
        """Return the attempts with a result of one of these machines, and its name."""
        machines = self.machines()
        figures = ledger.figures(bases) if machines else {}
        ran = ((basis, ran_on(runs) & machines) for basis, runs in figures.items())
        return {basis: min(found) for basis, found in ran if found}

    def read_kept(self) -> list[DistrustedMachine]:
        """Return the machines of the file, the first one first; raises as :meth:`machines`."""
        try:
            told = self._path.stat() if self._path else None
        except FileNotFoundError:
            told = None
        stamp = (told.st_ino, told.st_size, told.st_mtime_ns) if told else ()
        if stamp != self._stamp:  # it is asked for often, and changes seldom
            text = self._path.read_text(encoding="ascii") if self._path and stamp else ""
            self._kept = [self._machine(*one) for one in enumerate(text.splitlines(), 1)]
            self._stamp = stamp
        return list(self._kept)

    def _machine(self, number: int, line: str) -> DistrustedMachine:
        """Return the machine of a line, which a person may have edited."""
        try:
            found = json.loads(line)
            return DistrustedMachine(str(found["machine"]), float(found["at"]))
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                f"{self._path}:{number}: found {line[:60]!r}, expected"
                ' {"at": SECONDS, "machine": NAME, …}: remove the whole line to believe a machine'
                " again"
            ) from None


# --- Hand out attempts as units of work (:mod:`harness.work`) ------------------------------------


class OtherMachines(Protocol):
    """Other machines, which run units of work."""

    def level(self, choice: str) -> str:
        """Return the sandbox level for all of a grading; ``choice``: ``auto``, or a level."""

    def run(
        self,
        units: Sequence[records.WorkUnit],
        store: Path,
        context: "GradingContext",
        on_event: Callable[[int, records.AttemptEvent], None],
        on_time: Callable[[list[int]], None],
    ) -> Ends:
        """Do units; see :class:`harness.work.crew.Crew`; ``store``: of their case files."""


class GradingContext(NamedTuple):
    """Context shared by all submissions."""

    assignment: Assignment
    overlay: Path | None
    sandbox: str  # auto, a level, or off
    hidden: tuple[str, ...]  # files that no engine may see
    budget: float  # seconds of wall time for all case files of a submission
    jobs: int
    go_on: bool = True  # even if the first submissions all fail alike
    other_machines: OtherMachines | None = None  # where engines run; None: on this machine
    set_aside: SetAside = SetAside()  # of machines whose results count for nothing
    secret: str = ""  # of the ledger; never sent anywhere


class Orders:
    """Hand units out to worker processes, here or away: the same sandbox and limits for all.

    Close it. Until then it keeps the case files, images too, for the workers to read.
    """

    def __init__(
        self,
        context: GradingContext,
        box: BoxLimits,
        content_of: Callable[[str], bytes],
        *,
        alone: bool,
    ) -> None:
        """``box``: what engines may use. ``content_of``: gives a case file by its SHA-256.

        ``alone``: nothing else is running.

        Raises:
            SandboxError: there is no such sandbox here, or it does not hold.
        """
        self._context = context
        self._box = box
        self._content_of = content_of
        self._alone = alone
        self._sandbox = None if context.other_machines else sandbox_of(context, box)
        if context.other_machines:
            self._level = context.other_machines.level(context.sandbox)
        else:
            self._level = str(int(self._sandbox.level)) if self._sandbox else "off"
        self._store = tempfile.TemporaryDirectory(prefix="gtp-harness-")  # ours alone, mode 700

    def close(self) -> None:
        """Remove what was kept."""
        if self._sandbox:
            self._sandbox.close()
        self._store.cleanup()

    def run(
        self,
        units: Sequence[records.WorkUnit],
        workers: int,
        on_event: Callable[[int, records.AttemptEvent | records.ProgressEvent], None],
        on_time: Callable[[list[int]], None] = lambda _: None,
        *,
        shared: bool = False,
    ) -> Ends:
        """Do units; see :class:`harness.work.crew.Crew`. Away, nothing is told of progress.

        Yields (index, fault) as they end, None where all is well. Closing the iterator ends the
        work under way.
        """
        context, store = self._context, Path(self._store.name)
        for sha256 in {case.sha256 for unit in units for case in unit.cases}:
            if not (store / sha256).exists():
                (store / sha256).write_bytes(self._content_of(sha256))
        environment = records.Environment(
            Level(self._level), context.assignment.python, (*context.hidden, str(store))
        )
        ordered = [
            unit._replace(environment=environment, box=self._box, alone=self._alone)
            for unit in units
        ]
        if context.other_machines:
            return context.other_machines.run(ordered, store, context, on_event, on_time)
        proven = self._level if self._sandbox else ""
        crew = Crew(ordered, workers, on_event, on_time, store=store, proven=proven, shared=shared)
        return crew.results()  # type: ignore[return-value]


# --- for what is done in this process and its forks --------------------------------------------


def sandbox_of(context: GradingContext, box: BoxLimits) -> Sandbox | None:
    """Return the sandbox of a grading; None if it is off.

    Raises:
        SandboxError: there is no such sandbox here, or it does not hold.
    """
    if context.sandbox == "off":
        return None
    return Sandbox(context.sandbox, box, context.hidden, (), context.assignment.command_properties)


def unit_runner_of(context: GradingContext, box: BoxLimits) -> UnitRunner:
    """Return a runner of submissions in this process; raises as :func:`sandbox_of`."""
    sandbox, own = sandbox_of(context, box), context.assignment
    return UnitRunner(
        own, context.overlay, sandbox, own.limits, alone=False, budget=context.budget
    )


# --- Other gradings that run at the same time: with the same ledger, or on the same machine ------
# A single grading has its ledger for itself. Several that share one each take attempts that nobody
# has. An attempt in doubt is rerun with nothing beside it, so others on the machine must wait.


class Concurrency:
    """Sharing of a grading's machine and ledger; this one expects nobody else."""

    def take(self, ledger: "Ledger", bases: Sequence[str]) -> Lease:
        """Lease attempts: those that may be run by us."""
        return Lease(ledger.lease(bases), tuple(bases))

    def together(self) -> AbstractContextManager[object]:
        """Give a time in which others may run engines, too."""
        return nullcontext()

    def apart(self) -> AbstractContextManager[object]:
        """Give a time in which nobody else runs engines here."""
        return nullcontext()

    def last(self) -> AbstractContextManager[object]:
        """Give such a time as soon as nobody else wants to run engines here."""
        return nullcontext()


ALONE = Concurrency()
