"""Openings from game records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.match.records import Opening, Rules
from oracle.boards import SnapshotChoice
from oracle.errors import SgfError
from oracle.position import BLACK, WHITE, vertex
from oracle.sgf import games, read_sgf


def read_openings(paths: Sequence[str], rules: Rules, most: int | None) -> list[Opening]:
    """Return an opening for each game of some SGF files; ``most``: moves that are kept.

    Of a folder, its ``*.sgf`` are read.

    Raises:
        UsageError: a file is not a record of a game on such a board.
    """
    return [one for path in paths for file in _files(path) for one in _of_file(file, rules, most)]


def _files(path: str) -> list[Path]:
    place = Path(path)
    found = sorted(place.glob("*.sgf")) if place.is_dir() else [place]
    if not found:
        raise UsageError(f"--openings {path}: the folder has no *.sgf files")
    return found


def _of_file(path: Path, rules: Rules, most: int | None) -> Iterator[Opening]:
    try:
        data = path.read_bytes()
        for number in range(1, len(games(data, str(path))) + 1):
            yield _opening(data, path, number, rules, most)
    except OSError as error:
        raise UsageError(f"--openings {path}: {error.strerror}") from None
    except SgfError as error:
        raise UsageError(f"--openings {error}") from None


def _opening(data: bytes, path: Path, number: int, rules: Rules, most: int | None) -> Opening:
    choice = SnapshotChoice(number=number, game=rules.game)
    whole = read_sgf(data, str(path), choice)
    board = whole.position.grid
    if (board.columns, board.rows) != rules.size:
        columns, rows = rules.size
        raise UsageError(
            f"--openings {path}: game {number} has a board of {board.columns} columns and"
            f" {board.rows} rows, expected {columns} and {rows} (--size)"
        )
    start, moves = whole.start, whole.moves[:most]
    setup = [
        (color, vertex(point))
        for color in (BLACK, WHITE)
        for point in board.points(start.stones(color))
    ]
    played = [(color, vertex(point) if point else "pass") for color, point in moves]
    first = whole.moves[0][0] if whole.moves else whole.to_play or BLACK
    return Opening(f"{path.name}, game {number}", tuple(setup), tuple(played), first)
