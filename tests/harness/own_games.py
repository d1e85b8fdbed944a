"""The games of ``tests/own_games`` for tests: right and wrong programs, in this process."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import cache, partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from harness.assignments import assignment
from harness.declared.declaration import Declaration
from harness.declared.engine import ReferenceEngine
from harness.declared.specifying import refuses
from harness.fuzzing.by_reference import ByReference
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import Budget
from harness.records import Reply
from harness.specifications.truth import reply_of
from harness.vocabulary.script import Script, Trace
from oracle.mistakes import Crash
from tests.harness.in_process import InProcess

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
    """A reference in this process; see :class:`harness.declared.reference.Reference`."""

    def __init__(self, start: Callable[[], Any], declaration: Declaration, folder: Path) -> None:
        self.declaration = declaration
        self.program = SimpleNamespace(folder=folder)
        self.asked = 0  # commands
        self._start = start
        self._said: tuple[str, ...] = ()
        self._engine: Any = None
        self._replies: list[Reply] = []

    def replies(self, commands: tuple[str, ...], folder: str = "") -> tuple[Reply, ...]:
        with chdir(folder or "."):  # as a process of its own would be there
            return self._heard(commands)

    def _heard(self, commands: tuple[str, ...]) -> tuple[Reply, ...]:
        if self._engine is None or commands[: len(self._said)] != self._said:
            self._engine, self._replies = self._start(), []
        new = commands[len(self._replies) :]
        self.asked += len(new)
        self._replies += [reply_of(raw(self._engine.handle(one))) for one in new]
        self._said = commands
        return tuple(self._replies)

    def engine(self) -> ReferenceEngine:
        return ReferenceEngine(self.replies, self.declaration, refuses(self.declaration.game))


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
        yield Fuzzer(program, judge, Budget(0, examples), seed)
