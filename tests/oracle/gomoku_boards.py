"""Boards for the Gomoku tests: from text, and at random with lines in them.

Like :mod:`tests.oracle.gomoku_definition`: rows of ``.``, ``X`` (Black) and ``O`` (White), row 0
at the bottom.
"""

from oracle.position import Position, parse_vertex

PATTERNS = (
    "..XXX..", "O.XXX..", ".XXX.", "OXXX.", ".XX.X.", "OXX.X.", ".X.X.X.", "XXXX.", "XX.XX",
    ".XXXX.", "OXXXX.", "XXXXX", "XXX.XXX", ".XXX.XXX.", ".XX.XX.X.", "X.XXX.X",
)  # fmt: skip


def board(diagram):
    """Return the board of a diagram, whose first line is the top row."""
    return [list(line) for line in reversed(diagram.split())]


def position(rows):
    """Return a board as the oracle's position."""
    return Position.from_rows([[".XO".index(stone) for stone in row] for row in reversed(rows)])


def points(names, rows=25, columns=25):
    """Return the points of vertices, such as ``"A1 B2"``."""
    return [parse_vertex(name, rows, columns) for name in names.split()]


def random_board(random, rows, columns):
    """Return stones at random: dense or not, one color or both, with some lines across them."""
    weights = (random.choice((1, 2, 4, 9)), random.choice((0, 1, 3)), random.choice((0, 1, 3)))
    made = [random.choices(".XO", weights, k=columns) for _ in range(rows)]
    for _ in range(random.randrange(4)):
        plant(made, random)
    return made


def plant(made, random):
    """Write a pattern of either color over a board, anywhere in any direction, also over edges."""
    pattern = random.choice(PATTERNS)[:: random.choice((1, -1))]
    if random.random() < 0.5:
        pattern = pattern.translate(str.maketrans("XO", "OX"))
    up, right = random.choice(((0, 1), (1, 0), (1, 1), (1, -1)))
    row, column = random.randrange(len(made)), random.randrange(len(made[0]))
    for place, stone in enumerate(pattern):
        r, c = row + place * up, column + place * right
        if 0 <= r < len(made) and 0 <= c < len(made[0]):
            made[r][c] = stone
