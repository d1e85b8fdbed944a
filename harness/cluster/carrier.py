"""Units of a grading, done on a cluster: what goes next, what goes again, what is believed.

Of a unit whose worker died, what was in hand is sent again case file by case file, so that it is
known under which one a worker dies. That is told as the harness's own fault, and the ledger counts
how often it happened. Whatever else is lost is sent again, as often as it takes.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.assignments import needs
from harness.cluster import believing, rules
from harness.cluster.believing import UnbelievableError
from harness.cluster.opinions import Opinions
from harness.cluster.portering import PorterProcess
from harness.cluster.records import Back, Brought, Load, Lost, Lying, News, PorterSettings, Present
from harness.cluster.rules import Facts, Needs
from harness.errors import SandboxError, ServerError, UsageError
from harness.escaping import escape_controls
from harness.exits import ExitCode
from harness.grading.attempts.orders import GradingContext
from harness.reading import casefile
from harness.records import CaseFile
from harness.running.jobs import Fault
from harness.work.crew import Ends
from harness.work.records import UnitCase, WorkUnit
from harness.work.worker_events import AttemptEvent, AttemptFinished, BuildFinished, HarnessFailed
from oracle import __version__

_LOOK = 0.25  # seconds between two looks at the time
_PATIENCE = 600.0  # seconds in which a scheduler, or a worker, must be there again
_PAUSES = (0.2, 1.0, 3.0, 10.0)  # seconds before the next porter, longer each time
_TROUBLES = 5  # so often a unit goes on before a worker's trouble is told as the harness's
_SCHEDULER_LOST = 4  # exit status of a porter; see harness.cluster.porter
_AUTO = "auto"
_LEVELS = {"3", "2", "1"}  # of sandboxes: none is never chosen by itself


class Piece(NamedTuple):
    """Of a unit what goes at once."""

    place: int  # of the unit, among all
    cases: tuple[UnitCase, ...]
    tries: int = 0
    troubles: int = 0
    not_on: frozenset[str] = frozenset()  # machines
    is_opinion: bool = False  # it was done before, elsewhere


class Carrier:
    """Carries units to a cluster; to be closed."""

    def __init__(
        self, settings: PorterSettings, remark: Callable[[str], object] | None = None
    ) -> None:
        """``remark``: is told what a person must know; by default standard error is."""
        self._settings = settings
        self._remark = remark or _to_stderr
        self._porter: PorterProcess | None = None
        self._sent = 0
        self.workers: tuple[Facts, ...] = ()
        self.aside: set[str] = set()  # addresses of workers that are not believed any more
        self.ran: dict[str, str] = {}  # the machine on which an attempt was run, by its basis
        self._failed = 0  # porters, one after the other
        self._patient_until = time.monotonic() + _PATIENCE

    def close(self) -> None:
        """Let nothing of ours go on, as far as that can be said."""
        if self._porter:
            self._porter.close()
            self._porter = None

    def level(self, choice: str) -> str:
        """Return the sandbox level of a grading: one for all its engines.

        ``choice``: ``auto``, the strongest that a worker has now; or one of them.

        Raises:
            SandboxError: no worker has a sandbox.
            ServerError: no worker comes, or the scheduler cannot be reached.
            UsageError: the scheduler is not one of ours.
        """
        while not self.workers:
            self.hear()
            self.require_patience("no worker has come to the scheduler")
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
        means: GradingContext,
        on_word: Callable[[int, AttemptEvent], None],
        on_time: Callable[[list[int]], None] = lambda _: None,
    ) -> Ends:
        """Do units; yield (index, fault) as they end; see :meth:`harness.work.crew.Crew.run`.

        ``store``: the folder of their case files, by SHA-256.
        """
        trip = _Trip(self, units, store, means, on_word)
        try:
            while not trip.is_over:
                trip.send()
                for news in self.hear():
                    trip.take(news)
                if self._porter is None:
                    trip.begin_anew()
                on_time(trip.under_way)
                yield from trip.ended()
        finally:
            trip.leave()

    # --- the porter ---

    def send(self, piece: Piece, load: Load) -> str:
        """Send a load under a name of its own, which is returned."""
        assert self._porter
        self._sent += 1
        own = load._replace(id=f"{self._sent}-{piece.cases[0].basis[:16]}", number=self._sent)
        self._porter.send(own)
        return own.id

    @property
    def is_ready(self) -> bool:
        """Whether loads can be sent."""
        return self._porter is not None

    def hear(self) -> list[News]:
        """Return what the porter says; start one if there is none."""
        if self._porter is None:
            self._porter = PorterProcess(self._settings)
        news = self._porter.hear(_LOOK)
        for one in news:
            if isinstance(one, Present):
                self.workers = one.workers
                self._failed = 0
        if self._porter.status is not None:
            self._lose_porter(self._porter.status)
        return news

    def _lose_porter(self, status: int) -> None:
        """Take note that the porter has ended: with it goes all that was on its way."""
        self.close()
        self.workers = ()
        if status == ExitCode.BROKEN:
            raise UsageError(f"the scheduler {self._settings.scheduler} cannot be used")
        if status != _SCHEDULER_LOST and self._failed >= len(_PAUSES):
            raise UsageError(f"the process that speaks to the scheduler ended ({status})")
        self.require_patience(f"the scheduler {self._settings.scheduler} cannot be reached")
        time.sleep(_PAUSES[min(self._failed, len(_PAUSES) - 1)])
        self._failed += 1

    def be_patient(self) -> None:
        """Take note that all is well."""
        self._patient_until = time.monotonic() + _PATIENCE

    def require_patience(self, why: str) -> None:
        """Go on waiting.

        Raises:
            ServerError: that has lasted for too long.
        """
        if time.monotonic() > self._patient_until:
            raise ServerError(f"{why}. What was written is there: the same command goes on")

    def remark(self, text: str) -> None:
        """Tell a person."""
        self._remark(text)

    def set_aside(self, address: str, why: str) -> None:
        """Believe a worker nothing any more."""
        if address not in self.aside:
            self.aside.add(address)
            machine = next((one.machine for one in self.workers if one.address == address), "?")
            self.remark(f"the worker {address} on {machine} is set aside: {why}")


class _Trip:
    """The units of one call of :meth:`Carrier.run`."""

    def __init__(
        self,
        carrier: Carrier,
        units: Sequence[WorkUnit],
        store: Path,
        means: GradingContext,
        on_word: Callable[[int, AttemptEvent], None],
    ) -> None:
        self._carrier = carrier
        self._units = units
        self._store = store
        self._natures = means.assignment.natures
        self._needs = _needs(means, units[0].environment.sandbox)
        self._on_word = on_word
        self._waiting = [self._first(index, unit) for index, unit in enumerate(units)]
        self._flying: dict[str, Piece] = {}
        self._left = [1] * len(units)  # pieces of each unit
        self._faults: dict[int, Fault] = {}
        self._ended: deque[int] = deque()
        self._opinions = Opinions()
        self._read: dict[str, CaseFile] = {}  # by SHA-256

    @property
    def is_over(self) -> bool:
        """Whether nothing is left."""
        return not any(self._left) and not self._ended

    @property
    def under_way(self) -> list[int]:
        """The units that are."""
        return sorted({piece.place for piece in self._flying.values()})

    def ended(self) -> Ends:
        """Yield the units that have come to their end since."""
        while self._ended:
            index = self._ended.popleft()
            yield index, self._faults.get(index)

    def leave(self) -> None:
        """Let nobody go on with what is on its way."""
        if self._flying:
            self._carrier.close()

    # --- out ---

    def _first(self, index: int, unit: WorkUnit) -> Piece:
        """Return all of a unit; what is run again is so on another machine."""
        ran = {self._carrier.ran.get(one.basis, "") for one in unit.cases} if unit.alone else {""}
        return Piece(index, unit.cases, not_on=frozenset(ran - {""}))

    def send(self) -> None:
        """Send what may be sent now, in fair order."""
        own = self._carrier
        if not own.is_ready:
            return
        self._waiting.sort(key=lambda piece: rules.order(piece.tries, piece.place))
        believed = [one for one in own.workers if one.address not in own.aside]
        for piece in self._waiting[: rules.room(len(believed), len(self._flying))]:
            places = rules.places(own.workers, self._needs, piece.not_on, own.aside)
            if places:
                load = self._load(piece, tuple(one.address for one in places))
                self._flying[own.send(piece, load)] = piece
                self._waiting.remove(piece)
        if self._flying:
            own.be_patient()
        own.require_patience(f"no worker has what the units need: {_told(self._needs)}")

    def _load(self, piece: Piece, only: tuple[str, ...]) -> Load:
        unit = self._units[piece.place]._replace(cases=piece.cases)
        return Load("", 0, without_places(unit), lying(unit, self._store), self._needs, only)

    # --- back ---

    def begin_anew(self) -> None:
        """Let all go again that was on its way: nobody will tell of it any more."""
        for name in list(self._flying):
            self._again(self._flying.pop(name))

    def take(self, news: News) -> None:
        """Take in what happened to something."""
        if isinstance(news, Present):
            return
        piece = self._flying.pop(news.id, None)
        if piece is None:  # it goes again already
            return
        if isinstance(news, Lost):
            self._lost(piece, news)
        else:
            self._back(piece, news)

    def _lost(self, piece: Piece, news: Lost) -> None:
        if news.begun:
            self._died(piece, news.why)
        else:
            self._again(piece)

    def _died(self, piece: Piece, why: str) -> None:
        """Take note that a worker died over a piece."""
        if piece.is_opinion:
            self._settle(piece)
        elif len(piece.cases) > 1:
            self._left[piece.place] += len(piece.cases) - 1
            tries = piece.tries + 1
            self._waiting += [piece._replace(cases=(one,), tries=tries) for one in piece.cases]
        else:
            self._on_word(piece.place, HarnessFailed(piece.cases[0].basis, why))
            self._end(piece)

    def _again(self, piece: Piece, not_on: str = "") -> None:
        machines = piece.not_on | ({not_on} - {""})
        self._waiting.append(piece._replace(tries=piece.tries + 1, not_on=machines))

    def _back(self, piece: Piece, news: Back) -> None:
        machine = self._machine(news.address)
        try:
            if news.address in self._carrier.aside:
                raise UnbelievableError("it is set aside")
            brought = believing.brought(news.brought)
            if brought.trouble:
                self._trouble(piece, brought)
                return
            unit = self._units[piece.place]
            cases = {one.basis: self._case(one) for one in piece.cases}
            words, ended = believing.heard(brought, unit, cases)
        except UnbelievableError as error:
            self._carrier.set_aside(news.address, str(error))
            self._again(piece, machine)
            return
        self._hear(piece, news.address, machine, words)
        if piece.is_opinion and not any(isinstance(word, AttemptFinished) for word in words):
            self._settle(piece)
        else:
            self._close(piece, words, ended.fault)

    def _machine(self, address: str) -> str:
        """Return where a worker is, as it said when it came: not as it says now."""
        return next((one.machine for one in self._carrier.workers if one.address == address), "")

    def _trouble(self, piece: Piece, brought: Brought) -> None:
        """Let another worker do what one could not."""
        if piece.troubles < _TROUBLES:
            self._again(piece._replace(troubles=piece.troubles + 1), brought.machine)
            return
        if piece.is_opinion:
            self._settle(piece)
            return
        fault = f"no worker could do it; on {brought.machine}: {brought.trouble}"
        self._faults[piece.place] = Fault(escape_controls(fault))
        self._end(piece)

    def _hear(
        self, piece: Piece, address: str, machine: str, words: Sequence[AttemptEvent]
    ) -> None:
        for word in words:
            if isinstance(word, AttemptFinished):
                self._carrier.ran[word.basis] = machine
                own = word._replace(figures=word.figures._replace(machine=machine))
                self._done(piece, address, machine, own)
            elif not piece.is_opinion:
                self._on_word(piece.place, word)

    def _done(self, piece: Piece, address: str, machine: str, word: AttemptFinished) -> None:
        case = next(one for one in piece.cases if one.basis == word.basis)
        is_wanted = self._is_wanted(piece, machine, word)
        if not piece.is_opinion and not is_wanted:
            self._on_word(piece.place, word)
            return
        verdict = self._opinions.hear(address, machine, word)
        if verdict is None:
            self._left[piece.place] += 1
            not_on = frozenset(self._opinions.machines(word.basis))
            self._waiting.append(Piece(piece.place, (case,), not_on=not_on, is_opinion=True))
            return
        for liar in verdict.liars:
            self._carrier.set_aside(liar, verdict.why)
        if verdict.why and not verdict.liars:
            self._carrier.remark(f"{escape_controls(case.name)}: {verdict.why}")
        self._on_word(piece.place, verdict.word)

    def _is_wanted(self, piece: Piece, machine: str, word: AttemptFinished) -> bool:
        """Whether there is to be a second opinion."""
        if not rules.is_seconded(word.basis) or word.doubtful or self._units[piece.place].alone:
            return False
        own = self._carrier
        others = rules.places(own.workers, self._needs, (machine,), own.aside)
        case = next(one for one in piece.cases if one.basis == word.basis)
        return any(one.machine != machine for one in others) and not self._chooses(case)

    def _chooses(self, case: UnitCase) -> bool:
        """Whether two runs of a case file may differ because an engine chooses something."""
        names = {step.command.partition(" ")[0] for step in self._case(case).steps}
        return any(self._natures[name].chooses for name in names)

    def _settle(self, piece: Piece) -> None:
        """Believe the first who did it, for nobody else could."""
        for case in piece.cases:
            word = self._opinions.first(case.basis)
            if word:
                self._on_word(piece.place, word)
        self._end(piece)

    def _close(self, piece: Piece, words: Sequence[AttemptEvent], fault: str) -> None:
        """Take note of how a worker came to its end with a piece."""
        told = {word.basis for word in words if not isinstance(word, BuildFinished)}
        left = tuple(one for one in piece.cases if one.basis not in told)
        if fault or left:
            rest = piece._replace(cases=left or piece.cases[-1:])
            if left:
                self._died(rest, fault or "its worker left it out")
                return
            self._faults[piece.place] = Fault(escape_controls(fault))
        self._end(piece)

    def _end(self, piece: Piece) -> None:
        self._left[piece.place] -= 1
        if not self._left[piece.place]:
            self._ended.append(piece.place)

    def _case(self, case: UnitCase) -> CaseFile:
        if case.sha256 not in self._read:
            content = (self._store / case.sha256).read_bytes()
            self._read[case.sha256] = casefile.parse(content, case.name)
        return self._read[case.sha256]


def without_places(unit: WorkUnit) -> WorkUnit:
    """Return a unit that says nothing of where its files lie here."""
    course = unit.course and unit.course._replace(place="")
    return unit._replace(
        submission=unit.submission._replace(path=""),
        cases=tuple(one._replace(place="") for one in unit.cases),
        assignment=unit.assignment._replace(place=""),
        course=course,
    )


def lying(unit: WorkUnit, store: Path) -> tuple[Lying, ...]:
    """Return where all lies that a unit names."""
    own = unit.submission
    found = [Lying(own.sha256, own.path)]
    for folder in (unit.assignment, *([unit.course] if unit.course else [])):
        found += [Lying(one.sha256, str(Path(folder.place, one.name))) for one in folder.files]
    for case in unit.cases:
        found.append(Lying(case.sha256, str(store / case.sha256)))
        found += [Lying(one.sha256, str(Path(case.place, one.name))) for one in case.beside]
    return tuple(dict.fromkeys(found))


def _needs(means: GradingContext, level: str) -> Needs:
    own = means.assignment
    tools = tuple(tool.name for tool in needs.of(own) if tool.name in needs.PACKAGES)
    return Needs(__version__, level, tools, own.python.fingerprint if own.python else "")


def _told(wanted: Needs) -> str:
    tools = f", {', '.join(wanted.tools)}" if wanted.tools else ""
    python = ", the Python of the assignment" if wanted.python else ""
    return f"gtp-harness {wanted.version}, sandbox level {wanted.level}{tools}{python}"


def _to_stderr(text: str) -> None:
    print(f"gtp-harness: {escape_controls(text)}", file=sys.stderr, flush=True)
