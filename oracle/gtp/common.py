"""The session that every game has, and its commands: administration, the board, files, reasons."""

from __future__ import annotations

import time

import oracle
from oracle.errors import FormatError, GtpError, IllegalMove
from oracle.explanation import Explanation, Readings, is_underspecified
from oracle.gtp import protocol
from oracle.position import BLACK, NAMES, Grid, Point, Position, grid, vertex

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random
    from typing import Any

    from oracle.boards import Snapshot

    Parse = Callable[[str, str], Position]
    Subject = Callable[[Any, list[str]], tuple[Any, ...]]
    Explain = Callable[..., Explanation]
    EachReading = Callable[..., Mapping[str, object]]
    Write = Callable[[Any], str]
    Question = tuple[Subject, Explain, EachReading, Write]
    Questions = dict[str, Question]


COLORS = "the course's starter knows colors as b and w only"


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
        *("_random", "assignment", "commands", "folder", "game"),
        *("questions", "running", "seed", "strict", "warn"),
    )

    sizes = range(2, 26)  # what boardsize accepts
    size = 19  # before the first boardsize
    # Whether the course's starter, which students may not change, knows colors as b and w only.
    knows_letters_only = False
    record: str | None = None  # what game records are read as, whatever they say; None: Go only

    def __init__(self, commands: protocol.Table, questions: Questions, seed: int) -> None:
        self.commands = commands
        self.questions = questions
        self.seed = seed
        self.running = True
        self.strict = False
        self.warn: Callable[[str], None] = lambda warning: None
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
        names_color = not {"black", "white"}.isdisjoint(map(str.lower, words[1:]))
        return COLORS if self.knows_letters_only and names_color else ""

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


# --- administration, section 6.3.1 -------------------------------------------------------------


def protocol_version(session: Session, words: list[str]) -> str:
    """: the protocol's version, 2."""
    return "2"


def name(session: Session, words: list[str]) -> str:
    """: the program's name."""
    return "gtp-oracle"


def version(session: Session, words: list[str]) -> str:
    """: the program's version."""
    return oracle.__version__


def known_command(session: Session, words: list[str]) -> str:
    """COMMAND: whether there is such a command, true or false."""
    return "true" if protocol.word(words, 0) in session.commands else "false"


def list_commands(session: Session, words: list[str]) -> str:
    """: the names of all commands, one on each line."""
    return "\n".join(sorted(session.commands))


def quit_(session: Session, words: list[str]) -> str:
    """: end the program."""
    session.running = False
    return ""


def cputime(session: Session, words: list[str]) -> str:
    """: the processor seconds used so far (as in GNU Go)."""
    return f"{time.process_time():.3f}"


# --- the board, sections 6.3.2 and 6.3.3 -------------------------------------------------------


def boardsize(session: Session, words: list[str]) -> str:
    """SIZE: set the size of the board, and empty it."""
    size = protocol.integer(words, 0)
    if size not in session.sizes:
        raise GtpError("unacceptable size")
    session.clear(grid(size))
    return ""


def clear_board(session: Session, words: list[str]) -> str:
    """: empty the board; komi and other settings stay."""
    session.clear(session.game.position.grid)
    return ""


def play(session: Session, words: list[str]) -> str:
    """COLOR VERTEX: play a stone, or pass."""
    color, point = protocol.color(words, 0), protocol.move(words, 1)
    try:
        session.game.play(color, point)
    except IllegalMove:
        raise GtpError("illegal move") from None
    return ""


def play_sequence(session: Session, words: list[str]) -> str:
    """MOVES: move after move, up to one that is refused (as in GoGui)."""
    for index in range(0, len(words), 2):
        if refused := session.commands["play"](session, words[index : index + 2]):
            return refused
    return ""


def undo(session: Session, words: list[str]) -> str:
    """: take the last move back."""
    try:
        session.game.undo()
    except IndexError:
        raise GtpError("cannot undo") from None
    return ""


def setup(session: Session, words: list[str]) -> str:
    """COLOR VERTEX ...: put stones as they are, without rules (as in GoGui)."""
    position = session.game.position
    for index in range(0, len(words), 2):
        point = on_board(session, words, index + 1)
        position = position.place(point, protocol.color(words, index))
    session.game = session.new_game(position, session.game.to_play)
    return ""


def setup_player(session: Session, words: list[str]) -> str:
    """COLOR: say whose turn it is (as in GoGui)."""
    session.game = session.new_game(session.game.position, protocol.color(words, 0))
    return ""


def showboard(session: Session, words: list[str]) -> str:
    """: the board as a picture."""
    from oracle.draw import Diagram, draw_text

    game = session.game
    last = game.moves[-1][1] if game.moves else None
    picture = draw_text(Diagram(game.position, last=last), unicode=False)
    return f"\n{picture}\n{NAMES[game.to_play]} to play"


