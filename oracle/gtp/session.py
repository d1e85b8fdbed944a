"""The state of an engine between two commands."""

from __future__ import annotations

from oracle.color import BLACK
from oracle.errors import FormatError, GtpError
from oracle.explanation import Readings, is_underspecified
from oracle.grid import grid
from oracle.gtp import protocol
from oracle.position import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random
    from typing import Any

    from oracle.boards.snapshot import Snapshot
    from oracle.explanation import Explanation
    from oracle.grid import Grid
    from oracle.gtp.protocol import Table

    # What an answer depends on, why it is so, what it is under each reading, how it is written:
    # see oracle.gtp.common.
    Subject = Callable[[Any, list[str]], tuple[Any, ...]]
    Explain = Callable[..., Explanation]
    EachReading = Callable[..., Mapping[str, object]]
    Write = Callable[[Any], str]
    Question = tuple[Subject, Explain, EachReading, Write]
    Questions = dict[str, Question]


COLORS = "the course's starter knows colors as b and w only"


def _say_nothing(warning: str) -> None:
    """Take a warning of an engine that nobody reads the warnings of."""


class Session:
    """The state behind one engine; a subclass for each game says how a game begins.

    Attributes: ``commands``, the engine's table; ``questions``, those of its commands that can be
    explained; ``game``, the game in progress; ``running``, false after ``quit``; ``seed``, that of
    the random moves; ``assignment``, whose document says what is open, "" for the game's own;
    ``strict``, whether ``loadsgf`` refuses what SGF and the rules of the game forbid; ``folder``,
    to which names of files are relative, "" for the working directory; ``warn``, which is told,
    in one sentence, what a file is read in spite of.
    """

    __slots__ = (
        "_random",
        "assignment",
        "commands",
        "folder",
        "game",
        "questions",
        "running",
        "seed",
        "strict",
        "warn",
    )

    sizes = range(2, 26)  # what boardsize accepts
    size = 19  # before the first boardsize
    # Whether the course's starter, which students may not change, knows colors as b and w only.
    knows_letters_only = False
    record: str | None = None  # what game records are read as, whatever they say; None: Go only

    def __init__(self, commands: Table, questions: Questions, seed: int) -> None:
        self.commands = commands
        self.questions = questions
        self.seed = seed
        self.running = True
        self.strict = False
        self.warn: Callable[[str], None] = _say_nothing
        self.assignment = ""
        self.folder = ""
        self._random: Random | None = None
        self.game = self.new_game(Position(grid(self.size)), BLACK)

    def new_game(self, position: Position, to_play: int) -> Any:
        """Return a game of this kind that begins with a position."""
        raise NotImplementedError

    def clear(self, shape: Grid) -> None:
        """Begin a new game on an empty board; Black is to play."""
        self.game = self.new_game(Position(shape), BLACK)

    def resume(self, snapshot: Snapshot) -> None:
        """Continue with a game that was read from a file, whose moves can be undone.

        Raises :class:`FormatError` for a board that this game is not played on, and
        :class:`~oracle.errors.IllegalMove` for a move that it refuses; the game in
        progress stays then.
        """
        shape = snapshot.position.grid
        if not (shape.rows in self.sizes and shape.columns in self.sizes):
            size = f"{shape.columns} columns and {shape.rows} rows"
            raise FormatError(f"the game is not played on a board of {size}")
        first = snapshot.moves[0][0] if snapshot.moves else snapshot.to_play
        game = self.new_game(snapshot.start, first or BLACK)
        for color, point in snapshot.moves:
            game.record(color, point)
        game.set_turn(snapshot.to_play or game.to_play)
        self.game = game

    def explain_open_answer(self, words: list[str]) -> str:
        """Return why the document leaves open what a command answers now, whatever its readings.

        ``words``: the command and its arguments. ``""`` when nothing is known that does.
        """
        if self.knows_letters_only and not {"black", "white"}.isdisjoint(
            map(str.lower, words[1:])
        ):
            return COLORS
        return ""

    def explain(self, words: list[str]) -> Explanation:
        """Return why a command answers as it does now; ``words``: its name and arguments.

        Raises :class:`~oracle.errors.OracleError` where nothing explains it, or the
        command itself is refused.
        """
        subject, explain, _, _ = self._question(words)
        return explain(*subject(self, words[1:]))

    def readings(self, words: list[str]) -> Readings:
        """Return what a command answers now under each reading; ``words``: as in :meth:`explain`.

        Raises :class:`~oracle.errors.OracleError` as that does.
        """
        if reason := self.explain_open_answer(words):
            return Readings(left_open=reason)
        subject, _, readings, write = self._question(words)
        found = readings(*subject(self, words[1:]))
        written = {name: write(answer) for name, answer in found.items()}
        return Readings(written, is_open=is_underspecified(found))

    def _question(self, words: list[str]) -> Question:
        name = protocol.word(words, 0)
        if name not in self.questions:
            raise GtpError(f"no explanation for {name!r}, only for {', '.join(self.questions)}")
        return self.questions[name]

    @property
    def random(self) -> Random:
        """The source of random moves: the same seed gives the same moves after every start."""
        if self._random is None:
            self._random = self.new_random()
        return self._random

    def new_random(self) -> Random:
        """Return the source as it was at the start."""
        from random import Random  # costs a third of the whole start

        return Random(self.seed)
