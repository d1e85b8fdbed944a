"""Boards at the steps of a case file and reasons for right answers, from what was sent.

The engine is not asked, because its board is under test. A command that it refused
(``?``, or the Gomoku document's ``= illegal move``) changed nothing. Whatever cannot be known
from here, such as a move that the engine took and the rules forbid, makes the board *unknown*
until a command sets it anew; an unknown board is not drawn.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

from harness.core.errors import UndecidedError
from harness.core.records import FileResult, Reply, Step, Verdict
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.specifications.record import Specification
from harness.vocabulary import GO, GOMOKU, BoardKind
from oracle.command_properties import SIZE, STONES, PropertyTable
from oracle.draw import Diagram, PositionCourse
from oracle.errors import OracleError
from oracle.explanation import Explanation
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.gtp.protocol import Engine
from oracle.position import BLACK, WHITE, Point, Position, color_of, grid, parse_vertex, vertex

_GOMOKU_COMMANDS = ("gogui-rules_", "policy")


def boards(
    file: FileResult,
    steps: Collection[int],
    command_properties: PropertyTable,
    board: BoardKind | None = None,
) -> dict[int, Diagram]:
    """Return the boards before some steps; those that are unknown are missing.

    Args:
        file: the commands, and how the engine answered.
        steps: indices into ``file.case.steps``.
        command_properties: what the commands do.
        board: its rules; None: those of Gomoku when the file uses ``gogui-rules_…`` or
            ``policy…`` commands, else those of Go.
    """
    if not steps:
        return {}
    if board is None:
        is_gomoku = any(step.command.startswith(_GOMOKU_COMMANDS) for step in file.case.steps)
        board = GOMOKU if is_gomoku else GO
    replay = _BoardReplay(board, file.case.path, command_properties)
    for exchange in file.before:
        replay.handle(exchange.text.lstrip("0123456789 "), exchange.reply)
    found = {}
    last = max(steps)
    again = {one.step: one.sent for one in file.restarts}
    for index, (step, reply) in enumerate(zip(file.case.steps, file.replies, strict=True)):
        for exchange in again.get(index, ()):
            replay.handle(exchange.text, exchange.reply)
        if index in steps and (diagram := replay.diagram()):
            found[index] = diagram
        if index == last:
            break
        replay.handle(step.command, reply)
    return found


class _BoardReplay:
    """The game as far as it is known; ``game`` is None while it is not."""

    def __init__(self, board: BoardKind, path: str, command_properties: PropertyTable) -> None:
        self.command_properties = command_properties
        self.kind: type[GoGame | GomokuGame] = GoGame if board.captures else GomokuGame
        self.format = board.format
        self.folder = Path(path).parent
        self.game: GoGame | GomokuGame | None = None
        self.size = 0  # 0: the engine's own choice
        self.refused = ""
        self.letters = board.letters
        if board.size:
            self._set(Position(grid(board.size)))

    def diagram(self) -> Diagram | None:
        """Return the picture of this moment, None when it is unknown."""
        game = self.game
        if game is None:
            return None
        moves = tuple(game.moves)
        color, point = moves[-1] if moves else (0, None)
        move = f"last move: {'  BW'[color + 1]} {vertex(point) if point else 'pass'}"
        parts = [move] if color else []
        caption = "; ".join(parts + ([f"refused: {self.refused}"] if self.refused else []))
        course = PositionCourse(game.start, moves, captures=False)
        if isinstance(game, GoGame):
            prisoners = game.prisoners(BLACK), game.prisoners(WHITE)
            course = PositionCourse(game.start, moves, prisoners=prisoners)
        return Diagram(game.position, point, caption=caption, letters=self.letters, course=course)

    def handle(self, command: str, reply: Reply | None) -> None:
        """Follow one command and the engine's reply to it; None if it was not sent."""
        name, *arguments = command.split() or [""]
        handler = _HANDLERS.get(name)
        if handler is None:
            # It may change the board in ways unknown here (set_position …), or leave it as it is,
            # as score does.
            if not self.command_properties[name].touches.isdisjoint((SIZE, STONES)):
                self.game = None
            return
        if reply is None:
            self.game = None
        elif not reply.ok or reply.text.startswith("illegal move"):
            self.refused = command
        else:
            # Apply a command that the engine accepted; what makes no sense here is unknown.
            try:
                handler(self, arguments, reply.text)
            except (OracleError, ValueError, IndexError, OSError):
                self.game = None

    def _set(self, position: Position) -> None:
        shape = position.grid
        self.size = shape.rows if shape.rows == shape.columns else 0
        self.game = self.kind(position)
        self.refused = ""

    def _move(self, color_name: str, vertex_name: str) -> None:
        color = color_of(color_name)
        if self.game is None or color is None:
            self.game = None
        elif vertex_name.lower() == "pass":
            self._pass(color)
        elif vertex_name.lower() != "resign":
            self.game.play(color, self._point(vertex_name))

    def _pass(self, color: int) -> None:
        if not isinstance(self.game, GoGame):
            raise ValueError("Gomoku has no pass: who knows what undo will take back")
        self.game.play(color, None)

    def _point(self, name: str) -> Point:
        assert self.game is not None
        shape = self.game.position.grid
        return parse_vertex(name, shape.rows, shape.columns)

    # --- one method for each command ---

    def boardsize(self, arguments: list[str], _reply: str) -> None:
        # GTP 2, section 6.3.1: what is on the board then is arbitrary. All engines clear it.
        self._set(Position(grid(int(arguments[0]))))

    def clear_board(self, _arguments: list[str], _reply: str) -> None:
        if self.size:
            self._set(Position(grid(self.size)))

    def play(self, arguments: list[str], _reply: str) -> None:
        color, name = arguments
        self._move(color, name)

    def play_sequence(self, arguments: list[str], _reply: str) -> None:
        for color, name in zip(arguments[::2], arguments[1::2], strict=True):
            self._move(color, name)

    def genmove(self, arguments: list[str], reply: str) -> None:
        self._move(arguments[0], reply.split(maxsplit=1)[0])

    def undo(self, arguments: list[str], _reply: str) -> None:
        if self.game is not None:
            for _ in range(int(arguments[0]) if arguments else 1):
                self.game.undo()

    def set_up(self, arguments: list[str], _reply: str) -> None:
        """Lay stones without playing: nothing is captured, and there is no last move."""
        if self.game is None:
            return
        position = self.game.position
        for color_name, name in zip(arguments[::2], arguments[1::2], strict=True):
            color = color_of(color_name)
            if color is None:
                raise ValueError(color_name)
            position = position.place(self._point(name), color)
        self._set(position)

    def handicap(self, names: list[str]) -> None:
        self.set_up([word for name in names for word in ("b", name)], "")

    def load_board(self, arguments: list[str], _reply: str) -> None:
        from oracle import read_position

        path = self.folder / " ".join(arguments)
        self._set(read_position(str(path), self.format or None).position)

    def loadsgf(self, arguments: list[str], _reply: str) -> None:
        from oracle.formats import SnapshotChoice
        from oracle.sgf.load import load_sgf

        # GTP 2, section 6.3.4: the position "immediately before" the move of that number.
        before = int(arguments.pop()) if len(arguments) > 1 else None
        game = "gomoku" if self.kind is GomokuGame else None
        choice = SnapshotChoice(move=None if before is None else max(before - 1, 0), game=game)
        path = self.folder / " ".join(arguments)
        read = load_sgf(path.read_bytes(), str(path), choice)
        self._set(read.start)
        for color, point in read.moves:
            if self.game and point:
                self.game.record(color, point)
            elif self.game:
                self._pass(color)


