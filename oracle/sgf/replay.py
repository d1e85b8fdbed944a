"""Replays nodes on a board, by the rules of the game."""

from __future__ import annotations

from oracle.color import BLACK, NAMES, WHITE, opponent
from oracle.errors import IllegalMove
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.position import Position
from oracle.sgf import values
from oracle.sgf.faults import Faults, where
from oracle.sgf.header import Header
from oracle.sgf.tree import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.vertex import Move, Point

MOVES = {"B": BLACK, "W": WHITE}
SETUP = {"AB": BLACK, "AW": WHITE, "AE": 0}
REASONS = {
    "occupied": "the point is occupied",
    "ko": "it takes a ko back at once",
    "suicide": "the stone has no liberty and takes nothing",
}


class Replay:
    """The game as it goes along.

    Attributes: ``game``, since the last setup; ``start``, the position it began with; ``count``,
    the moves of the record so far; ``turn``, whose turn it is, or None where the record leaves
    that open.
    """

    __slots__ = ("_faults", "_free", "_header", "count", "game", "start", "turn")

    def __init__(self, header: Header, faults: Faults) -> None:
        self._header = header
        self._faults = faults
        self.count = 0
        self.turn: int | None = BLACK
        self._free = 0  # handicap stones that Black may place as moves
        self._begin(Position(header.board))

    @property
    def moves(self) -> list[Move]:
        """The moves since the last setup."""
        return list(self.game.moves)

    @property
    def ko(self) -> Point | None:
        """The point that may not be taken back now, None without ko."""
        return self.game.ko if isinstance(self.game, GoGame) else None

    def _begin(self, position: Position) -> None:
        """Continue from a position that no moves led to."""
        self.start = position
        self.game: GoGame | GomokuGame
        if self._header.game == "go":
            self.game = GoGame(position, self.turn or BLACK)
        else:
            self.game = GomokuGame(position, self.turn or BLACK)

    # --- setup ---------------------------------------------------------------------------------

    def setup(self, node: Node) -> bool:
        """Apply a node's ``AB``, ``AW``, ``AE`` and ``PL``; return whether it has any."""
        placed = self._find_placed(node)
        if placed:
            self.turn = None
        for value in node.properties.get("PL", []):
            try:
                self.turn = values.color(value)
            except ValueError as error:
                raise self._faults.error(where(node, "PL", value), str(error)) from None
        if not placed and "PL" not in node.properties:
            return False
        position = self.game.position
        for point, color in placed.items():
            position = position.place(point, color)
        self._begin(position)
        return True

    def _find_placed(self, node: Node) -> dict[Point, int]:
        """Return the color that a node's setup gives to each of its points."""
        placed: dict[Point, int] = {}
        for name, color in SETUP.items():
            for value in node.properties.get(name, []):
                for point in self._points(node, name, value):
                    if placed.get(point, color) != color:
                        reason = "another color is set up on the same point"
                        self._faults.fault(where(node, name, value), reason)
                    placed[point] = color
        return placed

    def _points(self, node: Node, name: str, value: str) -> list[Point]:
        try:
            return values.points(value, self._header.board)
        except ValueError as error:
            raise self._faults.error(where(node, name, value), str(error)) from None

    def handicap(self, root: Node) -> None:
        """Take the first node's ``HA`` into account, after its setup.

        White has the first move then. Where ``AB`` sets up no stones, Black may place them as
        moves.
        """
        stated, stones = self._header.handicap, self.start.black.bit_count()
        if stated < 2:
            return
        if not stones:
            self._free = stated
        if "PL" not in root.properties:
            self.turn = WHITE if stones else None
        if stones != stated:
            self._faults.note(f"HA[{stated}] does not agree with the {stones} stones of AB")

    # --- moves ---------------------------------------------------------------------------------

    def move(self, node: Node, name: str, value: str) -> None:
        """Play a move, even against the rules if faults are kept."""
        self.count += 1
        color, place = MOVES[name], where(node, name, value, self.count)
        try:
            point = values.move(value, self._header.board)
        except ValueError as error:
            raise self._faults.error(place, str(error)) from None
        if self.turn not in (None, color):
            self._faults.fault(place, f"it is {NAMES[opponent(color)].capitalize()}'s turn")
        if point is None:
            self._pass(color, place)
        else:
            self._stone(color, point, place)
        placing = color == BLACK and self.count < self._free
        self.turn = None if placing else opponent(color)

    def _pass(self, color: int, place: str) -> None:
        if isinstance(self.game, GoGame):
            self.game.play(color, None)
        else:
            self._faults.fault(place, "Gomoku has no pass")

    def _stone(self, color: int, point: Point, place: str) -> None:
        if self.game.is_over:
            self._faults.fault(place, "the game is over")
        try:
            self.game.play(color, point)
        except IllegalMove as error:
            self._faults.fault(place, REASONS[error.reason])
            self.turn = opponent(color)
            self.game.record(color, point)
            self._begin(self.game.position)
