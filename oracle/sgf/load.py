"""GTP's ``loadsgf``: reads a record as engines do, GNU Go above all.

:mod:`oracle.sgf.replay` holds a record against SGF and the rules of the game. Engines do not, and
the records of their suites leave passes out, let either color begin, or continue after two passes.
Here the properties of a node count in the file's order, the color of each move is believed, and
the first game of a collection is the one. Everything that boards need is read, in the spelling of
other programs too (:mod:`oracle.sgf.dialects`), and whatever is not as it should be is noted. A
damaged file is read as far as it is sound. A stone on an occupied point replaces what is there:
SGF has every move executed, whether it is legal or not; GNU Go leaves it out. Refused is only what
leaves the board unknown: a size or a point that nobody can tell, a point off the board.

Source: GNU Go 3.8, ``engine/interface.c``, by what it does.
"""

from __future__ import annotations

from functools import partial

from oracle.boards.snapshot import Snapshot, SnapshotChoice
from oracle.errors import IllegalMove
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.position import BLACK, WHITE, Point, Position, opponent
from oracle.rules.go import fixed_points, most_fixed
from oracle.sgf import dialects, values
from oracle.sgf.replay import MOVES, REASONS, SETUP, Header, read_header
from oracle.sgf.tree import Faults, Node, SgfGame, games, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


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
    header = _read_header(game, choice.game, faults)
    loading = _Loading(header, faults)
    ended = loading.follow(game.root, choice.move)
    if ended and game.fault:
        faults.warn(game.fault, "the rest of the game cannot be read")
    return Snapshot(
        loading.game.position,
        "sgf",
        game=header.game,
        to_play=loading.turn,
        komi=header.komi,
        start=loading.game.start,
        moves=list(loading.game.moves),
        handicap=loading.handicap,
        title=header.title,
        notes=faults.notes,
    )


def _read_header(game: SgfGame, kind: str | None, faults: Faults) -> Header:
    """Return what the first node says; an error if it is cut off before the size of the board.

    ``kind``: the game that it is read as, whatever it says; None: the one that it says.
    """
    root = game.root
    if game.fault and game.nodes == 1 and not any(root.properties.get("SZ", ())):
        raise faults.error(game.fault, "the size of the board cannot be read")
    names = [name for name in dialects.HEADER if name != "GM" or kind is None]
    root = dialects.respell_header(root, names, faults)
    if root.properties.get("GM", ["1"]) == ["1"] and kind in (None, "go"):
        root.properties.setdefault("SZ", ["19"])  # which SGF states itself
    return read_header(root, SnapshotChoice(game=kind), faults)


class _Loading:
    """The game as it goes along.

    Attributes: ``game``, since the last setup; ``turn``, whose turn it is; ``handicap``, how many
    stones were placed because ``HA`` states them and the record lacks them.
    """

    def __init__(self, header: Header, faults: Faults) -> None:
        self._header = header
        self._faults = faults
        self._count = 0
        self.handicap = 0
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
        """Refuse a move or, beside one, a PL that comes twice: what came between is not kept.

        Moves of one color with nothing else that changes the board come in their own order.
        """
        moves = [name for name in MOVES if name in node.properties]
        others = [name for name in (*SETUP, "PL") if name in node.properties]
        for name in [*moves, "PL"] if moves else []:
            if len(found := node.properties.get(name, [])) > 1:
                reason = f"the node has {len(found)} values of {name}"
                if len(moves) > 1 or others:
                    raise self._faults.error(where(node), reason)
                self._faults.warn(where(node), f"{reason}; they are played one after the other")

    def _apply(self, node: Node, name: str, value: str) -> None:
        if name in MOVES:
            self._move(node, name, value)
        elif name in SETUP:
            board = self._header.board
            value = self._respell(node, name, value, lambda said: values.points(said, board))
            self._set_up(SETUP[name], values.points(value, board))
        elif name == "PL" and (value := self._respell(node, name, value, values.color)):
            self._to_move(values.color(value))

    def _respell(
        self, node: Node, name: str, value: str, read: Callable[[str], object], move: int = 0
    ) -> str:
        """Return a value as SGF has it; an error if nobody can tell what is meant."""
        place = where(node, name, value, move)
        try:
            return dialects.respell(name, value, read, partial(self._faults.warn, place))
        except ValueError as error:
            raise self._faults.error(place, str(error)) from None

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
            self.handicap = stones

    def _place_fixed_handicap(self, stones: int) -> list[Point]:
        """Return where so many stones stand by the standard."""
        rows, columns = self._header.board.rows, self._header.board.columns
        if rows != columns or stones > most_fixed(rows):
            reason = "the record lacks the stones, and this board has no standard places for them"
            raise self._faults.error(f"HA[{stones}]", reason)
        # GNU Go's corner stones; GTP has them one line nearer to the edge on 12 lines.
        return fixed_points(rows, stones, 3 if rows > 11 else 2)

    def _move(self, node: Node, name: str, value: str) -> None:
        """Play a move, whatever ko, suicide, turn and other stones say of it."""
        self._count += 1
        color, board = MOVES[name], self._header.board
        self._to_move(color)
        said = self._respell(node, name, value, lambda said: values.move(said, board), self._count)
        point, place = values.move(said, board), where(node, name, value, self._count)
        if point is not None and not board.bit(point) & self.game.position.empty:
            self._faults.warn(place, f"{REASONS['occupied']}; the stone replaces what is there")
        try:
            self._play(color, point)
        except IllegalMove as error:
            raise self._faults.error(place, error.reason) from None
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
