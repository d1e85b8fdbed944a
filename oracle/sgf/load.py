"""GTP's ``loadsgf``: reads a record as engines do, GNU Go above all.

:mod:`oracle.sgf.read` holds a record against SGF and the rules of the game. Engines do not, and
the records of their suites leave passes out, let either color begin, or continue after two passes.
Here the properties of a node count in the file's order, the color of each move is believed, and
the first game of a collection is the one. What engines read differently is still refused: a stone
on an occupied point or off the board, a damaged file, a komi that is not a number.

Source: GNU Go 3.8, ``engine/interface.c``, by what it does.
"""

from __future__ import annotations

from oracle.boards.snapshot import Snapshot, SnapshotChoice
from oracle.color import BLACK, WHITE, opponent
from oracle.errors import IllegalMove
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.position import Position
from oracle.rules.handicap import fixed_points, most_fixed
from oracle.sgf import values
from oracle.sgf.faults import Faults, where
from oracle.sgf.header import Header, read_header
from oracle.sgf.replay import MOVES, REASONS, SETUP
from oracle.sgf.tree import Node, games

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.vertex import Point

# FF[3] was misread: some programs write the numbers of the colors.
_COLORS = {"1": "b", "2": "w"}
_OF_THE_GAME = ("GM", "SZ", "KM", "HA")


def load_sgf(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read the position before a move of a file's first game, along its first variations.

    Args:
        data: the file's content.
        file: its name, for errors.
        choice: ``move``, how many moves are played at most, and ``game``; nothing else counts.

    Raises :class:`~oracle.errors.SgfError` naming node, property and reason.
    """
    choice = choice or SnapshotChoice()
    game = games(data, file)[0]
    faults = Faults(file, "", keep=False)
    header = read_header(_once(game.root), SnapshotChoice(game=choice.game), faults)
    loading = _Loading(header, faults)
    ended = loading.follow(game.root, choice.move)
    if ended and game.fault:
        raise faults.error(game.fault, "the rest of the game cannot be read")
    return Snapshot(
        loading.game.position,
        "sgf",
        game=header.game,
        to_play=loading.turn,
        komi=header.komi,
        start=loading.game.start,
        moves=list(loading.game.moves),
        title=header.title,
        notes=faults.notes,
    )


def _once(root: Node) -> Node:
    """Return a node with each fact of the game stated once, if it is the same; none if empty."""
    first = Node(root.number)
    first.properties = dict(root.properties)
    for name in _OF_THE_GAME:
        stated = [value.strip() for value in first.properties.pop(name, [])]
        if any(stated):
            first.properties[name] = list(dict.fromkeys(stated))
    return first


class _Loading:
    """The game as it goes along.

    Attributes: ``game``, since the last setup; ``turn``, whose turn it is.
    """

    def __init__(self, header: Header, faults: Faults) -> None:
        self._header = header
        self._faults = faults
        self._count = 0
        self.turn = WHITE if header.handicap > 1 else BLACK
        self._begin(Position(header.board))

    def _begin(self, position: Position) -> None:
        """Continue from a position that no moves led to."""
        kind = GoGame if self._header.game == "go" else GomokuGame
        self.game: GoGame | GomokuGame = kind(position, self.turn)

    def follow(self, root: Node, most: int | None) -> bool:
        """Apply the nodes up to a number of moves; return whether the line has come to its end."""
        node: Node | None = root
        while node:
            self._check_order(node)
            for name, found in node.properties.items():
                for value in found:
                    if name in MOVES and self._count == most:
                        self._to_move(MOVES[name])
                        return False
                    self._apply(node, name, value)
            node = node.children[0] if node.children else None
        return True

    def _check_order(self, node: Node) -> None:
        """Refuse a move or, beside one, a PL that comes twice: what came between is not kept."""
        moves = [name for name in MOVES if name in node.properties]
        for name in [*moves, "PL"] if moves else []:
            if len(found := node.properties.get(name, [])) > 1:
                raise self._faults.error(
                    where(node), f"the node has {len(found)} values of {name}"
                )

    def _apply(self, node: Node, name: str, value: str) -> None:
        try:
            if name in MOVES:
                self._move(node, name, value)
            elif name in SETUP:
                self._set_up(SETUP[name], values.points(value, self._header.board))
            elif name == "PL":
                color = value.strip()
                self._to_move(values.color(_COLORS.get(color, color)))
        except ValueError as error:
            raise self._faults.error(where(node, name, value), str(error)) from None

    def _set_up(self, color: int, points: list[Point]) -> None:
        position = self.game.position
        for point in points:
            position = position.place(point, color)
        self._begin(position)

    def _to_move(self, color: int) -> None:
        """Say whose turn it is; GNU Go puts handicap stones that the record lacks before White."""
        self.turn = color
        stones, board = self._header.handicap, self._header.board
        if color == WHITE and stones > 1 and self.game.position.empty == board.full:
            self._set_up(BLACK, self._place_fixed_handicap(stones))

    def _place_fixed_handicap(self, stones: int) -> list[Point]:
        """Return where so many stones stand by the standard."""
        rows, columns = self._header.board.rows, self._header.board.columns
        if rows != columns or stones > most_fixed(rows):
            reason = "the record lacks the stones, and this board has no standard places for them"
            raise self._faults.error(f"HA[{stones}]", reason)
        # GNU Go's corner stones; GTP has them one line nearer to the edge on 12 lines.
        return fixed_points(rows, stones, 3 if rows > 11 else 2)

    def _move(self, node: Node, name: str, value: str) -> None:
        """Play a move, whatever ko, suicide and turn say of it."""
        self._count += 1
        color, place = MOVES[name], where(node, name, value, self._count)
        self._to_move(color)
        try:
            point = values.move(value, self._header.board)
        except ValueError as error:
            raise self._faults.error(place, str(error)) from None
        try:
            self._play(color, point)
        except IllegalMove as error:
            raise self._faults.error(place, REASONS.get(error.reason, error.reason)) from None
        self.turn = opponent(color)

    def _play(self, color: int, point: Point | None) -> None:
        if isinstance(self.game, GoGame):
            self.game.record(color, point)
        elif point is None:
            raise IllegalMove("Gomoku has no pass")
        elif self.game.is_over:
            raise IllegalMove("the game is over")
        else:
            self.game.record(color, point)
