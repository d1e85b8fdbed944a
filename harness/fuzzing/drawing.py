"""Scripts for an assignment: drawn by Hypothesis, or ahead of the replies of a reference."""

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.errors import Flaky, NoSuchExample

from harness.core.records import Reply
from harness.declared.conversation_drawing import Drawer, KnownBeginning
from harness.declared.declaration import Kind
from harness.judging.in_process import is_underspecified
from harness.specifications.record import Specification
from harness.vocabulary.script import Script, lay_files, name_of, write_script
from harness.vocabulary.stones import flat
from oracle.command_properties import SIZE

BATCH = 100  # examples of one call of Hypothesis: each begins with the smallest and grows

DRAW = hypothesis.settings(
    max_examples=BATCH,
    database=None,  # nothing is left on the disk, and a seed is all that matters
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def scripts(
    specification: Specification, extra_commands: frozenset[str] = frozenset(), length: int = 8
) -> st.SearchStrategy[Script]:
    """Return the strategy of scripts for what an assignment asks.

    ``extra_commands``: those beyond the assignment's that the engine knows, such as ``undo``.
    ``length``: what a game has of stones, lines, questions and the like, at most.
    """
    game = specification.conversation(extra_commands, length)
    return st.lists(game, min_size=1, max_size=3).map(lambda games: write_script(flat(games)))


def find(
    strategy: st.SearchStrategy[Script],
    shows: Callable[[Script], bool],
    cut_to_allowed: Callable[[Script], Script],
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
            script = cut_to_allowed(drawn)
            if script not in seen:
                seen[script] = bool(script.commands) and shows(script)
            seen[drawn] = seen[script]
        return seen[drawn]

    with contextlib.suppress(NoSuchExample, Flaky):
        found = hypothesis.find(strategy, is_wanted, settings=settings, random=Random(seed))
        return cut_to_allowed(found)
    return None


def legal(script: Script, specification: Specification, folder: Path) -> Script:
    """Return the script without moves and settings that are forbidden or left open.

    Questions stay, whatever they ask: what is open, is looked at where answers differ.
    """
    engine, order = specification.reference_engine(str(folder)), _Order(specification)
    kept = []
    lay_files(script, folder)
    for command in script.commands:
        if not order.allows(command):
            continue
        asks = not specification.commands[name_of(command)].sets_up
        if not asks and is_underspecified(engine, command):
            continue
        if not asks and not engine.handle(command).startswith("="):
            continue
        order.observe(command)
        kept.append(command)
    return Script(tuple(kept), script.files)


class _Order:
    """Commands that must precede a question.

    No document names a usual board. What happens to a game's history, its prisoners for instance,
    when a position is set up in the middle of it, is left open.
    """

    def __init__(self, specification: Specification) -> None:
        self._smallest = specification.smallest
        self._first = specification.first
        self._command_properties = specification.commands
        self._is_game = False
        self._has_board = specification.board.size > 0
        self._settings: set[str] = set()  # made since the board is new

    def allows(self, command: str) -> bool:
        name, *words = command.split()
        properties = self._command_properties[name]
        if SIZE in properties.sets and not properties.names_file:
            return int(words[0]) >= self._smallest
        needed = self._first.get(name)
        if needed and needed not in self._settings:
            return False
        if self._is_game and properties.lays:
            return False
        return properties.is_setting or self._has_board

    def observe(self, command: str) -> None:
        name = name_of(command)
        properties = self._command_properties[name]
        if properties.begins_board and not properties.lays:
            self._settings.clear()
            self._is_game = False
        self._has_board |= SIZE in properties.sets
        self._is_game |= properties.moves
        self._settings.add(name)


# --- Conversations drawn ahead of the reference's replies: nobody waits while they are drawn -----
# Where a conversation leads is guessed. So most of them continue an earlier one whose replies are
# known by now, for a few moves and questions: near enough for guesses to be right.


_KNOWN = 64  # beginnings at hand; a new one takes the place of any
_CONTINUES = 0.85  # how often a conversation continues from one of them
_OF = 2  # of so many, the one with the fullest board is gone on from
_LONGEST = 20  # moves, questions and the like that follow; fewer oftener
_MOST = 12  # commands of a beginning: what shows after more of them nobody wants to read
_LEARNT = 0.5  # how many conversations become beginnings of others


class GuessingDrawer:
    """Draws conversations; told of replies by :meth:`learn`."""

    def __init__(self, drawer: Drawer, random: Random) -> None:
        """Take what draws single ones; ``random`` decides what they continue, and how far."""
        self._declaration = drawer.declaration
        over = drawer.declaration.game.over
        self._end = over.ask if over else ""
        self._random = random
        self._drawer = drawer
        self._nothing = KnownBeginning((), self._drawer.nothing)
        self._known: list[KnownBeginning] = []
        # Of what was drawn and not learnt, in this order.
        self._begun: deque[KnownBeginning] = deque()

    def draw(self) -> Script:
        """Return a conversation."""
        random = self._random
        goes_on = self._known and random.random() < _CONTINUES
        some = random.choices(self._known, k=_OF) if goes_on else []
        known = max(some, key=lambda one: one.fullness, default=None)
        self._begun.append(known or self._nothing)
        length = 1 + int(_LONGEST * random.random() ** 2)
        return self._drawer.draw(length, beginning=known)

    def learn(self, commands: Sequence[str], replies: Sequence[Reply]) -> None:
        """Take the right replies to the next of the conversations, in the order of their drawing.

        Perhaps others continue from some place of it.
        """
        begun = self._begun.popleft()
        if self._random.random() > _LEARNT:
            return
        most = self._random.randint(len(commands) // 2, len(commands))
        most += commands[most : most + 1] == (self._end,)  # else nobody knows whether it is over
        known = self._follow(begun, commands[:most], replies)
        if known is None:
            return
        if len(self._known) < _KNOWN:
            self._known.append(known)
        else:
            self._known[self._random.randrange(_KNOWN)] = known

    def _follow(
        self, beginning: KnownBeginning, commands: Sequence[str], replies: Sequence[Reply]
    ) -> KnownBeginning | None:
        """Return commands that have led somewhere; to where moves were listed, if they ever are.

        None: to the end of a game, or to nothing new. It ends where a program has chosen: each may
        choose otherwise.
        """
        drawer, now, start = self._drawer, beginning.now.copy(), len(beginning.commands)
        said = list(beginning.commands)
        listed: KnownBeginning | None = None  # where moves were listed last
        for command, reply in zip(commands[start:], replies[start:], strict=False):
            declared = self._declaration.of_line(command)
            if declared is None or declared.plays or not now.allows(command):
                break
            if len(said) >= _MOST and declared.kind != Kind.ASKS:
                break
            is_refused = now.observe(command, reply)
            drawer.read(command, now.state, reply.text)
            if declared.kind == Kind.ASKS:
                if command == drawer.lister and not now.is_over:
                    listed = KnownBeginning(tuple(said), now.copy())
            elif not is_refused:
                said.append(command)
        if drawer.lister:
            return listed
        return None if now.is_over or not said else KnownBeginning(tuple(said), now)
