"""The games of ``tests/own_games`` for tests: right and wrong programs, in this process."""

from __future__ import annotations

import importlib
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import replace
from functools import cache, partial, reduce
from operator import or_
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from harness.assignments import assignment
from harness.banks.banks import WrongEngine
from harness.core.records import CaseFile, Reply, Step, Verdict
from harness.declared.declaration import Declaration
from harness.declared.engine import ReferenceEngine
from harness.declared.game_state import refuses
from harness.fuzzing.by_reference import ByReference
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import FuzzBudget
from harness.generating import record_reading
from harness.generating.drafts import Drafter
from harness.generating.test_production import ProducedTests, TestRequest, produce
from harness.judging import in_process
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.script import Script, Trace
from oracle.mistakes import Crash
from tests.harness.in_process import InProcess, Known

OWN = Path(__file__).parents[1] / "own_games"
# By name: the declaration, and the set of wrong programs.
GAMES = {
    "nogo": ("nogo/assignment.toml", "PLAYERS"),
    "solver": ("nogo/solver.toml", "SOLVERS"),
    "takuzu": ("takuzu/assignment.toml", "WRONG"),
    "hex": ("hex/assignment.toml", "WRONG"),
    "othello": ("othello/assignment.toml", "WRONG"),
}


@cache
def module(name: str) -> ModuleType:
    """Return a program of a game, such as ``wrong_hex``, which finds the others beside it."""
    folder = str(next(OWN.glob(f"*/{name}.py")).parent)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


def right(game: str) -> Callable[[], Any]:
    """Return what makes a right engine of a game."""
    folder = Path(GAMES[game][0]).parts[0]
    return next(
        one
        for name, one in vars(module(folder)).items()
        if name.lower() == folder and isinstance(one, type)
    )


def wrong(game: str) -> dict[str, Callable[[], Any]]:
    """Return the wrong engines of a game, by name."""
    path, names = GAMES[game]
    found = getattr(module(f"wrong_{Path(path).parts[0]}"), names)
    return found if isinstance(found, dict) else {one.__name__: one for one in found}


def raw(answer: str | list[str]) -> str:
    """Return an answer as GTP has it, whose last line may be a status."""
    if isinstance(answer, str):
        return answer
    *lines, status = answer
    if status.startswith("= illegal"):
        lines.append(status[2:])
    return f"{'?' if status == '= -1' else '='} {chr(10).join(lines)}\n\n"


