"""Openings of games: handicaps, moves of SGF files, and moves that are drawn."""

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from harness.errors import UsageError
from harness.match.records import GO, Opening, Rules
from harness.match.referee import Referee
from oracle.boards import SnapshotChoice
from oracle.errors import IllegalMove, SgfError
from oracle.position import BLACK, WHITE, vertex
from oracle.rules.go import fixed_points, most_fixed
from oracle.sgf import games, read_sgf


def after_opening(referee: Referee, opening: Opening) -> Referee:
    """Play the moves of an opening.

    Raises:
        UsageError: one is illegal, or the game is over after it.
    """
    for color, move in opening.moves:
        try:
            if color != referee.to_play:
                raise IllegalMove(f"{move}: the colors do not take turns")
            referee.play(move)
        except IllegalMove as error:
            raise UsageError(f"opening {opening.name}: {error}") from None
    if referee.end:
        raise UsageError(f"opening {opening.name}: the game is over after it")
    return referee


def draw_opening(referee: Referee, opening: Opening, moves: int, dice: random.Random) -> Opening:
    """Return an opening with so many more moves, each drawn from the legal ones.

    Raises:
        UsageError: no such opening was found.
    """
    drawn: list[tuple[int, str]] = []
    points = referee.points()
    dice.shuffle(points)
    for point in points:
        if len(drawn) == moves or referee.end:
            break
        color = referee.to_play
        with suppress(IllegalMove):
            drawn.append((color, referee.play(point)))
    if len(drawn) < moves or referee.end:
        raise UsageError(f"no opening of {moves} moves was found on this board; draw fewer")
    return opening._replace(moves=(*opening.moves, *drawn))


def handicap_opening(rules: Rules) -> Opening:
    """Return the opening of a handicap game: stones on the standard points, White begins.

    Raises:
        UsageError: the board has no such points.
    """
    if not rules.handicap:
        return Opening()
    columns, rows = rules.size
    most = most_fixed(rows) if rows == columns else 0
    if rules.game != GO or not 2 <= rules.handicap <= most:
        raise UsageError(
            f"--handicap {rules.handicap}: found a board for {most} stones, expected"
            " a game of Go with 2 stones or more on a board that has points for them"
        )
    stones = [(BLACK, vertex(point)) for point in fixed_points(rows, rules.handicap)]
    return Opening(f"handicap {rules.handicap}", tuple(stones), (), WHITE)


def read_openings(paths: Sequence[str], rules: Rules, max_moves: int | None) -> Iterator[Opening]:
    """Yield an opening for each game of some SGF files; ``max_moves``: moves that are kept.

    Of a folder, its ``*.sgf`` are read.

    Raises:
        UsageError: a file is not a record of a game on such a board.
    """
    for name in paths:
        files = sorted(Path(name).glob("*.sgf")) if Path(name).is_dir() else [Path(name)]
        if not files:
            raise UsageError(f"--openings {name}: the folder has no *.sgf files")
        for path in files:
            try:
                data = path.read_bytes()
                for number in range(1, len(games(data, str(path))) + 1):
                    yield _opening(data, path, number, rules, max_moves)
            except OSError as error:
                raise UsageError(f"--openings {path}: {error.strerror}") from None
            except SgfError as error:
                raise UsageError(f"--openings {error}") from None


def _opening(data: bytes, path: Path, number: int, rules: Rules, max_moves: int | None) -> Opening:
    choice = SnapshotChoice(number=number, game=rules.game)
    whole = read_sgf(data, str(path), choice)
    board, start = whole.position.grid, whole.start
    if (board.columns, board.rows) != rules.size:
        columns, rows = rules.size
        raise UsageError(
            f"--openings {path}: game {number} has a board of {board.columns} columns and"
            f" {board.rows} rows, expected {columns} and {rows} (--size)"
        )
    setup = [(color, vertex(point)) for color in (BLACK, WHITE)
             for point in board.points(start.stones(color))]  # fmt: skip
    moves = [
        (color, vertex(point) if point else "pass") for color, point in whole.moves[:max_moves]
    ]
    first = whole.moves[0][0] if whole.moves else whole.to_play or BLACK
    return Opening(f"{path.name}, game {number}", tuple(setup), tuple(moves), first)
