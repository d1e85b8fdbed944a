"""The questions of gomoku-rules.html: who has won, how the game stands, which moves are legal.

They are answered from the stones alone. Who made the *first* five is the game's to remember
(:mod:`oracle.games.gomoku`).
"""

from oracle.explanation import Explanation, Sentence, a_color, number, points
from oracle.position import BLACK, EMPTY, NAMES, WHITE, Grid, Point, Position, each_bit, vertex
from oracle.rules.gomoku import fives, long_lines

DRAW, UNKNOWN = "draw", "unknown"
LINE_STONE = "*"  # mark of a stone in a line of five or more
_TWO_DIGITS = 10  # rows from which on vertices have one digit or two
SIZES = range(5, 20)  # gomoku-rules.html, "GTP Commands": "between 5 and 19 in our tests"


def winner(position: Position) -> int:
    """Return the color that has five or more in a row, ``EMPTY`` when neither has.

    When both have, the stones do not tell whose came first; the answer is then ``BLACK``, and the
    position is underspecified (:func:`readings_result`).
    """
    return next(iter(colors_with_five(position)), EMPTY)


def colors_with_five(position: Position) -> list[int]:
    """Return the colors that have five or more in a row."""
    shape = position.grid
    return [color for color in (BLACK, WHITE) if fives(shape, position.stones(color))]


def result(position: Position) -> str:
    """Return ``black``, ``white``, ``draw`` or ``unknown``.

    A five decides, on a full board too.

    Source: gomoku-rules.html, "Details for the gogui-rules_final_result command".
    """
    color = winner(position)
    if color != EMPTY:
        return NAMES[color]
    return UNKNOWN if position.empty else DRAW


def legal_moves(position: Position) -> list[Point]:
    """Return the empty points, sorted by their names as strings; none when the game is over.

    Source: gomoku-rules.html, "Details of the gogui-rules_legal_moves command".
    """
    if colors_with_five(position):
        return []
    return by_name(position.grid, position.empty)


_BY_NAME: dict[Grid, tuple[list[Point], dict[int, int]]] = {}


def by_name(shape: Grid, mask: int) -> list[Point]:
    """Return the points of a mask, sorted by their names as strings: A1, A10, A2.

    The order of a shape's points is worked out once: comparing names takes longer than the rules.
    """
    if shape not in _BY_NAME:
        points = sorted(shape.points(shape.full), key=vertex)
        _BY_NAME[shape] = points, {shape.bit(point): rank for rank, point in enumerate(points)}
    points, ranks = _BY_NAME[shape]
    return [points[rank] for rank in sorted([ranks[bit] for bit in each_bit(mask)])]


# --- reasons -----------------------------------------------------------------------------------


def explain_result(position: Position) -> Explanation:
    """Return the lines of five or more, or what is missing; the lines' stones are marked."""
    sentences: list[Sentence] = []
    marks: dict[Point, str] = {}
    for color in (BLACK, WHITE):
        for line in long_lines(position.grid, position.stones(color)):
            stones = position.grid.points(line)
            who = a_color("color", color, is_first=True)
            length = number("length", len(stones), "in a row", "in a row")
            parts = (who, " has ", length, ": ", points("line", stones), ".")
            sentences.append(Sentence("line", *parts))
            marks |= dict.fromkeys(stones, LINE_STONE)
    if sentences:
        return Explanation(sentences, marks)
    if position.empty:
        empty = position.empty.bit_count()
        left = number("empty", empty, "point is empty", "points are empty")
        begin, end = "Nobody has five in a row and ", ", so the game is not over."
        return Explanation([Sentence("no five", begin, left, end)])
    return Explanation([Sentence("full", "The board is full and nobody has five in a row.")])


def explain_legal_moves(position: Position) -> Explanation:
    """Return why these moves, or none, are legal."""
    if result(position) != UNKNOWN:
        reason = explain_result(position)
        over = Sentence("over", "The game is over, so no move is legal.")
        return Explanation([*reason.sentences, over], reason.marks)
    moves = number("moves", position.empty.bit_count(), "empty point is", "empty points are")
    return Explanation([Sentence("legal", "The game is not over, so the ", moves, " legal.")])


# --- what the document leaves open -------------------------------------------------------------


def readings_result(position: Position) -> dict[str, str]:
    """Return the results of the position under each reading of the document.

    Open are which of two fives came first, a full board that has a five, and boards outside the
    sizes 5 to 19.
    """
    colors = colors_with_five(position)
    readings = {f"{NAMES[color].capitalize()}'s five decides": NAMES[color] for color in colors}
    if not colors:
        readings["nobody has five"] = result(position)
    elif not position.empty:
        readings["a full board is a draw"] = DRAW
    if not _of_known_size(position):
        readings["no board of this size"] = ""
    return readings


def readings_legal_moves(position: Position) -> dict[str, list[Point]]:
    """Return the legal moves under each reading of the document.

    Open are the order from size 10 on (:func:`orders`), and boards outside the sizes 5 to 19.
    (Points are listed in the order of the reply.)
    """
    readings = orders(position, legal_moves(position))
    if not _of_known_size(position):
        readings["no board of this size"] = []
    return readings


def orders(position: Position, moves: list[Point]) -> dict[str, list[Point]]:
    """Return sorted moves in every order that the documents allow.

    Where rows have one digit or two, the engines of two years differ; any order will do then.
    """
    if max(position.grid.rows, position.grid.columns) < _TWO_DIGITS:
        return {"sorted as strings": moves}
    by_number = sorted(moves, key=lambda point: (point[1], point[0]))
    return {
        "sorted as strings": moves,
        "sorted by letter, then number": by_number,
        "in any other order": by_number[::-1],
    }


def _of_known_size(position: Position) -> bool:
    return position.grid.rows in SIZES and position.grid.columns in SIZES
