"""Units of a grading, done on a cluster: what goes next, what goes again, what is believed.

Of a unit whose worker died, what was in hand is sent again case file by case file, so that it is
known under which one a worker dies. That is told as the harness's own fault, and the ledger counts
how often it happened. Whatever else is lost is sent again, as often as it takes.
"""

import heapq
import secrets
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

from harness.assignments import needs
from harness.cluster import records, results
from harness.cluster.connector_link import LOST, ConnectorProcess, Link
from harness.environments import environment_archive, environment_cache
from harness.environments.interpreters import EnginePython, PackedEnvironment
from harness.errors import ExitCode, NoClusterError, SandboxError, UsageError
from harness.grading.attempts.orders import GradingContext, SetAside
from harness.reading import casefile
from harness.records import CaseFile
from harness.running.jobs import Fault
from harness.text import escape_controls
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
        self.failed_on: dict[str, frozenset[str]] = {}  # by basis, machines with harness errors
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
            while not run.is_over:
                run.send()
                for news in self.receive():
                    run.take(news)
                if self._connector is None:
                    run.requeue_all()
                on_time(run.under_way)
                yield from run.take_ended()
        finally:
            run.cancel()

    def send(self, piece: Piece, load: records.Load) -> str:
        """Send a load under a name of its own, which is returned."""
        assert self._connector
        self._sent += 1
        name = f"{self._name}-{self._sent}-{piece.cases[0].basis[:16]}"
        own = load._replace(id=name, number=self._sent)
        self._connector.send(own)
        return own.id

    @property
    def is_ready(self) -> bool:
        """Whether loads can be sent."""
        return self._connector is not None

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
    def unusable(self) -> set[str]:
        """The addresses of workers that get nothing now."""
        now = time.monotonic()
        return self.aside | {address for address, until in self._resting.items() if until > now}

    def note_trouble(self, address: str, trouble: str) -> None:
        """Let a worker rest that has given something back; say once why it has."""
        self._resting[address] = time.monotonic() + _REST
        machine = self.machine(address)
        if (machine, trouble) not in self._told:
            self._told.add((machine, trouble))
            text = f"the worker {address} on {machine} has given work back: {trouble}"
            self.remark(f"{escape_controls(text)}. It is tried again")

    def note_failure(self, basis: str, machine: str) -> None:
        """Let an attempt be tried on another machine next, if there is one."""
        self.failed_on[basis] = self.failed_on.get(basis, frozenset()) | {machine}

    def set_aside(self, address: str, reason: str) -> None:
        """Stop trusting all workers of a worker's machine."""
        machine = self.machine(address)
        if machine and machine not in self._book.machines():
            told = "what its machine did before counts for no mark"
            self.remark(f"the worker {address} on {machine} is set aside: {reason}; {told}")
            self._book.add(machine, reason)

    def machine(self, address: str) -> str:
        """Return where a worker is, as it said when it came: not as it says now."""
        return self.facts(address).machine

    def facts(self, address: str) -> records.Facts:
        """Return what a worker said of itself when it came."""
        return self._known.get(address, _UNKNOWN)


