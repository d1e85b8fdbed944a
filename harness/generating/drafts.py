"""Drafts of tests for a declared game, and the conversations that they open with."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.core.records import CaseFile, Reply, Step
from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import Declaration, DeclaredCommand, Drawn, Kind
from harness.declared.engine import ReferenceEngine
from harness.declared.game_state import AllowedLines, vertex_of
from harness.declared.specifying import match_anywhere
from harness.generating.record_reading import DAMAGED, Choices, RecordPiece, read_games
from harness.generating.record_replay import is_private
from harness.judging import in_process
from harness.reading.pattern import escape_answer
from harness.specifications.record import Specification
from oracle.position import grid
from oracle.sgf import Node, load, write


class Opening(NamedTuple):
    """A conversation to continue from, and where it is from, as a phrase."""

    commands: tuple[str, ...]
    origin: str


class Draft(NamedTuple):
    """A test: what leads to it, its command, and the right answer as an expression."""

    setup: tuple[str, ...]
    command: str
    expression: str
    origin: str  # where the position is from, as a phrase
    size: tuple[int, int]  # columns and rows
    refused: frozenset[int] = frozenset()  # places in the setup of commands that are refused
    is_free: bool = False  # an engine chooses in it: what it catches hangs on chance, too
    caught: int = 0  # the engines that it catches, as bits of their places

    @property
    def name(self) -> str:
        """The name of its command."""
        return self.command.partition(" ")[0]

    @property
    def identity(self) -> tuple[str, ...]:
        """The same for tests that are the same."""
        return (*self.setup, self.command)


# --- Tests made of conversations that are drawn: each question, with the reference's answer ------


_AS_ASKED = 0.3  # how often what was asked before a test is asked in it, too
_BAD = 0.5  # how often a command is given a wrong argument
_AFTER = 2  # questions tried after a move of the engine's choice
_DRAWN = "drawn at random"


@dataclass
class Drafter:
    """Makes tests for one declared game."""

    specification: Specification
    declaration: Declaration
    folder: Path  # in which the files lie that commands name
    openings: Sequence[Opening] = ()
    # Whether tests may expect a refusal. In a file of answers a status line is expected to the
    # letter, and right programs give other reasons.
    refusals: bool = True
    # By command, tests that cannot be made: their right answer is an error.
    unsaid: Counter[str] = field(default_factory=Counter)

    def drafts(self, random: Random, length: int) -> Iterator[Draft]:
        """Yield tests of one conversation with about ``length`` moves and questions.

        All possible questions are asked at its end, at some place before, and where a game is
        over: there most is decided.
        """
        openings = [one.commands for one in self.openings]
        drawer = Drawer(self.declaration, random, self.folder, openings)
        script = drawer.draw(length, self._engine().reply)
        last = len(script.commands)
        places = {last, random.randint(0, last)}
        engine, now = self._engine(), AllowedLines(self.declaration)
        has_ended = False
        for index, command in enumerate((*script.commands, "")):
            if (has_ended or index in places) and max(engine.session.state.size):
                yield from self._draw_tests(engine, drawer, random)
            if command:
                was_over = now.is_over
                now.observe(command, engine.reply(command))
                has_ended = now.is_over and not was_over

    def _draw_tests(
        self, engine: ReferenceEngine, drawer: Drawer, random: Random
    ) -> Iterator[Draft]:
        """Yield the tests of a position, those last that may change it."""
        state = engine.session.state
        said = engine.said
        origin = _DRAWN
        for one in self.openings:
            count = len(one.commands)
            starts = range(len(said) - count + 1)
            if any(said[n : n + count] == one.commands for n in starts):
                origin = f"{one.origin}, and what was drawn at random after it"
                break
        if random.random() >= _AS_ASKED:
            said = tuple(one for one in said if not self._asks(one))
        replies = engine.replies(said) if said else ()
        refused = frozenset(n for n, one in enumerate(replies) if engine.refuses(one))
        setup = Draft(said, "", "", origin, engine.session.state.size, refused)
        for declared in sorted(self.declaration.commands, key=lambda one: one.kind != Kind.ASKS):
            if not self._tells(declared):
                continue
            is_bad = declared.bad and random.random() < _BAD
            command = (drawer.bad if is_bad else drawer.command)(declared, state)
            right = engine.replies((*engine.said, command))[-1]
            choices = self.specification.choices(engine, command)
            if expression := self._expression(declared, command, right, choices):
                is_free = declared.kind == Kind.CHOOSES
                yield setup._replace(command=command, expression=expression, is_free=is_free)
            if self._is_unsaid(right):
                self.unsaid[declared.name] += 1
                yield from self._after_error(engine, setup, command)
            if declared.kind == Kind.CHOOSES and declared.plays and choices:
                after = setup._replace(setup=(*setup.setup, command), is_free=True)
                yield from self._after(engine, after, command, choices, random)

    def _tells(self, declared: DeclaredCommand) -> bool:
        """Whether replies to a command tell anything."""
        if declared.kind == Kind.MOVES:
            return bool(declared.arguments and (self.declaration.game.refused or declared.bad))
        is_question = declared.kind == Kind.ASKS and not declared.is_free
        return is_question or declared.kind == Kind.CHOOSES

    def _engine(self) -> ReferenceEngine:
        engine = self.specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        return engine

    def _is_unsaid(self, right: Reply) -> bool:
        """Whether the right reply is one that no test may expect."""
        return not right.ok or (not self.refusals and self._engine().refuses(right))

    def _after_error(self, engine: ReferenceEngine, setup: Draft, command: str) -> Iterator[Draft]:
        """Yield questions after a command that is to be refused: they are answered as before."""
        asked = [one.name for one in self.declaration.plain_questions if one.name != command][
            :_AFTER
        ]
        refused = setup.refused | {len(setup.setup)}
        after = setup._replace(setup=(*setup.setup, command), refused=refused)
        for name in asked:
            right = engine.replies((*engine.said, command, name))[-1]
            if right.ok:
                found = in_process.expression(name, right, self.specification)
                yield after._replace(command=name, expression=found)

    def _after(
        self,
        engine: ReferenceEngine,
        setup: Draft,
        command: str,
        choices: Sequence[str],
        random: Random,
    ) -> Iterator[Draft]:
        """Yield questions that have one answer whatever an engine has chosen before."""
        asks = self.declaration.plain_questions
        moves = [engine.session.state.as_move(command, one) for one in choices]
        for asked in random.sample(asks, min(len(asks), _AFTER)):
            found = [engine.replies((*engine.said, move, asked.name))[-1] for move in moves]
            if found[0].ok and all(
                in_process.same(asked.name, found[0], one, self.specification) for one in found
            ):
                expression = self._expression(asked, asked.name, found[0], ())
                yield setup._replace(command=asked.name, expression=expression)

    def _expression(
        self, declared: DeclaredCommand, command: str, right: Reply, choices: Sequence[str]
    ) -> str:
        """Return the pattern that only right answers match; "" if the command is not a test."""
        if self._is_unsaid(right):
            return ""
        if declared.kind == Kind.CHOOSES:
            # Of a solver that gives up, another one may know more.
            gives_up = declared.keeps and right.text.lower() in map(str.lower, declared.instead)
            if not choices and not gives_up and right.text:
                choices = (right.text,)  # the only right one
            texts = "|".join(escape_answer(one.lower()) for one in choices)
            return f"(?i){texts}" if choices else ""
        if declared.kind == Kind.MOVES:
            # What tells a refusal that says ``=`` from a move that is played.
            refused = self.declaration.game.refused
            if refused and not self._engine().refuses(right):
                return f"!{match_anywhere(refused)}"
            return in_process.expression(command, right, self.specification) if refused else ""
        if declared.kind != Kind.ASKS or declared.is_free:
            return ""
        return in_process.expression(command, right, self.specification)

    def _asks(self, command: str) -> bool:
        found = self.declaration.of_line(command)
        if found is None or found.kind == Kind.ASKS:
            return True
        return found.kind == Kind.CHOOSES and not found.plays


# --- Conversations to continue from: the positions of given cases, and of game records -----------


_EACH = 3  # positions of a game or a case file
_LONGEST = 60  # commands that lead to a position
_COLORS = (("B", 0), ("W", 1))


def of_cases(cases: Iterable[CaseFile], declaration: Declaration) -> Iterator[Opening]:
    """Yield the positions at which case files ask something, the last ones of each file."""
    for case in cases:
        found = {said: step for said, step in _questions(case, declaration) if said}
        usable = [said for said in found if len(said) <= _LONGEST]
        for said in usable[-_EACH:]:
            place = f"{Path(case.path).name}:{found[said].line}"
            yield Opening(said, f"from the position of {place}")


def identities(case: CaseFile, declaration: Declaration) -> Iterator[tuple[str, ...]]:
    """Yield what is the same for tests that are the same, of each test of a case file."""
    for said, step in _questions(case, declaration):
        yield (*said, step.command)


def _questions(case: CaseFile, declaration: Declaration) -> Iterator[tuple[tuple[str, ...], Step]]:
    """Yield each question with what leads to it, from the last beginning of a board on.

    Nothing is known of a position after a move of an engine's choice.
    """
    said: list[str] | None = None
    for step in case.steps:
        command = declaration.of_line(step.command)
        if command and command.kind in (Kind.ASKS, Kind.CHOOSES):
            if said is not None:
                yield tuple(said), step
            said = None if command.plays else said
        elif command and command.kind == Kind.STARTS and command.arguments:
            said = [step.command]
        elif command and said is not None:
            said.append(step.command)


@dataclass
class Records:
    """Game records as openings."""

    specification: Specification
    declaration: Declaration
    choices: Choices
    private: bool | None  # which half of the games; None: all
    strict: bool = False  # whether sizes and points are read only as SGF writes them
    # How many games there were, and which were not used.
    counts: Counter[str] = field(default_factory=Counter)

    def openings(self, paths: Iterable[str]) -> Iterator[Opening]:
        """Yield positions of games, as far as the reference accepts their moves."""
        for path in paths:
            self.counts["files"] += 1
            for game, name in read_games(RecordPiece(path, 0, -1), self.counts):
                if game.fault:
                    self.counts[DAMAGED] += 1
                yield from self._of_game(game.root, name)

    def _of_game(self, root: Node, name: str) -> Iterator[Opening]:
        begun, played = self._play_accepted(root)
        identity = sha256("\n".join(played).encode()).hexdigest()  # hangs on its moves alone
        if self.private is not None and is_private(identity) != self.private:
            self.counts[f"kept for {'public' if self.private else 'private'} cases"] += 1
        elif not played:
            self.counts["no move that the reference accepts"] += 1
        else:
            self.counts["used"] += 1
            last, rank = len(played), self.choices.rank
            some = {1 + rank(identity, turn) % last for turn in range(_EACH - 1)}
            for number in sorted({min(last, _LONGEST), *(n for n in some if n <= _LONGEST)}):
                yield Opening((*begun, *played[:number]), f"from {name}, after move {number}")

    def _moves(self, root: Node) -> Iterator[tuple[int, str]]:
        """Yield the moves of the first variations: the place of the color, and the point."""
        node: Node | None = root
        while node is not None:
            for name, color in _COLORS:
                for value in node.properties.get(name, ()):
                    yield color, self._respell(name, value)
            node = node.children[0] if node.children else None

    def _respell(self, name: str, value: str) -> str:
        """Return a value as SGF has it, if that is known."""
        spelled = None if self.strict else load.spell(name, value)
        return value if spelled is None else spelled

    def _play_accepted(self, root: Node) -> tuple[tuple[str, ...], list[str]]:
        """Return what begins the board, and the moves up to the first that is refused."""
        columns, _, rows = self._respell("SZ", root.properties.get("SZ", ["19"])[0]).partition(":")
        side, other = (
            int(one) if one.strip().isdigit() else 0 for one in (columns, rows or columns)
        )
        size = side, other
        begun: tuple[str, ...] = ()
        starts = self.declaration.of_kind(Kind.STARTS)
        # Nobody knows how to begin a board where that needs more than a number.
        if all({one.drawn for one in start.arguments} <= {Drawn.SIZE} for start in starts):
            words = ([start.name, *[str(size[0])] * len(start.arguments)] for start in starts)
            begun = tuple(map(" ".join, words))
        engine = self.specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        played: list[str] = []
        if not begun or size not in self.declaration.game.sizes:
            return (), []
        if any(engine.refuses(engine.reply(command)) for command in begun):
            return (), []
        for color, value in self._moves(root):
            command = self._play(color, value, size)
            if not command or engine.refuses(engine.reply(command)):
                break
            played.append(command)
        return begun, played

    def _play(self, color: int, value: str, size: tuple[int, int]) -> str:
        """Return the command that plays a move of a record; "" if nobody can tell."""
        move, game = self.declaration.move, self.declaration.game
        columns, rows = size
        try:
            row, column = write.point(value, grid(rows, columns))
        except ValueError:
            return ""
        if move is None or color >= len(game.colors):
            return ""
        words = {Drawn.COLOR: game.colors[color], Drawn.VERTEX: vertex_of((column, row), game)}
        told = [words.get(one.drawn, "") for one in move.arguments]
        return " ".join([move.name, *told]) if all(told) else ""
