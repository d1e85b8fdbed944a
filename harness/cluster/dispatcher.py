"""Units of a grading, done on a cluster: what goes next, what goes again, what is believed.

Of a unit whose worker died, what was in hand is sent again case file by case file, so that it is
known under which one a worker dies. That is told as the harness's own fault, and the ledger counts
how often it happened. Whatever else is lost is sent again, as often as it takes.
"""

import heapq
import secrets
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

from harness.assignments import needs
from harness.cluster import records, results
from harness.cluster.connector_link import LOST, ConnectorProcess, Link
from harness.core.errors import ExitCode, NoClusterError, SandboxError, UsageError
from harness.core.records import CaseFile
from harness.core.text import escape_controls
from harness.environments import environment_archive, environment_cache
from harness.environments.interpreters import EnginePython, PackedEnvironment
from harness.grading.attempts.orders import GradingContext, SetAside
from harness.reading import casefile
from harness.running.jobs import Fault
from harness.work import canonical_json
from harness.work import records as unit_records
from harness.work.crew import Ends
from harness.work.records import AttemptEvent, AttemptFinished, HarnessFailed, UnitCase, WorkUnit
from oracle import __version__

_LOOK = 0.25  # seconds between two looks at the time
_PATIENCE = 600.0  # seconds
_PAUSES = (0.2, 1.0, 3.0, 10.0)  # seconds before the next connector, longer each time
# After so many troubles of workers with a unit it is a harness error, if they lasted for so many
# seconds: a disk may be full for a while, and its worker the only one meanwhile.
_TROUBLES, _TROUBLED = 5, 60.0
_LONG = 3.0  # seconds without a scheduler or a worker, after which a person is told
_REST = 1.0  # seconds in which a worker gets nothing after it has given something back
_AUTO = "auto"
_UNKNOWN = records.Facts("", "", "", (), (), ())
_LEVELS = {"3", "2", "1"}  # of sandboxes: none is never chosen by itself


class Piece(NamedTuple):
    """Of a unit what goes at once."""

    place: int  # of the unit, among all
    cases: tuple[UnitCase, ...]
    tries: int = 0
    troubles: tuple[float, ...] = ()  # when workers gave it back
    not_on: frozenset[str] = frozenset()  # machines
    is_opinion: bool = False  # it was done before, elsewhere


