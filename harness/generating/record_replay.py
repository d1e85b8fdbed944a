"""Games replayed on integers: a game record's first line of play, as far as it is sound.

:func:`oracle.sgf.read_sgf` says of one record all that is wrong with it. Here thousands are read:
what cannot be understood ends the game, and is counted, not explained.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache

from harness.vocabulary.scenes import EMPTY, PlayedGame, SceneMoment, SceneOrigin, StoneBits
from oracle.errors import SgfError
from oracle.games.go import GoState
from oracle.position import BLACK, WHITE, Grid, Position
from oracle.rules.flood import flood, neighbours
from oracle.rules.go import find_captured, find_taken
from oracle.sgf import Node, load, write
from oracle.sgf.tree import Faults
from oracle.symmetry import ALL, image

Move = tuple[int, int]  # color and bit

_MOVES = (("B", BLACK), ("W", WHITE))
_SETUP = ("AB", "AW", "AE")
# Notes: what is odd about a game that is used.
_RESPELLED = "points in another spelling than SGF's"
_FORCED = "a move that the rules forbid, which SGF has played as every other"
_ENDED = "a move that cannot be played; the game is used up to there"
_UNKNOWN = "another game, or a size that is not known"
_OPENING = 30  # moves that tell games apart; a copy that ends earlier or later has the same


class Unusable(Exception):  # noqa: N818 - no error, but something to count
    """Reason a game gives no position."""


def replay(root: Node, name: str, *, strict: bool = False) -> PlayedGame:
    """Return a game's first line of play up to its end, and what is odd about it.

    ``name``: for a reader. ``strict``: only up to the first thing that SGF or the rules of the
    game forbid (ko aside).

    Raises :class:`Unusable` when there is nothing of it.
    """
    return _Replay(root, strict).played(name)


class _Replay:
    """One game while it is replayed."""

    def __init__(self, root: Node, strict: bool) -> None:
        self._root = root
        self._strict = strict
        self._notes: list[str] = []  # what is odd about it
        self._kind, self._shape = self._header()

    def played(self, name: str) -> PlayedGame:
        shape = self._shape
        # Some servers write handicap stones into a node of their own, after the root.
        first, start = self._root, self._setup(self._root, EMPTY)
        while first.children and not any(key in first.properties for key, _ in _MOVES):
            first = first.children[0]
            start = self._setup(first, start)
        moves, boards = [], [start]
        play = {"go": _go, "gomoku": _gomoku}[self._kind]
        for color, point in self._line(first):
            move, after = point, play(shape, boards[-1], color, point)
            if after is None:
                move, after = 0, self._force(boards[-1], color, point)
            if after is None:
                break
            moves.append((color, move))
            boards.append(after)
        origin = SceneOrigin(name, identity(shape, start, moves))
        notes = tuple(dict.fromkeys(self._notes))
        return PlayedGame(origin, self._kind, shape.rows, moves, boards, notes)

    def _header(self) -> tuple[str, Grid]:
        """Return the game and the board."""
        faults, root = Faults(None, "", keep=True), self._root
        if load.is_other_game(root):
            raise Unusable(_UNKNOWN)
        try:
            if not self._strict:
                root = load.respell_header(root, ("GM", "SZ"), faults)
            kind = write.game(root.properties.get("GM", ["1"])[0])
            default = str(write.USUAL_SIZE[kind])
            shape = write.shape(root.properties.get("SZ", [default])[0])
        except (ValueError, SgfError):
            raise Unusable(_UNKNOWN) from None
        if shape.rows != shape.columns:
            raise Unusable("the board is not square")
        self._notes += faults.notes
        return kind, shape

    def _setup(self, node: Node, board: StoneBits) -> StoneBits:
        """Return the board after a node's ``AB``, ``AW`` and ``AE``."""
        if node.properties.keys().isdisjoint(_SETUP):
            return board
        shape = self._shape

        def points(name: str) -> Iterator[Move]:
            for value in node.properties.get(name, []):
                said = self._respell(name, value, lambda said: write.points(said, shape))
                yield from write.points(said, shape)

        try:
            black, white, none = (shape.mask(list(points(name))) for name in _SETUP)
        except ValueError:
            raise Unusable("its setup cannot be read") from None
        keep = ~(black | white | none)
        return StoneBits(board.black & keep | black & ~white, board.white & keep | white)

    def _respell(self, name: str, value: str, read: Callable[[str], object]) -> str:
        """Return a value as SGF has it; raise :class:`ValueError` if nobody can tell."""
        if self._strict:
            return value
        return load.respell(name, value, read, lambda _: self._notes.append(_RESPELLED))

    def _line(self, first: Node) -> Iterator[Move]:
        """Yield the moves of the first variations, until a node that sets up stones."""
        bits = _letters(self._shape)
        node: Node | None = first
        while node is not None:
            properties = node.properties
            for name, color in _MOVES:
                for value in properties.get(name, ()):
                    move = bits.get(value)
                    if move is None:
                        move = self._odd_move(name, value)
                    if move is None:
                        return
                    yield color, move
            node = node.children[0] if node.children else None
            if node is not None and not node.properties.keys().isdisjoint(_SETUP):
                return

    def _odd_move(self, name: str, value: str) -> int | None:
        """Return the bit of a move that is not written as SGF writes it, None for no move."""
        shape = self._shape
        try:
            said = self._respell(name, value, lambda said: write.move(said, shape)).strip()
        except ValueError:
            said = value
        move = None if self._strict else _letters(shape).get(said)
        if move is None:
            self._notes.append(_ENDED)
        return move

    def _force(self, board: StoneBits, color: int, move: int) -> StoneBits | None:
        """Return the board after a move that the rules forbid, None if the game ends there.

        Source: SGF, "How to execute a move".
        """
        if self._strict or self._kind != "go":
            self._notes.append(_ENDED)
            return None
        self._notes.append(_FORCED)
        state = GoState(Position(self._shape, *board)).after_forced(color, self._shape.point(move))
        return StoneBits(state.position.black, state.position.white)


