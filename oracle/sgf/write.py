"""Writing a game as SGF FF[4]."""

from __future__ import annotations

import oracle
from oracle.komi import plain_text
from oracle.position import BLACK, LETTERS, WHITE, Grid, Move, Position
from oracle.sgf.values import GAMES, letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.komi import Komi


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

    tree = Coarse_game_tree()
    tree.sequence = [_root(start, game, to_play, komi, result)]
    for name, value in (properties or {}).items():
        tree.sequence[0][name] = [escape_text(value.encode())]
    if comment:
        tree.sequence[0]["C"] = [escape_text(comment.encode())]
    for color, point in moves:
        tree.sequence.append({LETTERS[color]: [letters(point, start.grid).encode()]})
    data: bytes = serialise_game_tree(tree)
    return data


def _root(
    start: Position, game: str, to_play: int, komi: Komi | None, result: str
) -> dict[str, list[bytes]]:
    board = start.grid
    number = next(number for number, name in GAMES.items() if name == game)
    root = {
        "FF": "4",
        "GM": number,
        "CA": "UTF-8",
        "AP": f"gtp-oracle:{oracle.__version__}",
        "SZ": f"{board.rows}" if board.rows == board.columns else f"{board.columns}:{board.rows}",
        "PL": LETTERS[to_play],
        "KM": "" if komi is None else plain_text(komi),
        "RE": result,
    }
    values = {name: [value.encode()] for name, value in root.items() if value}
    return values | _setup(start, board)


def _setup(start: Position, board: Grid) -> dict[str, list[bytes]]:
    stones = {"AB": start.stones(BLACK), "AW": start.stones(WHITE)}
    return {
        name: [letters(point, board).encode() for point in board.points(mask)]
        for name, mask in stones.items()
        if mask
    }
