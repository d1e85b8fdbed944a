"""Gomoku by the words of its definitions, slowly: it plays every move and looks at every
window through it.

Nothing here knows bits, masks or guard columns, or imports anything of the oracle, so an error in
the oracle's shifts cannot hide in both. A board is a list of rows of ``"."``, ``"X"`` and ``"O"``
with row 0 at the bottom; a point is ``(row, column)``.
"""

from functools import cache
from itertools import product

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


@cache
def windows(rows, columns, length):
    """Return every window: ``length`` neighbouring points on a line of the board."""
    found = []
    for row, column, (up, right) in product(range(rows), range(columns), DIRECTIONS):
        points = [(row + i * up, column + i * right) for i in range(length)]
        if all(0 <= r < rows and 0 <= c < columns for r, c in points):
            found.append(points)
    return found


def windows_of(board, length):
    return windows(len(board), len(board[0]), length)


@cache
def windows_by_point(rows, columns, length):
    found = {point: [] for point in product(range(rows), range(columns))}
    for points in windows(rows, columns, length):
        for point in points:
            found[point].append(points)
    return found


def windows_through(board, point, length):
    return windows_by_point(len(board), len(board[0]), length)[point]


def text(board, points):
    return "".join(board[row][column] for row, column in points)


def empty_points(board):
    return {(r, c) for r, row in enumerate(board) for c, stone in enumerate(row) if stone == "."}


def after(board, point, stone):
    """Return the board with one stone more."""
    row, column = point
    changed = [list(line) for line in board]
    changed[row][column] = stone
    return changed


def has_five(board, stone):
    """Whether there are five or more in a row: five at least, so a window of five is enough."""
    return any(text(board, points) == stone * 5 for points in windows_of(board, 5))


def other(stone):
    return {"X": "O", "O": "X"}[stone]


def has_run_through(board, point, stone):
    """Whether the stones in a row through a point, counted in both ways, are five or more."""
    for up, right in DIRECTIONS:
        run = 1
        for sign in (1, -1):
            row, column = point[0] + sign * up, point[1] + sign * right
            while 0 <= row < len(board) and 0 <= column < len(board[0]):
                if board[row][column] != stone:
                    break
                run, row, column = run + 1, row + sign * up, column + sign * right
        if run >= 5:
            return True
    return False


def wins(board, stone):
    """Every empty point that completes five or more for ``stone``."""
    return {p for p in empty_points(board) if has_run_through(after(board, p, stone), p, stone)}


def open_fours_made(board, point, stone):
    """Play a move: every four in ``.XXXX.`` that has the new stone, with its two empty ends."""
    board = after(board, point, stone)
    return [
        (points[1:5], {points[0], points[5]})
        for points in windows_through(board, point, 6)
        if text(board, points) == "." + stone * 4 + "."
    ]


def open_fours(board, stone):
    """Every empty point that makes four consecutive stones between two empty points."""
    return {point for point in empty_points(board) if open_fours_made(board, point, stone)}


def threes(board, stone):
    """Every set of three stones within four consecutive points, the fourth empty."""
    return {
        frozenset(point for point in points if text(board, [point]) == stone)
        for points in windows_of(board, 4)
        if sorted(text(board, points)) == sorted("." + stone * 3)
    }


def completions(board, stone):
    """For every three, the sets of a point that turns it into an open four and the four's ends."""
    found = {three: [] for three in threes(board, stone)}
    for point in empty_points(board):
        for four, ends in open_fours_made(board, point, stone):
            found[frozenset(four) - {point}].append({point, *ends})
    return found


def open_four_blocks(board, stone):
    """The points common to all completions of a three, united over all threes of ``stone``."""
    return {
        point
        for sets in completions(board, stone).values()
        if sets
        for point in set.intersection(*sets)
    }


def policy_moves(board, stone):
    """The first type that has moves and these, ``("", set())`` when the game is over."""
    if has_five(board, "X") or has_five(board, "O"):
        return "", set()
    rules = (
        ("Win", lambda: wins(board, stone)),
        ("BlockWin", lambda: wins(board, other(stone))),
        ("OpenFour", lambda: open_fours(board, stone)),
        ("BlockOpenFour", lambda: open_four_blocks(board, other(stone))),
        ("Random", lambda: empty_points(board)),
    )
    for kind, rule in rules:
        moves = rule()
        if moves:
            return kind, moves
    return "", set()