@cache
def _letters(shape: Grid) -> dict[str, int]:
    """Return the bit of each move as SGF writes it; 0 is a pass."""
    found = {write.letters(point, shape): shape.bit(point) for point in shape.points(shape.full)}
    return {**({"tt": 0} if shape.rows <= 19 else {}), **found, "": 0}


_around = cache(neighbours)


def _go(shape: Grid, board: StoneBits, color: int, move: int) -> StoneBits | None:
    """Return the board after a move of Go, None for one that the rules forbid (ko aside)."""
    stones = board.black | board.white
    if stones & move:
        return None
    mine, theirs = board if color == BLACK else (board.white, board.black)
    around = _around(shape, move) if move else 0
    if around & theirs and (dead := find_taken(shape, mine, theirs, move)):
        theirs &= ~dead
    elif (
        move
        and not around & ~stones
        and flood(shape, move, mine) & find_captured(shape, mine | move, theirs)
    ):
        return None  # suicide
    mine |= move
    return StoneBits(mine, theirs) if color == BLACK else StoneBits(theirs, mine)


def _gomoku(shape: Grid, board: StoneBits, color: int, move: int) -> StoneBits | None:
    """Return the board after a stone, None where there is one already."""
    if not move or board.stones & move:
        return None
    black, white = board
    return StoneBits(black | move, white) if color == BLACK else StoneBits(black, white | move)


# --- which game it is --------------------------------------------------------------------------


@cache
def images(shape: Grid, symmetry: int) -> dict[int, int]:
    """Return where each bit of a square board goes under a symmetry; 0, a pass, stays."""
    bits = {shape.bit(p): shape.bit(image(p, shape, symmetry)) for p in shape.points(shape.full)}
    return {**bits, 0: 0}


def identity(shape: Grid, start: StoneBits, moves: list[Move]) -> str:
    """Return a name of the game that is the same in all its turned and mirrored copies."""
    opening = [move for _, move in moves[:_OPENING]]
    colors = [color for color, _ in moves[:_OPENING]]
    copies = []
    for symmetry in ALL:
        place = images(shape, symmetry)
        begun = [turn_mask(shape, mask, symmetry) for mask in start] if start.stones else []
        copies.append((begun, [place[move] for move in opening]))
    return hashlib.sha256(repr((shape.rows, colors, min(copies))).encode()).hexdigest()


def turn_mask(shape: Grid, mask: int, symmetry: int) -> int:
    """Return a mask after a symmetry."""
    place, found = images(shape, symmetry), 0
    while mask:
        bit = mask & -mask
        found |= place[bit]
        mask ^= bit
    return found


def turn(moment: SceneMoment, symmetry: int, swap: bool) -> SceneMoment:
    """Return a moment as it looks after a symmetry and, if ``swap``, with colors exchanged."""
    shape = moment.shape

    def after(board: StoneBits) -> StoneBits:
        black, white = (turn_mask(shape, mask, symmetry) for mask in board)
        return StoneBits(white, black) if swap else StoneBits(black, white)

    return moment._replace(
        before=after(moment.before),
        board=after(moment.board),
        move=images(shape, symmetry)[moment.move],
        color=3 - moment.color if swap and moment.color else moment.color,
    )


def is_private(game: str) -> bool:
    """Return to which half of all games one belongs.

    By its name alone, so that runs that share nothing never take public and private cases from
    one game.
    """
    return bool(int(game[-1], 16) & 1)


# --- moments -----------------------------------------------------------------------------------


def moment(played: PlayedGame, number: int) -> SceneMoment:
    """Return a game's moment after some moves."""
    color, move = played.moves[number - 1] if number else (0, 0)
    # After a move that the rules forbid the board is one that no move led to.
    before = played.boards[number - 1 if move else number]
    after = played.boards[number]
    return SceneMoment(played.origin, played.size, number, before, color, move, after)
