"""Scripts for an assignment: drawn by Hypothesis, and then without what may not be said."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy

from harness.judging.equivalence import is_underspecified
from harness.specifications.record import Specification
from harness.vocabulary.script import Script, lay_files, name_of, write_script
from harness.vocabulary.stones import flat
from oracle.gtp.protocol import Engine
from oracle.natures import SIZE

BATCH = 100  # examples of one call of Hypothesis: each begins with the smallest and grows

DRAW = hypothesis.settings(
    max_examples=BATCH,
    database=None,  # nothing is left on the disk, and a seed is all that matters
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def scripts(
    specification: Specification, known: frozenset[str] = frozenset(), length: int = 8
) -> SearchStrategy[Script]:
    """Return the strategy of scripts for what an assignment asks.

    ``known``: commands beyond the assignment's that the engine says it knows, such as ``undo``.
    ``length``: what a game has of stones, lines, questions and the like, at most.
    """
    game = specification.conversation(known, length)
    return st.lists(game, min_size=1, max_size=3).map(lambda games: write_script(flat(games)))


def find(
    strategy: SearchStrategy[Script],
    shows: Callable[[Script], bool],
    allowed: Callable[[Script], Script],
    settings: hypothesis.settings,
    seed: int,
) -> Script | None:
    """Draw scripts, made allowed, until one shows something, and simpler ones if so set.

    ``shows``: is asked about each script once. Returns the last that shows it, if there is one; of
    an engine that answers differently each time, None, and ``shows`` has to remember what it saw.
    """
    seen: dict[Script, bool] = {}

    def is_wanted(drawn: Script) -> bool:
        if drawn not in seen:
            script = allowed(drawn)
            if script not in seen:
                seen[script] = bool(script.commands) and shows(script)
            seen[drawn] = seen[script]
        return seen[drawn]

    with contextlib.suppress(NoSuchExample, Flaky):
        found = hypothesis.find(strategy, is_wanted, settings=settings, random=Random(seed))
        return allowed(found)
    return None


def legal(script: Script, specification: Specification, folder: Path) -> Script:
    """Return the script without moves and settings that are forbidden or left open.

    Questions stay, whatever they ask: what is open, is looked at where answers differ.
    """
    engine, order = specification.reference_engine(str(folder)), _Order(specification)
    kept = []
    lay_files(script, folder)
    for command in script.commands:
        asks = not specification.commands[name_of(command)].sets_up
        if order.allows(command) and (asks or _is_legal(engine, command)):
            order.observe(command)
            kept.append(command)
    return Script(tuple(kept), script.files)


def _is_legal(engine: Engine, command: str) -> bool:
    return not is_underspecified(engine, command) and engine.handle(command).startswith("=")


class _Order:
    """What must have been said before something is asked.

    No document names a usual board. What happens to a game's history, its prisoners for instance,
    when a position is set up in the middle of it, is left open.
    """

    def __init__(self, specification: Specification) -> None:
        self._smallest = specification.smallest
        self._first = specification.first
        self._natures = specification.commands
        self._is_game = False
        self._has_board = specification.board.size > 0
        self._settings: set[str] = set()  # made since the board is new

    def allows(self, command: str) -> bool:
        name, *words = command.split()
        nature = self._natures[name]
        if SIZE in nature.sets and not nature.names_file:
            return int(words[0]) >= self._smallest
        needed = self._first.get(name)
        if needed and needed not in self._settings:
            return False
        if self._is_game and nature.lays:
            return False
        return nature.is_setting or self._has_board

    def observe(self, command: str) -> None:
        name = name_of(command)
        nature = self._natures[name]
        if nature.begins_board and not nature.lays:
            self._settings.clear()
            self._is_game = False
        self._has_board |= SIZE in nature.sets
        self._is_game |= nature.moves
        self._settings.add(name)