class Dying:
    """An engine that dies of its exceptions, as a process does."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._engine = start()

    def handle(self, line: str) -> str:
        try:
            return raw(self._engine.handle(line))
        except Exception as error:
            raise Crash(str(error)) from error


class WithStatus(InProcess):
    """A program whose replies have the status that its protocol wants."""

    def answer(self, script: Script) -> Trace:
        trace = super().answer(script)
        replies = (one._replace(status="= 1" if one.ok else "= -1") for one in trace.replies)
        return trace._replace(replies=tuple(replies))


class InMemory:
    """A reference in this process; see :class:`harness.declared.reference.ReferenceProgram`."""

    def __init__(self, start: Callable[[], Any], declaration: Declaration, folder: Path) -> None:
        self.declaration = declaration
        self.program = SimpleNamespace(folder=folder, refuses=refuses(declaration.game))
        self.asked = 0  # commands
        self._start = start
        self._said: tuple[str, ...] = ()
        self._engine: Any = None
        self._replies: list[Reply] = []
        # A conversation, and the engine that has heard it: other questions go on from there.
        self._kept = (), pickle.dumps(start())

    def replies(self, commands: tuple[str, ...], folder: str = "") -> tuple[Reply, ...]:
        with chdir(folder or "."):  # as a process of its own would be there
            return self._hear(commands)

    def _hear(self, commands: tuple[str, ...]) -> tuple[Reply, ...]:
        if self._engine is None or commands[: len(self._said)] != self._said:
            self._go_back(commands)
        new = commands[len(self._said) :]
        for place, one in enumerate(new, 1):
            if place == len(new):
                self._kept = commands[:-1], pickle.dumps(self._engine)
            self._replies.append(reply_of(raw(self._engine.handle(one))))
        self.asked += len(new)
        self._said = commands
        return tuple(self._replies)

    def _go_back(self, commands: tuple[str, ...]) -> None:
        """Go back to before the last command, if that is said before these, or to the start."""
        said, engine = self._kept
        if commands[: len(said)] == said:
            self._said, self._engine = said, pickle.loads(engine)
        else:
            self._said, self._engine = (), self._start()
        del self._replies[len(self._said) :]

    def begin(self, conversations: Sequence[tuple[str, ...]], folder: str = "") -> Known:
        return Known([self.replies(one, folder) for one in conversations])

    def engine(self) -> ReferenceEngine:
        return ReferenceEngine(self.replies, self.declaration, refuses(self.declaration.game))


class WrongInMemory:
    """The wrong programs of a game in this process: the ``Bench`` of generating."""

    folder = Path()

    def __init__(self, game: str, specification: Specification) -> None:
        self.engines = tuple(WrongEngine(name, "", "", "") for name in wrong(game))
        self._starts = tuple(wrong(game).values())
        self._specification = specification

    def map_catches(self, texts: Sequence[str], of: int) -> list[dict[int, int]]:
        return [self._caught(_case(text), of) for text in texts]

    def _caught(self, case: CaseFile, of: int) -> dict[int, int]:
        found: dict[int, int] = {}
        for place, start in enumerate(self._starts):
            for line in _failing(case, start) if of >> place & 1 else ():
                found[line] = found.get(line, 0) | 1 << place
        return found

    def find_caught(self, cases: Sequence[CaseFile]) -> int:
        found = (lines for case in cases for lines in self._caught(case, -1).values())
        return reduce(or_, found, 0)

    def find_wrong(self, text: str) -> set[int]:
        right_one = self._specification.reference_engine()
        return in_process.failing_lines(_case(text), right_one, find_dialect("gogui"))


def _case(text: str) -> CaseFile:
    return casefile.parse(text.encode(), "generated.gtp")


def _failing(case: CaseFile, start: Callable[[], Any]) -> set[int]:
    """Return the lines of the tests that an engine fails, or at which it dies.

    A new one goes on with the next setup, as ``run --restart`` does.
    """
    failed: set[int] = set()
    engine, judge = None, find_dialect("gogui")
    for place, step in enumerate(case.steps):
        if engine is None and _name(step) == _name(case.steps[0]):
            engine = Dying(start)
        if engine is None:
            continue
        try:
            reply = reply_of(engine.handle(step.command))
        except Crash:
            engine = None
            failed.update([one.line for one in case.steps[place:] if one.is_test][:1])
            continue
        if step.is_test and judge.verdict(step.pattern, reply) is Verdict.FAILED:
            failed.add(step.line)
    return failed


def _name(step: Step) -> str:
    return step.command.partition(" ")[0]


@contextmanager
def fuzzed(
    game: str,
    start: Callable[[], Any],
    *,
    examples: int,
    seed: int = 0,
) -> Iterator[Fuzzer]:
    """Give a fuzzer of an engine in this process; the reference is in this process, too."""
    declared = assignment.find(str(OWN / GAMES[game][0]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reference = InMemory(right(game), declared.declaration, declared.place)
        judge = ByReference(declared.specification, reference, folder)
        make = InProcess if declared.protocol == "gtp" else WithStatus
        program = make(partial(Dying, start), folder)
        yield Fuzzer(program, judge, FuzzBudget(0, examples), seed)


def generated(game: str, most: int, seed: int = 0) -> ProducedTests:
    """Return a set of tests by a reference and wrong programs that are all in this process."""
    declared = assignment.find(str(OWN / GAMES[game][0]))
    reference = InMemory(right(game), declared.declaration, declared.place)
    specification = replace(declared.specification, told=reference)
    drafter = Drafter(specification, declared.declaration, declared.place)
    bench = WrongInMemory(game, specification)
    return produce(TestRequest(record_reading.choices(seed), most), drafter, bench, print)
