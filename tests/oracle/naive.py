"""The rules a second time, from the definitions, to check the oracle against.

A board is a list of rows of 0 (empty), 1 (black), 2 (white), the bottom row first; a point is
(row, column). Nothing here is fast or clever, and nothing is taken from the oracle.
"""

EMPTY, BLACK, WHITE = 0, 1, 2


def points(board):
    return [(row, column) for row in range(len(board)) for column in range(len(board[0]))]


def at(board, point):
    return board[point[0]][point[1]]


def on_board(board, candidates):
    rows, columns = len(board), len(board[0])
    return [(r, c) for r, c in candidates if 0 <= r < rows and 0 <= c < columns]


def neighbours(board, point):
    row, column = point
    return on_board(
        board, [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
    )


def diagonals(board, point):
    row, column = point
    return on_board(board, [(row + up, column + right) for up in (1, -1) for right in (1, -1)])


def part(board, point):
    """The connected points of one content (a chain, or a region when empty), as a set."""
    found, todo = set(), [point]
    while todo:
        here = todo.pop()
        if here in found or at(board, here) != at(board, point):
            continue
        found.add(here)
        todo += neighbours(board, here)
    return found


def around(board, some):
    """The points next to a set and not in it."""
    return {other for point in some for other in neighbours(board, point)} - set(some)


def colors_around(board, some):
    return {at(board, point) for point in around(board, some)} - {EMPTY}


def liberties(board, point):
    return {beside for beside in around(board, part(board, point)) if at(board, beside) == EMPTY}


def has_no_liberty(board, point):
    return at(board, point) != EMPTY and not liberties(board, point)


def owner(board, point):
    if at(board, point) != EMPTY:
        return at(board, point)
    colors = colors_around(board, part(board, point))
    return colors.pop() if len(colors) == 1 else EMPTY


def without(board, taken):
    return [
        [EMPTY if (r, c) in taken else color for c, color in enumerate(row)]
        for r, row in enumerate(board)
    ]


def java_score(board, color):
    prisoners = {
        point
        for point in points(board)
        if at(board, point) == 3 - color and has_no_liberty(board, point)
    }
    bare = without(board, prisoners)
    empties = [point for point in points(bare) if at(bare, point) == EMPTY]
    return len(prisoners) + sum(owner(bare, point) == color for point in empties)


def play_move(board, point, color):
    """The board after a stone and its captures, and the set of stones captured."""
    after = [list(row) for row in board]
    after[point[0]][point[1]] = color
    captured = set()
    for beside in neighbours(after, point):
        if at(after, beside) == 3 - color and has_no_liberty(after, beside):
            captured |= part(after, beside)
    return without(after, captured), captured


# --- gosensei ----------------------------------------------------------------------------------


def is_eye(board, point, color):
    wrong = [corner for corner in diagonals(board, point) if at(board, corner) != color]
    return (
        at(board, point) == EMPTY
        and all(at(board, beside) == color for beside in neighbours(board, point))
        and len(wrong) <= 1
    )


def eyes(board, color):
    return {point for point in points(board) if is_eye(board, point, color)}


def two_eyes(board, color):
    """The eyes that have another one within two rows or two columns."""
    found = eyes(board, color)

    def near(one, other):
        return abs(one[0] - other[0]) <= 2 or abs(one[1] - other[1]) <= 2

    return {one for one in found if any(near(one, other) for other in found - {one})}


def eye_spaces(board, color):
    """The eye spaces, a set of sets of points."""
    found, todo = set(), [point for point in points(board) if at(board, point) == EMPTY]
    while todo:
        region = part(board, todo[0])
        todo = [point for point in todo if point not in region]
        border = around(board, region)
        is_of_color = {at(board, stone) for stone in border} == {color}
        if is_of_color and border <= part(board, next(iter(border))):
            found.add(frozenset(region))
    return found