class _UnitRun:
    """The units of one call of :meth:`Dispatcher.run`."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        units: Sequence[WorkUnit],
        store: Path,
        context: GradingContext,
        on_event: Callable[[int, AttemptEvent], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._units = units
        self._store = store
        self._command_properties = context.assignment.command_properties
        self._secret = context.secret
        self._python = context.assignment.python
        self._environment = dispatcher.environment(self._python)
        self._needs = _needs(context, units[0].environment.sandbox, self._environment)
        self._is_lack_told = False
        self._on_event = on_event
        self._waiting: list[tuple[tuple[int, int], int, Piece]] = []  # a heap, in fair order
        self._count = count()  # of what ever waited: of equals the first goes first
        for index, unit in enumerate(units):
            # What is rerun is so on another machine. Else one on which all goes wrong, and fast,
            # would use up all tries of an attempt.
            ran = {one.machine for one in unit.cases} - {""} if unit.alone else set()
            failed = (dispatcher.failed_on.get(one.basis, frozenset()) for one in unit.cases)
            self._wait(Piece(index, unit.cases, not_on=frozenset(ran).union(*failed)))
        self._under_way: dict[str, Piece] = {}
        self._left = [1] * len(units)  # pieces of each unit
        self._open = len(units)  # units with pieces
        self._faults: dict[int, Fault] = {}
        self._ended: deque[int] = deque()
        self._opinions = results.ResultVotes()
        self._read: dict[str, CaseFile] = {}  # by SHA-256

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return not self._open and not self._ended

    @property
    def under_way(self) -> list[int]:
        """The units that are."""
        return sorted({piece.place for piece in self._under_way.values()})

    def take_ended(self) -> Ends:
        """Yield the units that have come to their end since."""
        while self._ended:
            index = self._ended.popleft()
            yield index, self._faults.get(index)

    def cancel(self) -> None:
        """Cancel the units that are on their way."""
        if self._under_way:
            self._dispatcher.close()

    def send(self) -> None:
        """Send what may be sent now, in fair order."""
        own = self._dispatcher
        if not own.is_ready:
            return
        aside, unusable = own.aside, own.unusable
        believed = [one for one in own.workers if one.address not in aside]
        # What all units may go to; one that is not to go to some machine goes there if it must.
        fitting = records.eligible_workers(believed, self._needs)
        ready = [one for one in fitting if one.address not in unusable]
        for _ in range(records.count_free(len(believed), len(self._under_way))):
            if not (ready and self._waiting):
                break
            *_, piece = heapq.heappop(self._waiting)
            places = records.elsewhere(ready, piece.not_on)
            load = self._load(piece, tuple(one.address for one in places))
            self._under_way[own.send(piece, load)] = piece
        if self._under_way or fitting:
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
        text = canonical_json.dumps(without_places(unit))
        own = records.Load(
            "", 0, text, files, self._needs, only, None, len(unit.cases), unit.alone
        )
        own = own._replace(assignment=unit.assignment.name, submission=unit.submission.key)
        if sent is None:
            return own
        archive = records.ServedFile(canonical_json.Sha256(sent.packed.sha256), str(sent.archive))
        return own._replace(files=(*files, archive), environment=sent.packed)

    def requeue_all(self) -> None:
        """Send all tasks under way again: nobody will report them now."""
        for name in list(self._under_way):
            self._requeue(self._under_way.pop(name))

    def take(self, news: records.News) -> None:
        """Take in what happened to something."""
        if isinstance(news, records.PresentWorkers | records.ClusterState):
            return
        piece = self._under_way.pop(news.id, None)
        if piece is None:  # it goes again already
            return
        if isinstance(news, records.LostUnit):
            if news.begun:
                self._take_death(piece, news.why)
            else:
                self._requeue(piece)
        else:
            self._take_finished(piece, news)

    def _take_death(self, piece: Piece, reason: str) -> None:
        if piece.is_opinion:
            self._settle(piece)
        elif len(piece.cases) > 1:
            self._left[piece.place] += len(piece.cases) - 1
            tries = piece.tries + 1
            for one in piece.cases:
                self._wait(piece._replace(cases=(one,), tries=tries))
        else:
            self._on_event(piece.place, HarnessFailed(piece.cases[0].basis, reason))
            self._end(piece)

    def _requeue(self, piece: Piece, excluded_machine: str = "") -> None:
        machines = piece.not_on | ({excluded_machine} - {""})
        self._wait(piece._replace(tries=piece.tries + 1, not_on=machines))

    def _take_finished(self, piece: Piece, news: records.FinishedUnit) -> None:
        machine = self._dispatcher.machine(news.address)
        try:
            if news.address in self._dispatcher.aside:
                raise results.UnbelievableError("it is set aside")
            brought = results.read_report(news.brought)
            if brought.trouble:
                self._dispatcher.note_trouble(news.address, brought.trouble)
                self._take_trouble(piece, machine, brought.trouble)
                return
            pace = self._dispatcher.facts(news.address).pace
            unit = self._units[piece.place]._replace(pace=pace)
            cases = {one.basis: self._case(one) for one in piece.cases}
            words, ended = results.read_events(brought, unit, cases)
        except results.UnbelievableError as error:
            self._dispatcher.set_aside(news.address, str(error))
            self._requeue(piece, machine)
            return
        for word in words:
            if isinstance(word, AttemptFinished):
                own = word._replace(figures=word.figures._replace(machine=machine))
                self._take_attempt(piece, news.address, machine, own)
            elif not piece.is_opinion:
                if isinstance(word, HarnessFailed):
                    self._dispatcher.note_failure(word.basis, machine)
                self._on_event(piece.place, word)
        if piece.is_opinion and not any(isinstance(word, AttemptFinished) for word in words):
            self._settle(piece)
        else:
            self._conclude(piece, words, ended.fault)

    def _take_trouble(self, piece: Piece, machine: str, trouble: str) -> None:
        troubles = (*piece.troubles, time.monotonic())
        if len(troubles) <= _TROUBLES or troubles[-1] - troubles[0] < _TROUBLED:
            self._requeue(piece._replace(troubles=troubles), machine)
            return
        if piece.is_opinion:
            self._settle(piece)
            return
        fault = f"no worker could do it; on {machine}: {trouble}"
        self._faults[piece.place] = Fault(escape_controls(fault))
        self._end(piece)

    def _take_attempt(
        self, piece: Piece, address: str, machine: str, word: AttemptFinished
    ) -> None:
        case = next(one for one in piece.cases if one.basis == word.basis)
        if not piece.is_opinion and not self._is_wanted(piece, machine, word):
            self._on_event(piece.place, word)
            return
        verdict = self._opinions.add(address, machine, word)
        if verdict is None:
            self._left[piece.place] += 1
            not_on = frozenset(self._opinions.machines(word.basis))
            self._wait(Piece(piece.place, (case,), not_on=not_on, is_opinion=True))
            return
        self._tell_verdict(piece, case, verdict)

    def _tell_verdict(self, piece: Piece, case: UnitCase, verdict: results.RoundVerdict) -> None:
        for liar in verdict.liars:
            self._dispatcher.set_aside(liar, verdict.why)
        if verdict.why and not verdict.liars:
            self._dispatcher.remark(f"{escape_controls(case.name)}: {verdict.why}")
        self._on_event(piece.place, verdict.word)

    def _is_wanted(self, piece: Piece, machine: str, word: AttemptFinished) -> bool:
        if word.doubtful or self._units[piece.place].alone:
            return False
        if not records.is_seconded(word.basis, self._secret):
            return False
        own = self._dispatcher
        others = records.eligible_workers(own.workers, self._needs, (machine,), own.aside)
        case = next(one for one in piece.cases if one.basis == word.basis)
        return any(one.machine != machine for one in others) and not self._chooses(case)

    def _chooses(self, case: UnitCase) -> bool:
        """Whether two runs of a case file may differ because an engine chooses something."""
        names = {step.command.partition(" ")[0] for step in self._case(case).steps}
        return any(self._command_properties[name].chooses for name in names)

    def _settle(self, piece: Piece) -> None:
        """Decide by what was said, for nobody else could do it."""
        for case in piece.cases:
            if verdict := self._opinions.close(case.basis):
                self._tell_verdict(piece, case, verdict)
        self._end(piece)

    def _conclude(self, piece: Piece, words: Sequence[AttemptEvent], fault: str) -> None:
        told = {word.basis for word in words if not isinstance(word, unit_records.BuildFinished)}
        left = tuple(one for one in piece.cases if one.basis not in told)
        if fault or left:
            rest = piece._replace(cases=left or piece.cases[-1:])
            if left:
                self._take_death(rest, fault or "its worker left it out")
                return
            self._faults[piece.place] = Fault(escape_controls(fault))
        self._end(piece)

    def _end(self, piece: Piece) -> None:
        self._left[piece.place] -= 1
        if not self._left[piece.place]:
            self._open -= 1
            self._ended.append(piece.place)

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


def _needs(
    context: GradingContext, level: str, environment: "SendableEnvironment | None"
) -> records.Needs:
    own = context.assignment
    tools = tuple(tool.name for tool in needs.of(own) if tool.name in needs.PACKAGES)
    python = own.python.fingerprint if own.python else ""
    return records.Needs(
        __version__, level, tools, python, environment.packed.base if environment else ""
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