class Dispatcher:
    """Carries units to a cluster; to be closed."""

    def __init__(
        self,
        settings: records.ConnectorSettings,
        remark: Callable[[str], object] | None = None,
        link: Callable[[records.ConnectorSettings], Link] = ConnectorProcess,
        wait: float = _PATIENCE,
        book: SetAside | None = None,
    ) -> None:
        """``remark``: is told what a person must know; by default standard error is.

        ``link``: gives a way to a connector. ``wait``: seconds for a scheduler, or a worker, to be
        there again. ``book``: keeps the machines that are not trusted; None keeps nothing.
        """
        self._settings = settings
        self.remark = remark or _to_stderr  # tells a person
        self._link = link
        self._wait = wait
        self._connector: Link | None = None
        self._sent = 0
        self._name = secrets.token_hex(4)  # a scheduler may still have what another grading sent
        self.workers: tuple[records.Facts, ...] = ()
        self._is_reached = False  # whether the scheduler has said which they are
        self._book = book or SetAside()
        self._known: dict[str, records.Facts] = {}  # all workers that ever came, by address
        self._sendable: dict[str, SendableEnvironment | None] = {}  # by the program of its Python
        self._failed = 0  # connectors, one after the other
        self._resting: dict[str, float] = {}  # addresses of workers, by when they get nothing
        self._told: set[tuple[str, str]] = set()  # troubles of machines
        self._waits: set[str] = set()  # what was said to be waited for, since all was well
        # By basis, machines with harness errors: another one is tried next, if there is one.
        self.failed_on: defaultdict[str, set[str]] = defaultdict(set)
        self.be_patient()

    def close(self) -> None:
        """Cancel all units of ours, as far as possible."""
        if self._connector:
            self._connector.close()
            self._connector = None

    def level(self, choice: str) -> str:
        """Return the sandbox level of a grading: one for all its engines.

        ``choice``: ``auto``, the strongest that a worker has now; or one of them.

        Raises:
            SandboxError: no worker has a sandbox.
            NoClusterError: no worker comes, or the scheduler cannot be reached.
            UsageError: the scheduler is not one of ours.
        """
        while not self.workers:
            self.receive()
            if self._is_reached and not self.workers:
                self._wait_for("no worker has come to the scheduler")
        if choice != _AUTO:
            return choice
        held = {one for facts in self.workers for one in facts.levels} & _LEVELS
        if not held:
            raise SandboxError("no worker that has come to the scheduler has a sandbox")
        return max(held)

    def run(
        self,
        units: Sequence[WorkUnit],
        store: Path,
        context: GradingContext,
        on_event: Callable[[int, AttemptEvent], None],
        on_time: Callable[[list[int]], None] = lambda _: None,
    ) -> Ends:
        """Do units; yield (index, fault) as they end; see :class:`harness.work.crew.Crew`.

        ``store``: the folder of their case files, by SHA-256.
        """
        run = _UnitRun(self, units, store, context, on_event)
        try:
            while any(run.left):
                if self._connector:
                    run.send()
                for news in self.receive():
                    run.take(news)
                if self._connector is None:  # nobody will report what is under way
                    for name in list(run.under_way):
                        run.requeue(run.under_way.pop(name))
                on_time(sorted({piece.place for piece in run.under_way.values()}))
                while run.ended:
                    index = run.ended.popleft()
                    yield index, run.faults.get(index)
        finally:
            if run.under_way:
                self.close()

    def send(self, piece: Piece, load: records.Load) -> str:
        """Send a load under a name of its own, which is returned."""
        assert self._connector
        self._sent += 1
        name = f"{self._name}-{self._sent}-{piece.cases[0].basis[:16]}"
        self._connector.send(load._replace(id=name, number=self._sent))
        return name

    def receive(self) -> list[records.News]:
        """Return what the connector says; start one if there is none."""
        if self._connector is None:
            self._connector = self._link(self._settings)
        news = self._connector.receive(_LOOK)
        for one in news:
            if isinstance(one, records.PresentWorkers):
                self._note_workers(one.workers)
                self._failed, self._is_reached = 0, True
        if (status := self._connector.status) is not None:
            # It has ended: with it goes all that was on its way.
            self.close()
            self.workers, self._is_reached = (), False
            if status == ExitCode.BROKEN:
                raise UsageError(f"the scheduler {self._settings.scheduler} cannot be used")
            if status != LOST and self._failed >= len(_PAUSES):
                raise UsageError(f"the process that speaks to the scheduler ended ({status})")
            self._wait_for(f"the scheduler {self._settings.scheduler} cannot be reached")
            time.sleep(_PAUSES[min(self._failed, len(_PAUSES) - 1)])
            self._failed += 1
        return news

    def _note_workers(self, workers: Sequence[records.Facts]) -> None:
        """Take note of the workers that are there; one of an impossible pace gets nothing."""
        for one in workers:
            wrong = records.wrong_with_pace(one.pace)
            if wrong and one.address not in self._known:
                self.remark(f"the worker {one.address} on {one.machine} gets nothing: {wrong}")
        self._known.update((one.address, one) for one in workers)
        self.workers = tuple(one for one in workers if not records.wrong_with_pace(one.pace))

    def be_patient(self) -> None:
        """Take note that all is well."""
        self._patient_until = time.monotonic() + self._wait
        self._waits.clear()

    def _wait_for(self, reason: str) -> None:
        """Wait as :meth:`require_patience`, and say so once if it takes long."""
        waited = time.monotonic() - (self._patient_until - self._wait)
        if waited > _LONG and reason not in self._waits:
            self._waits.add(reason)
            self.remark(f"{reason}. It is waited for")
        self.require_patience(reason)

    def require_patience(self, reason: str) -> None:
        """Continue waiting; raises NoClusterError if that has lasted for too long."""
        if time.monotonic() > self._patient_until:
            raise NoClusterError(f"{reason}. Results are kept; the same command continues")

    def environment(self, python: EnginePython | None) -> "SendableEnvironment | None":
        """Return an environment of this machine, packed for workers; None if it is not sent."""
        if python is None:
            return None
        if python.program not in self._sendable:
            try:
                self._sendable[python.program] = sendable(python)
            except (environment_archive.UnsendableError, UsageError) as error:
                self.remark(f"the environment with {python.described} is not sent: {error}")
                self._sendable[python.program] = None
        return self._sendable[python.program]

    @property
    def aside(self) -> set[str]:
        """The addresses of workers that are no longer trusted."""
        machines = self._book.machines()
        return {address for address, one in self._known.items() if one.machine in machines}

    @property
    def resting(self) -> set[str]:
        """The addresses of workers that get nothing for a moment."""
        now = time.monotonic()
        return {address for address, until in self._resting.items() if until > now}

    def note_trouble(self, worker: records.Facts, trouble: str) -> None:
        """Let a worker rest that has given something back; say once why it has."""
        self._resting[worker.address] = time.monotonic() + _REST
        if (worker.machine, trouble) not in self._told:
            self._told.add((worker.machine, trouble))
            who = f"the worker {worker.address} on {worker.machine}"
            text = escape_controls(f"{who} has given work back: {trouble}")
            self.remark(f"{text}. It is tried again")

    def set_aside(self, worker: records.Facts, reason: str) -> None:
        """Stop trusting all workers of a worker's machine."""
        machine = worker.machine
        if machine and machine not in self._book.machines():
            told = "what its machine did before counts for no mark"
            self.remark(f"the worker {worker.address} on {machine} is set aside: {reason}; {told}")
            self._book.add(machine, reason)

    def facts(self, address: str) -> records.Facts:
        """Return what a worker said of itself when it came, not what it says now."""
        return self._known.get(address, _UNKNOWN._replace(address=address))


