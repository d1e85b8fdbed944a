"""The board files and board pictures of gosensei.txt.

Columns are A to I, with the I, and the board is always 9 by 9.
"""

from oracle.boards import lines_of, quote
from oracle.errors import FormatError, FormatErrors
from oracle.position import BLACK, EMPTY, NAMES, SENSEI_LETTERS, WHITE, Point, Position, grid

SIZE = 9  # "enum { GO_BOARD_SIZE = 9 };"

_FIELDS = "a stone color (b, w), a column (a to i) and a row (1 to 9) with blanks between them"
_COLORS = {"b": BLACK, "w": WHITE}


# --- board files: "stonecolor column row" ------------------------------------------------------


def parse_gosensei(text: str, file: str | None = None) -> Position:
    """Return the position of a board file: a stone on each line, blank lines between allowed.

    Raises :class:`FormatErrors` with **every** line that is wrong: an invalid stone color, column
    or row; a missing or superfluous field; a second stone on a point, even of the same color.

    Source: gosensei.txt, "Go Board Configuration File".
    """
    errors: list[FormatError] = []
    first: dict[Point, tuple[int, int]] = {}  # where a stone lies: its color and line
    for number, line in lines_of(text):
        try:
            if fields := line.split():
                color, point = _stone(fields, first)
                first[point] = color, number
        except FormatError as error:
            errors.append(FormatError(error.message, file, number))
    if errors:
        raise FormatErrors(errors)
    masks = [0, 0, 0]
    for point, (color, _) in first.items():
        masks[color] |= grid(SIZE).bit(point)
    return Position(grid(SIZE), masks[BLACK], masks[WHITE])


def _stone(fields: list[str], first: dict[Point, tuple[int, int]]) -> tuple[int, Point]:
    """Return the color and point of one line; ``first`` has those of the lines before it."""
    if len(fields) != 3:
        found = quote(" ".join(fields))
        count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        raise FormatError(f"found {count}, {found}; expected {_FIELDS}")
    color = _COLORS.get(fields[0].lower())
    if color is None:
        raise FormatError(f"invalid stone color {quote(fields[0])}; expected B, b, W or w")
    _, column_text, row_text = fields
    if len(row_text) != 1 or row_text not in "123456789":
        raise FormatError(f"invalid row {quote(row_text)}; expected 1 to 9")
    column = SENSEI_LETTERS.find(column_text.upper())
    if len(column_text) != 1 or column < 0:
        raise FormatError(f"invalid column {quote(column_text)}; expected a to i or A to I")
    point = int(row_text) - 1, column
    if point in first:
        former, line = first[point]
        name = f"{column_text.upper()}{row_text}"
        raise FormatError(
            f"multiple stones on {name}; line {line} has a {NAMES[former]} one there"
        )
    return color, point


def format_gosensei(position: Position) -> str:
    """Return a 9 by 9 position as a board file, from A1 rightwards, then upwards."""
    return "".join(
        f"{letter} {SENSEI_LETTERS[column].lower()} {row + 1}\n"
        for letter, color in _COLORS.items()
        for row, column in position.grid.points(position.stones(color))
    )


# --- board pictures ----------------------------------------------------------------------------
# gosensei.txt, "Go Board Configuration Display"; its example has an empty line below row 1.

_STONES = {"+": EMPTY, **_COLORS}
_BETWEEN = "  " + " ".join("|" * SIZE)
_LABELS = "  " + " ".join(SENSEI_LETTERS)


def draw_gosensei(position: Position) -> str:
    """Return the picture of a 9 by 9 board to the letter, without a final newline."""
    rows = [
        f"{SIZE - below_top} " + "-".join("+bw"[color] for color in colors)
        for below_top, colors in enumerate(position.to_rows())
    ]
    return f"\n{_BETWEEN}\n".join(rows) + f"\n\n{_LABELS}"


def parse_picture(text: str, file: str | None = None) -> Position:
    """Return the position of a board picture.

    Only the rows with numbers count: what stands between and below them is not looked at.

    Raises :class:`FormatError` with file and line, what was found there and what was expected.
    """
    rows = [(number, line) for number, line in lines_of(text) if line.strip()[:1].isdigit()]
    if len(rows) != SIZE:
        raise FormatError(f"found {len(rows)} rows with a number; expected {SIZE}", file)
    colors = []
    for label, (number, line) in zip(range(SIZE, 0, -1), rows, strict=True):
        name, _, row = line.strip().partition(" ")
        points = row.split("-")
        if name != str(label) or len(points) != SIZE or not set(points) <= set(_STONES):
            example = f"{label} " + "-".join("+" * SIZE)
            expected = f"expected row {label}, such as {example!r} with b and w for stones"
            raise FormatError(f"found {quote(line.strip())}; {expected}", file, number)
        colors.append([_STONES[point] for point in points])
    return Position.from_rows(colors)