Handler = Callable[[_BoardReplay, list[str], str], None]

_HANDLERS: dict[str, Handler] = {
    "boardsize": _BoardReplay.boardsize,
    "clear_board": _BoardReplay.clear_board,
    "play": _BoardReplay.play,
    "black": lambda replay, arguments, _: replay.play(["b", *arguments], ""),
    "white": lambda replay, arguments, _: replay.play(["w", *arguments], ""),
    "gogui-play_sequence": _BoardReplay.play_sequence,
    "genmove": _BoardReplay.genmove,
    "kgs-genmove_cleanup": _BoardReplay.genmove,
    "undo": _BoardReplay.undo,
    "gg-undo": _BoardReplay.undo,
    "gogui-setup": _BoardReplay.set_up,
    "fixed_handicap": lambda replay, _, reply: replay.handicap(reply.split()),
    "place_free_handicap": lambda replay, _, reply: replay.handicap(reply.split()),
    "set_free_handicap": lambda replay, arguments, _: replay.handicap(arguments),
    "load_board": _BoardReplay.load_board,
    "loadsgf": _BoardReplay.loadsgf,
}


# --- Reasons for right answers: the oracle is sent the same commands and asked for them ----------
# What the engine chose (``genmove``) is played to the oracle as a move; all else is sent to it as
# it stands in the case file, whatever the engine made of it.