class _UnitRun:
    """The units of one call of :meth:`Dispatcher.run`.

    Attributes: ``under_way``, pieces by the names of their loads; ``left``, the number of pieces
    of each unit that have not ended; ``ended``, units that have, to be told; ``faults``, of these.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        units: Sequence[WorkUnit],
        store: Path,
        context: GradingContext,
        on_event: Callable[[int, AttemptEvent], None],
    ) -> None:
        own = context.assignment
        self._dispatcher = dispatcher
        self._units = units
        self._store = store
        self._command_properties = own.command_properties
        self._secret = context.secret
        self._python = own.python
        self._environment = dispatcher.environment(own.python)
        self._needs = records.Needs(
            __version__,
            units[0].environment.sandbox,
            tuple(tool.name for tool in needs.of(own) if tool.name in needs.PACKAGES),
            own.python.fingerprint if own.python else "",
            self._environment.packed.base if self._environment else "",
        )
        self._is_lack_told = False
        self._on_event = on_event
        self._waiting: list[tuple[tuple[int, int], int, Piece]] = []  # a heap, in fair order
        self._count = count()  # of what ever waited: of equals the first goes first
        for index, unit in enumerate(units):
            # What is rerun is so on another machine. Else one on which all goes wrong, and fast,
            # would use up all tries of an attempt.
            ran = {one.machine for one in unit.cases} - {""} if unit.alone else set()
            failed = (dispatcher.failed_on.get(one.basis, ()) for one in unit.cases)
            self._wait(Piece(index, unit.cases, not_on=frozenset(ran).union(*failed)))
        self.under_way: dict[str, Piece] = {}
        self.left = [1] * len(units)
        self.faults: dict[int, Fault] = {}
        self.ended: deque[int] = deque()
        self._opinions = results.ResultVotes()
        self._read: dict[str, CaseFile] = {}  # by SHA-256

    def send(self) -> None:
        """Send what may be sent now, in fair order."""
        own = self._dispatcher
        aside, resting = own.aside, own.resting
        believed = [one for one in own.workers if one.address not in aside]
        # What all units may go to; one that is not to go to some machine goes there if it must.
        fitting = records.eligible_workers(believed, self._needs)
        ready = [one for one in fitting if one.address not in resting]
        for _ in range(records.count_free(len(believed), len(self.under_way))):
            if not (ready and self._waiting):
                break
            *_, piece = heapq.heappop(self._waiting)
            places = records.elsewhere(ready, piece.not_on)
            load = self._load(piece, tuple(one.address for one in places))
            self.under_way[own.send(piece, load)] = piece
        if self.under_way or fitting:
            own.be_patient()
        elif self._waiting:  # nobody can do anything now
            words = [f"gtp-harness {self._needs.version}", f"sandbox level {self._needs.level}"]
            words += [*self._needs.tools, *([self._python.described] if self._python else [])]
            why = f"no worker has what the units need: {', '.join(words)}"
            if believed:
                lacking = min((records.missing(one, self._needs) for one in believed), key=len)
                why += f"; what is missing: {', '.join(lacking)}"
                if not self._is_lack_told:
                    own.remark(f"{why}. A worker that has it is waited for")
                    self._is_lack_told = True
            own.require_patience(why)

    def _wait(self, piece: Piece) -> None:
        order = records.order(piece.tries, piece.place)
        heapq.heappush(self._waiting, (order, next(self._count), piece))

    def _load(self, piece: Piece, only: tuple[str, ...]) -> records.Load:
        unit = self._units[piece.place]._replace(cases=piece.cases)
        files, sent = list_files(unit, self._store), self._environment
        if sent:
            sha256 = canonical_json.Sha256(sent.packed.sha256)
            files = (*files, records.ServedFile(sha256, str(sent.archive)))
        return records.Load(
            "",
            0,
            canonical_json.dumps(without_places(unit)),
            files,
            self._needs,
            only,
            sent.packed if sent else None,
            len(unit.cases),
            unit.alone,
            unit.assignment.name,
            unit.submission.key,
        )

    def requeue(self, piece: Piece, excluded_machine: str = "") -> None:
        """Let a piece be sent again."""
        machines = piece.not_on | ({excluded_machine} - {""})
        self._wait(piece._replace(tries=piece.tries + 1, not_on=machines))

    def take(self, news: records.News) -> None:
        """Take in what happened to something."""
        if isinstance(news, records.PresentWorkers | records.ClusterState):
            return
        piece = self.under_way.pop(news.id, None)
        if piece is None:  # it goes again already
            return
        if isinstance(news, records.FinishedUnit):
            self._take_finished(piece, news)
        elif news.begun:
            self._take_death(piece, news.why)
        else:
            self.requeue(piece)

    def _take_death(self, piece: Piece, reason: str) -> None:
        if piece.is_opinion:
            self._settle(piece)
        elif len(piece.cases) > 1:
            self.left[piece.place] += len(piece.cases) - 1
            tries = piece.tries + 1
            for one in piece.cases:
                self._wait(piece._replace(cases=(one,), tries=tries))
        else:
            self._on_event(piece.place, HarnessFailed(piece.cases[0].basis, reason))
            self._end(piece)

    def _take_finished(self, piece: Piece, news: records.FinishedUnit) -> None:
        worker = self._dispatcher.facts(news.address)
        try:
            if news.address in self._dispatcher.aside:
                raise results.UnbelievableError("it is set aside")
            brought = results.read_report(news.brought)
            if brought.trouble:
                self._dispatcher.note_trouble(worker, brought.trouble)
                self._take_trouble(piece, worker.machine, brought.trouble)
                return
            unit = self._units[piece.place]._replace(pace=worker.pace)
            cases = {one.basis: self._case(one) for one in piece.cases}
            words, ended = results.read_events(brought, unit, cases)
        except results.UnbelievableError as error:
            self._dispatcher.set_aside(worker, str(error))
            self.requeue(piece, worker.machine)
            return
        for word in words:
            if isinstance(word, AttemptFinished):
                figures = word.figures._replace(machine=worker.machine)
                self._take_attempt(piece, worker, word._replace(figures=figures))
            elif not piece.is_opinion:
                if isinstance(word, HarnessFailed):
                    self._dispatcher.failed_on[word.basis].add(worker.machine)
                self._on_event(piece.place, word)
        if piece.is_opinion and not any(isinstance(word, AttemptFinished) for word in words):
            self._settle(piece)
            return
        told = {word.basis for word in words if not isinstance(word, unit_records.BuildFinished)}
        left = tuple(one for one in piece.cases if one.basis not in told)
        if left:
            reason = ended.fault or "its worker left it out"
            self._take_death(piece._replace(cases=left), reason)
            return
        if ended.fault:
            self.faults[piece.place] = Fault(escape_controls(ended.fault))
        self._end(piece)

    def _take_trouble(self, piece: Piece, machine: str, trouble: str) -> None:
        troubles = (*piece.troubles, time.monotonic())
        if len(troubles) <= _TROUBLES or troubles[-1] - troubles[0] < _TROUBLED:
            self.requeue(piece._replace(troubles=troubles), machine)
        elif piece.is_opinion:
            self._settle(piece)
        else:
            fault = f"no worker could do it; on {machine}: {trouble}"
            self.faults[piece.place] = Fault(escape_controls(fault))
            self._end(piece)

    def _take_attempt(self, piece: Piece, worker: records.Facts, word: AttemptFinished) -> None:
        case = next(one for one in piece.cases if one.basis == word.basis)
        if not piece.is_opinion and not self._is_seconded(piece, case, worker.machine, word):
            self._on_event(piece.place, word)
            return
        verdict = self._opinions.add(worker.address, worker.machine, word)
        if verdict:
            self._tell_verdict(piece, case, verdict)
            return
        self.left[piece.place] += 1
        not_on = frozenset(self._opinions.machines(word.basis))
        self._wait(Piece(piece.place, (case,), not_on=not_on, is_opinion=True))

    def _tell_verdict(self, piece: Piece, case: UnitCase, verdict: results.RoundVerdict) -> None:
        for liar in verdict.liars:
            self._dispatcher.set_aside(self._dispatcher.facts(liar), verdict.why)
        if verdict.why and not verdict.liars:
            self._dispatcher.remark(f"{escape_controls(case.name)}: {verdict.why}")
        self._on_event(piece.place, verdict.word)

    def _is_seconded(
        self, piece: Piece, case: UnitCase, machine: str, word: AttemptFinished
    ) -> bool:
        """Whether another machine is to do an attempt again, and must have the same result."""
        if word.doubtful or self._units[piece.place].alone:
            return False
        if not records.is_seconded(word.basis, self._secret):
            return False
        own = self._dispatcher
        others = records.eligible_workers(own.workers, self._needs, (machine,), own.aside)
        # Two runs may differ if the engine chooses something.
        names = {step.command.partition(" ")[0] for step in self._case(case).steps}
        chooses = any(self._command_properties[name].chooses for name in names)
        return any(one.machine != machine for one in others) and not chooses

    def _settle(self, piece: Piece) -> None:
        """Decide by what was said, for nobody else could do it."""
        for case in piece.cases:
            if verdict := self._opinions.close(case.basis):
                self._tell_verdict(piece, case, verdict)
        self._end(piece)

    def _end(self, piece: Piece) -> None:
        self.left[piece.place] -= 1
        if not self.left[piece.place]:
            self.ended.append(piece.place)

    def _case(self, case: UnitCase) -> CaseFile:
        if case.sha256 not in self._read:
            content = (self._store / case.sha256).read_bytes()
            self._read[case.sha256] = casefile.parse(content, case.name)
        return self._read[case.sha256]


def without_places(unit: WorkUnit) -> WorkUnit:
    """Return a unit that says nothing of where its files lie here."""
    return unit._replace(
        submission=unit.submission._replace(path=""),
        cases=tuple(one._replace(place="", machine="") for one in unit.cases),
        assignment=unit.assignment._replace(place=""),
        course=unit.course and unit.course._replace(place=""),
    )


def list_files(unit: WorkUnit, store: Path) -> tuple[records.ServedFile, ...]:
    """Return where all lies that a unit names."""
    own = unit.submission
    found = [records.ServedFile(own.sha256, own.path)]
    for folder in filter(None, (unit.assignment, unit.course)):
        found += _files_of(folder)
    for case in unit.cases:
        found.append(records.ServedFile(case.sha256, str(store / case.sha256)))
        found += [
            records.ServedFile(one.sha256, str(Path(case.place, one.name))) for one in case.beside
        ]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=8)  # all units of a grading have the same
def _files_of(folder: unit_records.Folder) -> tuple[records.ServedFile, ...]:
    return tuple(
        records.ServedFile(one.sha256, str(Path(folder.place, one.name))) for one in folder.files
    )


def _to_stderr(text: str) -> None:
    print(f"gtp-harness: {escape_controls(text)}", file=sys.stderr, flush=True)


# --- Environments of this machine, packed so that they can be sent to workers --------------------


class SendableEnvironment(NamedTuple):
    """An environment of this machine, and the path of its archive."""

    packed: PackedEnvironment
    archive: Path


def sendable(python: EnginePython) -> SendableEnvironment | None:
    """Return the environment of a Python with its archive; None: ``gtp-harness env`` made none.

    Raises:
        UnsendableError: it cannot be moved to another machine.
        UsageError: its archive cannot be written.
    """
    stored = environment_cache.of_program(python.program)
    if stored is None:
        return None
    found = SendableEnvironment(*environment_cache.pack(stored))
    if found.packed.fingerprint != python.fingerprint:
        raise environment_archive.UnsendableError("it was changed since the grading began")
    return found
