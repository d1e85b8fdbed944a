"""GTP's ``loadsgf``: reads game records as engines do, in the notations of other programs too.

A value that SGF does not know is spelled anew where its meaning is plain (``SZ[9x9]`` is
``SZ[9]``), and is left out where no board depends on it (``HA[even]``). Nothing is guessed: where
a board would depend on a guess (``SZ[x]``, ``B[C3]``), there is no other spelling.

Source: records of servers and programs as they are found; GNU Go 3.8, by what it does.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

from oracle.boards import Snapshot, SnapshotChoice
from oracle.errors import IllegalMove
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.position import BLACK, WHITE, Point, Position, opponent
from oracle.rules.go import fixed_points, most_fixed
from oracle.sgf import write
from oracle.sgf.replay import MOVES, REASONS, SETUP, Header, read_header
from oracle.sgf.tree import Faults, Node, games, where

# What the first node says of the whole game, and how SGF reads it.
HEADER = {"GM": write.game, "SZ": write.shape, "KM": write.komi, "HA": write.number}

# The games that have a number in SGF FF[4]; a Go program's number may be another (GM[0]).
OTHER_GAMES = frozenset(map(str, [2, 3, *range(5, 41)]))

_SIZE = re.compile(r"(\d{1,3})(?:\s*[xX×*:;,/\s]\s*(\d{1,3}))?(?:\D.*)?", re.DOTALL | re.ASCII)
_KOMI = re.compile(r"([+-]?)(\d{0,18})(?:[.,](\d{1,18}))?[.,]?(?![\d.,]|[eE][+-]?\d)", re.ASCII)
_NUMBER = re.compile(r"\d{1,3}(?!\d)", re.ASCII)
_POINT = re.compile(r"[A-Za-z]{2}", re.ASCII)
_AREA = re.compile(r"([A-Za-z])([A-Za-z])\s*:\s*(?:([A-Za-z])([A-Za-z]))?", re.ASCII)
_PASSES = frozenset({"pass", "--", "zz"})  # no board here has a point zz


def spell(name: str, value: str) -> str | None:
    """Return a value as SGF has it; None if nobody can tell what is meant.

    ``""`` leaves the property out (a move: it is a pass). ``value``: one that SGF does not know.
    """
    return _SPELLINGS[name](value.strip())


def respell(
    name: str, value: str, read: Callable[[str], object], note: Callable[[str], None]
) -> str:
    """Return a value as SGF has it; ``""`` leaves the property out (a move: it is a pass).

    Args:
        name: the property.
        value: as it stands in the record.
        read: raises :class:`ValueError` for what is not a value of SGF.
        note: is told how such a value is read, in one sentence.

    Raises the error of ``read`` if nobody can tell what is meant.
    """
    try:
        read(value)
    except ValueError as error:
        spelled = spell(name, value)
        if spelled is None:  # nobody can tell what is meant
            raise
        is_left_out = not spelled and name not in MOVES
        if not is_left_out:
            try:
                read(spelled)
            except ValueError:
                raise error from None
        note(f"{error}; {'left out' if is_left_out else f'read as {name}[{spelled}]'}")
        return spelled
    return value


def respell_header(root: Node, names: Iterable[str], faults: Faults) -> Node:
    """Return a copy of the first node with each of some facts of the game stated once at most.

    Of several values the first counts; a fact without a value is left out. ``names``: a few of
    :data:`HEADER`.
    """
    first = Node(root.number)
    first.properties = dict(root.properties)
    for name in names:
        stated = [value.strip() for value in first.properties.pop(name, [])]
        found = list(dict.fromkeys(filter(None, stated)))
        if not found:
            continue
        place = where(root, name, found[0])
        if len(found) > 1:
            faults.warn(place, f"expected one value, found {len(found)}; the first counts")
        try:
            value = respell(name, found[0], HEADER[name], partial(faults.warn, place))
        except ValueError as error:
            raise faults.error(place, str(error)) from None
        if value:
            first.properties[name] = [value]
    return first


def is_other_game(root: Node) -> bool:
    """Whether a record says that it is of another game than those that are known here.

    Some programs write the size of a Go board as the game: ``GM[19]`` is Go if the board has 19
    lines, which is the size of a record without ``SZ``.
    """
    game = root.properties.get("GM", [""])[0].strip()
    size = _size(root.properties.get("SZ", [""])[0].strip() or "19")
    return game in OTHER_GAMES and game != size


def _size(value: str) -> str | None:
    found = _SIZE.fullmatch(value)
    if not found:
        return None
    columns, rows = found.groups()
    return f"{columns}:{rows}" if rows and rows != columns else str(columns)


def _komi(value: str) -> str:
    """Return the number that a value begins with; a comma or ½ may be in it."""
    found = _KOMI.match(value.replace("½", ".5"))
    if not found or not (found[2] or found[3]):
        return ""
    return f"{found[1]}{found[2] or '0'}.{found[3] or '0'}".removesuffix(".0")


def _number(value: str) -> str:
    found = _NUMBER.match(value)
    return found[0] if found else ""


def _move(value: str) -> str | None:
    """Return a move in small letters: none of these boards has points in capitals."""
    if value.lower() in _PASSES:
        return ""
    return value.lower() if _POINT.fullmatch(value) else None


def _points(value: str) -> str | None:
    """Return a point or a rectangle in small letters, its upper left corner first."""
    if _POINT.fullmatch(value):
        return value.lower()
    found = _AREA.fullmatch(value.lower())
    if not found:
        return None
    left, top, right, bottom = found.groups()
    columns, rows = sorted([left, right or left]), sorted([top, bottom or top])
    return f"{columns[0]}{rows[0]}:{columns[1]}{rows[1]}"


_SPELLINGS: dict[str, Callable[[str], str | None]] = {
    "GM": lambda _: "1",
    "SZ": _size,
    "KM": _komi,
    "HA": _number,
    "PL": lambda value: {"1": "B", "2": "W"}.get(value, ""),  # FF[3] was misread
    **dict.fromkeys(("B", "W"), _move),
    **dict.fromkeys(("AB", "AW", "AE"), _points),
}


# --- The record as it is read: as engines do, GNU Go above all -----------------------------------
# :mod:`oracle.sgf.replay` holds a record against SGF and the rules of the game. Engines do not,
# and the records of their suites leave passes out, let either color begin, or continue after two
# passes. Here the properties of a node count in the file's order, the color of each move is
# believed, and the first game of a collection is the one. Everything that boards need is read, in
# the spelling of other programs too, and whatever is not as it should be is noted. A damaged file
# is read as far as it is sound. A stone on an occupied point replaces what is there: SGF has every
# move executed, whether it is legal or not; GNU Go leaves it out. Refused is only what leaves the
# board unknown: a size or a point that nobody can tell, a point off the board.
#
# Source: GNU Go 3.8, ``engine/interface.c``, by what it does.


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
    root = game.root
    if game.fault and game.nodes == 1 and not any(root.properties.get("SZ", ())):
        raise faults.error(game.fault, "the size of the board cannot be read")
    kind = choice.game  # that it is read as, whatever it says; None: the one that it says
    root = respell_header(root, [name for name in HEADER if name != "GM" or kind is None], faults)
    if root.properties.get("GM", ["1"]) == ["1"] and kind in (None, "go"):
        root.properties.setdefault("SZ", ["19"])  # which SGF states itself
    header = read_header(root, SnapshotChoice(game=kind), faults)
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

    def follow(self, root: Node, max_moves: int | None) -> bool:
        """Apply the nodes up to a number of moves; return whether the line has come to its end."""
        node: Node | None = root
        while node:
            self._check_order(node)
            for name, found in node.properties.items():
                for value in found:
                    if name in MOVES and self._count == max_moves:
                        self._to_move(MOVES[name])
                        return False
                    if name in MOVES:
                        self._move(node, name, value)
                    elif name in SETUP:
                        read = partial(write.points, board=self._header.board)
                        said = self._respell(node, name, value, read)
                        self._set_up(SETUP[name], read(said))
                    elif name == "PL" and (turn := self._respell(node, name, value, write.color)):
                        self._to_move(write.color(turn))
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

    def _respell(
        self, node: Node, name: str, value: str, read: Callable[[str], object], move: int = 0
    ) -> str:
        """Return a value as SGF has it; an error if nobody can tell what is meant."""
        place = where(node, name, value, move)
        try:
            return respell(name, value, read, partial(self._faults.warn, place))
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
            if board.rows != board.columns or stones > most_fixed(board.rows):
                why = "the record lacks the stones, and this board has no standard places for them"
                raise self._faults.error(f"HA[{stones}]", why)
            # GNU Go's corner stones; GTP has them one line nearer to the edge on 12 lines.
            self._set_up(BLACK, fixed_points(board.rows, stones, 3 if board.rows > 11 else 2))
            self.handicap = stones

    def _move(self, node: Node, name: str, value: str) -> None:
        """Play a move, whatever ko, suicide, turn and other stones say of it."""
        self._count += 1
        color, board = MOVES[name], self._header.board
        self._to_move(color)
        said = self._respell(node, name, value, lambda said: write.move(said, board), self._count)
        point, place = write.move(said, board), where(node, name, value, self._count)
        if point is not None and not board.bit(point) & self.game.position.empty:
            self._faults.warn(place, f"{REASONS['occupied']}; the stone replaces what is there")
        try:
            if isinstance(self.game, GoGame):
                self.game.record(color, point)
            elif point is None or self.game.is_over:
                raise IllegalMove("the game is over" if point else "Gomoku has no pass")
            else:
                self.game.record(color, point)
        except IllegalMove as error:
            raise self._faults.error(place, error.reason) from None
        self.turn = opponent(color)