_CHOSEN = ("resign", "pass")
_NO_BOARDS: Mapping[int, Diagram] = {}

Reasons = dict[int, Explanation]


def explain_agreed(
    file: FileResult,
    steps: Collection[int],
    specification: Specification,
    boards: Mapping[int, Diagram],
) -> Reasons:
    """Return the reasons of the tests whose expectation the oracle's own answer meets.

    ``boards``: as far as they are known. An engine that refused a command has another one than the
    oracle, whose reason would be about what nobody sees.
    """
    from harness.specifications.record import reply_of

    dialect = dialect_of(file.case, find_dialect("gogui"))

    def holds(step: Step, answer: str) -> bool:
        with suppress(UndecidedError):
            return dialect.verdict(step.pattern, reply_of(answer)) is Verdict.PASSED
        return False

    return reasons(file, steps, specification, holds, boards)


def reasons(
    file: FileResult,
    steps: Collection[int],
    specification: Specification,
    holds: Callable[[Step, str], bool] = lambda *_: True,
    boards: Mapping[int, Diagram] = _NO_BOARDS,
) -> Reasons:
    """Return for some steps the reason of the right answer, and what it marks on the board.

    ``holds``: says of a step and the oracle's answer to it whether its reason is wanted.
    ``boards``: by step; the oracle's must be alike. Steps whose command needs no reason, or whose
    position the oracle cannot follow, are missing.
    """
    from harness.judging.in_process import folder_of

    engine = specification.reference_engine(folder_of(file.case))
    found: Reasons = {}
    last = max(steps, default=0)
    for index, (step, reply) in enumerate(zip(file.case.steps, file.replies, strict=True)):
        seen = boards.get(index)
        is_alike = seen is None or seen.position == engine.session.game.position
        if index in steps and is_alike:
            why = explanation(engine, step.command)
            if why:
                found[index] = why
        if index < last or index in found:
            name, *words = step.command.split() or [""]
            command = step.command
            if name == "genmove" and reply and reply.ok and reply.text.lower() not in _CHOSEN:
                command = f"play {' '.join(words[:1])} {reply.text}"
            elif name == "genmove":
                command = "#"
            answer = engine.handle(command)
            if index in found and not holds(step, answer):
                del found[index]
            # Without a file that the engine read, nobody can say what is right from there on.
            is_refused = answer.startswith("?") and reply is not None and reply.ok
            if is_refused and specification.commands[step.command.partition(" ")[0]].loads:
                break
    return found


def explanation(engine: Engine, command: str) -> Explanation | None:
    """Return why an answer of the oracle's is right; None if it explains none, or refuses."""
    with suppress(OracleError):
        return engine.explain(command)
    return None


def reason(engine: Engine, command: str) -> str:
    """Return the same in words; ``""`` for none."""
    found = explanation(engine, command)
    return found.text if found else ""


def mark_boards(boards: Mapping[int, Diagram], reasons: Reasons) -> dict[int, Diagram]:
    """Return boards by step with the marks of the reasons on them, where there are any."""
    marks = {step: sorted(reason.labels) for step, reason in reasons.items()}  # as they are read
    return {
        step: board.with_marks(dict(marks[step])) if step in marks else board
        for step, board in boards.items()
    }
