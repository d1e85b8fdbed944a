"""Boards as rows of text: ASCII diagrams, digits, and drawings as in comments of case files."""

from oracle.boards import Lines, block, lines_of, quote
from oracle.errors import FormatError
from oracle.position import BLACK, EMPTY, GTP_LETTERS, MAX_SIZE, WHITE, Position

_COLORS = {".": EMPTY, "#": BLACK, "o": WHITE}
_DIAGRAM_ROW = "a row's number and then a '.', '#' or 'o' for each point, with blanks between them"


def parse_diagram(text: str, file: str | None = None) -> Position:
    """Return the position of a diagram, any rectangle up to 25 by 25.

    Raises :class:`FormatError` with file and line, what was found there and what was expected; so
    do the other functions here that parse.
    """
    *rows, (last, letters) = block(text, file, _DIAGRAM_ROW)
    columns = len(letters.split())
    if not rows or "".join(letters.split()) != GTP_LETTERS[:columns]:
        found = f"found {quote(letters.strip())} as the last line; expected the columns' letters"
        raise FormatError(f"{found} A B C … (without I)", file, last)
    if len(rows) > MAX_SIZE:
        raise FormatError(f"found {len(rows)} rows; expected at most {MAX_SIZE}", file, last)
    colors = []
    for label, (number, line) in zip(range(len(rows), 0, -1), rows, strict=True):
        name, *points = line.split()
        if name != str(label):
            found = f"found {quote(line.strip())}; expected the row with number {label}"
            raise FormatError(found, file, number)
        for point in points:
            if point not in _COLORS:
                raise FormatError(f"found {quote(point)}; expected '.', '#' or 'o'", file, number)
        if len(points) != columns:
            expected = f"expected {columns}, as in the line of letters"
            raise FormatError(f"found a row of {len(points)} points; {expected}", file, number)
        colors.append([_COLORS[point] for point in points])
    return Position.from_rows(colors)


def format_diagram(position: Position) -> str:
    """Return a position as ``render_board`` prints it, without a final newline."""
    shape = position.grid
    width = 2 if shape.rows > 9 else 1
    lines = [
        f"{shape.rows - top:{width}} " + " ".join(f" {'.#o'[color]}" for color in colors)
        for top, colors in enumerate(position.to_rows())
    ]
    letters = "  ".join(GTP_LETTERS[: shape.columns])
    return "\n".join([*lines, " " * (width + 2) + letters])


# --- Text boards of 0, 1 and 2, the top row first ------------------------------------------------
# Source: java-go.txt, "Specific Requirements": "with a 0 indicating an empty space, a 1 indicating
# a black stone and a 2 indicating a white stone", and "Sample game board file".


_DIGITS_ROW = "a row of 0, 1 and 2 with blanks between them"


def parse_digits(text: str, file: str | None = None) -> Position:
    """Return the position of a text board, any rectangle up to 25 by 25."""
    lines = block(text, file, _DIGITS_ROW)
    _check_height(lines, file)
    told = " as number {} of the row; expected 0, 1 or 2"
    return _read_rows(lines, {"0": EMPTY, "1": BLACK, "2": WHITE}, told, file)


def _check_height(rows: Lines, file: str | None) -> None:
    if len(rows) > MAX_SIZE:
        found = f"found {len(rows)} rows; expected at most {MAX_SIZE}"
        raise FormatError(found, file, rows[MAX_SIZE][0])


def _read_rows(rows: Lines, signs: dict[str, int], told: str, file: str | None) -> Position:
    """Return the position of rows of signs, each as long as the first.

    ``told``: the end of what is said of another sign; ``{}`` is its place in the row.
    """
    colors = []
    columns = len(rows[0][1].split())
    for number, line in rows:
        points = line.split()
        for place, point in enumerate(points, start=1):
            if point not in signs:
                raise FormatError(f"found {quote(point)}{told.format(place)}", file, number)
        found = f"found a row of {len(points)} points"
        if len(points) > MAX_SIZE:
            raise FormatError(f"{found}; expected at most {MAX_SIZE}", file, number)
        if len(points) != columns:
            expected = f"expected {columns}, as in the first row"
            raise FormatError(f"{found}; {expected}", file, number)
        colors.append([signs[point] for point in points])
    return Position.from_rows(colors)


def format_digits(position: Position) -> str:
    """Return a position as a text board, each line with its newline; inverse of reading."""
    rows = position.to_rows()
    return "".join(" ".join(str(color) for color in row) + "\n" for row in rows)


# --- Boards as comments of case files draw them, and as :func:`oracle.draw.draw_text` does -------
# ::
#
#     # . X O           A B C            A B C
#     # X . .         2 . X O  2      2  ┌─●─○  2
#                     1 X . .  1      1  ●─┴─┘  1
#                       A B C            A B C
#
# Each row may begin with ``#``, as in a case file, and have its number at one end or both; the
# letters of the columns may be above and below. Those of gosensei have ``b`` and ``w``. Letters of
# stones may be small or capital.


_DRAWN_COLORS = {".": EMPTY, "X": BLACK, "B": BLACK, "O": WHITE, "W": WHITE}
_ROW = "a row of '.', X and O with blanks between them, such as '. X O'"
# How draw_text draws, in the signs above.
_LINES = "┌┬┐├┼┤└┴┘╋+"
_SIGNS = str.maketrans("●○─()" + _LINES, "XO   " + "." * len(_LINES))


def is_drawing(text: str) -> bool:
    """Whether a text has such rows and nothing else, so that it is not a case file.

    Numbered rows without a capital stone are a diagram of sgfmill's.
    """
    rows = [row for _, line in lines_of(text) if (row := _split(line)) != (None, [])]
    if not rows or not all(_DRAWN_COLORS.keys() >= set(points) for _, points in rows):
        return False
    return text.lstrip()[:1] in "#ABab" or rows[0][0] is None or not set("XO●○").isdisjoint(text)


def parse_drawing(text: str, file: str | None = None) -> Position:
    """Return the position of a drawing, any rectangle up to 25 by 25."""
    split = [_split(line) for _, line in lines_of(text)]
    rows = block("\n".join(" ".join(points) for _, points in split), file, _ROW)
    _check_height(rows, file)
    for label, (number, _) in zip(range(len(rows), 0, -1), rows, strict=True):
        if (told := split[number - 1][0]) not in (None, label):
            found = f"found the row with number {told}; expected {label}"
            raise FormatError(f"{found}: rows count from the bottom", file, number)
    return _read_rows(rows, _DRAWN_COLORS, "; expected '.', X or O", file)


def _split(line: str) -> tuple[int | None, list[str]]:
    """Return the number of a row, if it has one, and its points in capitals.

    A line of the columns' letters has no points.
    """
    words = line.strip().removeprefix("#").translate(_SIGNS).upper().split()
    if not words or "".join(words) == GTP_LETTERS[: len(words)]:
        return None, []
    if len(words) == 1 or not (words[0].isascii() and words[0].isdigit()):
        return None, words
    number, *points = words
    return int(number), points[:-1] if points[-1] == number else points


def format_drawing(position: Position) -> str:
    """Return a position as such rows without signs, each with its newline."""
    rows = position.to_rows()
    return "".join(" ".join(".XO"[color] for color in row) + "\n" for row in rows)
