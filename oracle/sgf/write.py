"""The values of properties, read and written, and whole games as SGF.

Functions that read raise :class:`ValueError` with the reason, which the caller joins to property
and node.
"""

from __future__ import annotations

import oracle
from oracle.errors import FormatError
from oracle.komi import parse_komi, plain_text
from oracle.position import BLACK, LETTERS, MAX_SIZE, Grid, Move, Point, Position, color_of, grid

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.komi import Komi

# Source: SGF FF[4], "Properties of the root", GM. The others have no stones, or other boards.
GAMES = {"1": "go", "4": "gomoku"}
# What is played on where SZ is missing: SGF states it for Go; in Gomoku it is the usual board.
USUAL_SIZE = {"go": 19, "gomoku": 15}

_LETTERS = "abcdefghijklmnopqrstuvwxy"


def game(value: str) -> str:
    """Return which game a value of ``GM`` means."""
    if value.strip() not in GAMES:
        raise ValueError("this game is not known here; expected 1 (Go) or 4 (Gomoku)")
    return GAMES[value.strip()]


def shape(value: str) -> Grid:
    """Return the board of an ``SZ``: one number, or ``columns:rows`` (FF[4])."""
    columns, colon, rows = value.partition(":")
    return grid(_side(rows if colon else columns), _side(columns))


def _side(text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 2):
        raise ValueError("expected a number of lines, or columns:rows")
    if not 1 <= int(digits) <= MAX_SIZE:
        raise ValueError(f"expected 1 to {MAX_SIZE} lines")
    return int(digits)


def number(value: str) -> int:
    """Return a number such as that of ``HA``."""
    digits = value.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 3):
        raise ValueError("expected a number")
    return int(digits)


def komi(value: str) -> Komi | None:
    """Return a ``KM``; None for an empty one."""
    try:
        return parse_komi(value.strip()) if value.strip() else None
    except FormatError:
        raise ValueError("expected a number such as 6.5") from None


def color(value: str) -> int:
    """Return the color of a ``PL``."""
    found = color_of(value.strip())
    if found is None:
        raise ValueError("expected B or W")
    return found


def move(value: str, board: Grid) -> Point | None:
    """Return the point of a ``B`` or ``W``, None for a pass.

    SGF, "Go (GM[1])": "A pass move is shown as '[]' or alternatively as '[tt]' (only for boards
    <= 19x19)".
    """
    text = value.strip()
    small = board.rows <= 19 and board.columns <= 19
    return None if not text or (text == "tt" and small) else point(text, board)


def point(value: str, board: Grid) -> Point:
    """Return a point: two letters for column and row, counted from the upper left."""
    text = value.strip()
    if len(text) != 2 or not all(letter in _LETTERS for letter in text):
        raise ValueError("expected a point of two small letters")
    found = board.rows - 1 - _LETTERS.index(text[1]), _LETTERS.index(text[0])
    if found not in board:
        raise ValueError(f"the board has {board.columns} columns and {board.rows} rows")
    return found


def points(value: str, board: Grid) -> list[Point]:
    """Return the points of a value of a list: one, a rectangle (``aa:cc``), or none (empty)."""
    if not value.strip():
        return []
    first, colon, last = value.partition(":")
    top, left = point(first, board)
    bottom, right = point(last, board) if colon else (top, left)
    if bottom > top or right < left:
        raise ValueError("expected the upper left corner first")
    return [(r, c) for r in range(bottom, top + 1) for c in range(left, right + 1)]


def letters(place: Point | None, board: Grid) -> str:
    """Return the value that means a point, or ``""`` for a pass; inverse of :func:`move`."""
    if place is None:
        return ""
    return _LETTERS[place[1]] + _LETTERS[board.rows - 1 - place[0]]


# --- Writing a game as SGF FF[4] -----------------------------------------------------------------


def write_sgf(  # noqa: PLR0913 - independent facts of a game
    start: Position,
    moves: Iterable[Move],
    *,
    game: str = "go",
    to_play: int = BLACK,
    komi: Komi | None = None,
    result: str = "",
    comment: str = "",
    properties: Mapping[str, str] | None = None,
) -> bytes:
    """Return a game as a file: stones set up, moves (point None is a pass), a result, a comment.

    ``to_play``: the color that moves first. ``properties``: more of the first node, such as PB,
    the name of Black's player. Boards may be rectangular.
    """
    from sgfmill.sgf_grammar import Coarse_game_tree, escape_text, serialise_game_tree

    board = start.grid
    root = {
        "FF": "4",
        "GM": next(number for number, name in GAMES.items() if name == game),
        "CA": "UTF-8",
        "AP": f"gtp-oracle:{oracle.__version__}",
        "SZ": f"{board.rows}" if board.rows == board.columns else f"{board.columns}:{board.rows}",
        "PL": LETTERS[to_play],
        "KM": "" if komi is None else plain_text(komi),
        "RE": result,
    }
    values = {name: [value.encode()] for name, value in root.items() if value}
    for name, stones in (("AB", start.black), ("AW", start.white)):
        if stones:
            values[name] = [letters(point, board).encode() for point in board.points(stones)]
    tree = Coarse_game_tree()
    tree.sequence = [values]
    for name, value in (properties or {}).items():
        tree.sequence[0][name] = [escape_text(value.encode())]
    if comment:
        tree.sequence[0]["C"] = [escape_text(comment.encode())]
    for color, point in moves:
        tree.sequence.append({LETTERS[color]: [letters(point, board).encode()]})
    data: bytes = serialise_game_tree(tree)
    return data