def on_board(session: Session, words: list[str], index: int) -> Point:
    """Return the point of a vertex argument that must lie on the board in play."""
    point = protocol.point(words, index)
    shape = session.game.position.grid
    if point not in shape:
        size = f"{shape.columns} columns and {shape.rows} rows"
        raise GtpError(f"{vertex(point)} is not on the board of {size}")
    return point


# --- files: ``loadsgf``, and what other such commands need --------------------------------------


def loadsgf(session: Session, words: list[str]) -> str:
    """FILE [MOVE]: load a game record, up to before a move (without KM: komi 0).

    Source: GTP version 2, section 6.3.4 *loadsgf*. A name with blanks may stand in quotes. What is
    read and what refused: :mod:`oracle.sgf.load`; of a strict engine: :mod:`oracle.sgf.replay`.
    The session's ``warn`` is told what is not as it should be.
    """
    move = None
    if len(words) > 1 and protocol.is_number(words[-1]):
        move = max(protocol.integer(words, len(words) - 1) - 1, 0)
        words = words[:-1]

    def read_record(path: str) -> Snapshot:
        from oracle.boards import SnapshotChoice, read_bytes

        if session.strict:
            from oracle.sgf import read_sgf as read
        else:
            from oracle.sgf.load import load_sgf as read
        choice = SnapshotChoice(move=move, game=session.record)
        snapshot = read(read_bytes(path, session.folder), path, choice)
        if session.record is None and snapshot.game == "gomoku":
            raise FormatError("it is a game of Gomoku, GM[4]")
        return snapshot

    return load(session, words, read_record)


def load_board(session: Session, words: list[str], kind: str, parse: Parse) -> str:
    """Load the position in a file of some format; ``parse``: takes its text and its name."""
    from oracle.boards import Snapshot, read_text

    def read(path: str) -> Snapshot:
        return Snapshot(parse(read_text(path, session.folder), path), kind)

    return load(session, words, read)


def load(session: Session, words: list[str], read: Callable[[str], Snapshot]) -> str:
    """Load what a file has; raises :class:`GtpError` and keeps the game if it can't."""
    try:
        snapshot = read(path := filename(words))
        session.resume(snapshot)
    except (FormatError, IllegalMove) as error:
        raise GtpError(f"cannot load file: {'; '.join(str(error).splitlines())}") from None
    for note in snapshot.notes:
        session.warn(f"{path}: {note}")
    return ""


def filename(words: list[str]) -> str:
    """Return the name of a file from a command's arguments: it may have blanks."""
    name = " ".join(words)
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = name[1:-1]
    if not name:
        raise GtpError(protocol.SYNTAX)
    return f"./{name}" if name == "-" else name  # "-" would be the commands' own input


# --- Asking an engine why: the reason of an answer, and whether the document settles it ----------
# A game's session lists its questions: for the command that answers, a function of the session and
# the command's arguments that gives what the answer depends on (the position and perhaps more), a
# function of that that explains the answer, one that gives it under every reading that the
# document leaves open, and a function that writes an answer as the command does.


def explain(session: Session, words: list[str]) -> str:
    """COMMAND ...: why it answers as it does, as graphics for GoGui.

    The marks of the explanation become a ``LABEL`` line, its sentences a ``TEXT`` line.
    """
    found = session.explain(words)
    labels = [f"{vertex(point)} {mark}" for point, mark in sorted(found.labels)]
    text = f"TEXT {found.text}"
    return f"LABEL {' '.join(labels)}\n{text}" if labels else text


def readings(session: Session, words: list[str]) -> str:
    """COMMAND ...: settled or underspecified; its answers."""
    found = session.readings(words)
    verdict = "underspecified" if found.is_open else "settled"
    left_open = [found.left_open] if found.left_open else []
    answers = [f"{name}: {answer}" for name, answer in found.answers]
    return "\n".join([verdict, *left_open, *answers])


def position(session: Session, words: list[str]) -> tuple[Position]:
    """Return the subject of a question about the position alone."""
    return (session.game.position,)


COMMANDS: protocol.Table = {
    "protocol_version": protocol_version,
    "name": name,
    "version": version,
    "known_command": known_command,
    "list_commands": list_commands,
    "quit": quit_,
    "cputime": cputime,
    "boardsize": boardsize,
    "clear_board": clear_board,
    "play": play,
    "gogui-play_sequence": play_sequence,
    "undo": undo,
    "showboard": showboard,
    "gogui-setup": setup,
    "gogui-setup_player": setup_player,
    "loadsgf": loadsgf,
    "oracle-explain": explain,
    "oracle-readings": readings,
}
