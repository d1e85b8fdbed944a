"""Boards as pictures: one :class:`Diagram`, drawn as ASCII, Unicode or SVG."""

from oracle.position import BLACK, EMPTY, GTP_LETTERS, WHITE, Grid, Move, Point, Position, vertex


class Diagram:
    """Content of a picture.

    Attributes: ``position``; ``last``, the point of the last move or None; ``marks``, short
    labels (one or two characters) by point, for what an explanation points at; ``caption``, a
    line of text below or ``""``; ``letters``, the columns' letters; ``course``, what led to the
    position, or None where nothing is known of it.
    """

    __slots__ = ("caption", "course", "last", "letters", "marks", "position")

    def __init__(  # noqa: PLR0913 - what pictures differ in
        self,
        position: Position,
        last: Point | None = None,
        marks: dict[Point, str] | None = None,
        caption: str = "",
        letters: str = GTP_LETTERS,
        *,
        course: "PositionCourse | None" = None,
    ) -> None:
        self.position = position
        self.last = last
        self.marks = marks or {}
        self.caption = caption
        self.letters = letters
        self.course = course

    def with_marks(self, marks: dict[Point, str]) -> "Diagram":
        """Return the same picture with other marks."""
        return Diagram(
            self.position, self.last, marks, self.caption, self.letters, course=self.course
        )


class PositionCourse:
    """History of a position.

    Attributes: ``start``, the position before the first move; ``moves``, pairs of a color and a
    point, or None for a pass; ``captures``, whether stones without liberty are taken;
    ``prisoners``, how many stones Black and White have taken, since ``start``.
    """

    def __init__(
        self,
        start: Position,
        moves: tuple[Move, ...],
        captures: bool = True,
        prisoners: tuple[int, int] = (0, 0),
    ) -> None:
        self.start = start
        self.moves = moves
        self.captures = captures
        self.prisoners = prisoners


def star_points(grid: Grid) -> list[Point]:
    """Return the points that boards mark with a dot; none unless square and odd, from 9 on.

    Source: GTP version 2, section 4.1.1 (the handicap points lie on the third line below 13,
    on the fourth from 13 on), with the points that real boards mark.
    """
    size = grid.rows
    if size != grid.columns or size < 9 or size % 2 == 0:
        return []
    near, middle = (2 if size < 13 else 3), size // 2
    far = size - 1 - near
    lines = (near, middle, far)
    if size < 15:
        return [*((r, c) for r in (near, far) for c in (near, far)), (middle, middle)]
    return [(r, c) for r in lines for c in lines]


# --- text --------------------------------------------------------------------------------------

_ASCII = ".XO"
_UNICODE = ("", "●", "○")
# Rows of crossings by what lies above and below; columns by what lies left and right.
_CROSSINGS = {"top": "┌┬┐", "middle": "├┼┤", "bottom": "└┴┘", "only": "╶─╴"}


def draw_text(diagram: Diagram | Position, *, unicode: bool = True) -> str:
    """Return the board as lines of text with coordinates, without a final newline.

    Black is ``●`` or ``X``, White ``○`` or ``O``; the last move stands in parentheses. A mark
    takes the place of an empty point and follows a stone.
    """
    diagram = _as_diagram(diagram)
    grid = diagram.position.grid
    line = "─" if unicode else " "
    rows = [
        [_body(diagram, (row, column), unicode) for column in range(grid.columns)]
        for row in reversed(range(grid.rows))
    ]
    width = max(len(body) for row in rows for body in row)
    header = "    " + " ".join(c.ljust(width) for c in diagram.letters[: grid.columns]).rstrip()
    drawn = [header]
    for number, bodies in zip(range(grid.rows, 0, -1), rows, strict=True):
        # Between two points is the line, or the last move's parenthesis.
        last = diagram.last[1] if diagram.last and diagram.last[0] == number - 1 else None
        parts = []
        for column, body in enumerate(bodies):
            opening = "(" if column == last else ")" if column - 1 == last else line
            edge = " " if column == 0 and opening == line else opening
            parts += [edge, body.ljust(width, line if column < len(bodies) - 1 else " ")]
        end = ")" if last == len(bodies) - 1 else " "
        drawn.append(f"{number:2} {''.join(parts)}{end} {number}")
    drawn.append(header)
    if diagram.caption:
        drawn.append(diagram.caption)
    return "\n".join(drawn)


def _as_diagram(picture: Diagram | Position) -> Diagram:
    return Diagram(picture) if isinstance(picture, Position) else picture


def _body(diagram: Diagram, point: Point, unicode: bool) -> str:
    """Return what stands on a point: a stone with its mark, a mark, or a crossing of lines."""
    color = diagram.position.color_at(point)
    mark = diagram.marks.get(point, "")
    if color != EMPTY:
        return (_UNICODE if unicode else _ASCII)[color] + mark
    grid, (row, column) = diagram.position.grid, point
    if mark or point in star_points(grid):
        return mark or ("╋" if unicode else "+")
    if not unicode:
        return "."
    upper, lower = row == grid.rows - 1, row == 0
    kind = "only" if upper and lower else "top" if upper else "bottom" if lower else "middle"
    place = 0 if column == 0 else 2 if column == grid.columns - 1 else 1
    return "│" if grid.columns == 1 else _CROSSINGS[kind][place]


# --- SVG ---------------------------------------------------------------------------------------
# One unit is the distance between two lines; everything is scaled by ten, because browsers set
# text smaller than one unit badly. Stones are the round caps of lines of no length, so that all
# stones of a color are one short path, whatever their number.

_WOOD, _INK, _PAPER = "#ecc988", "#1a1208", "#fff"
_PIXELS = 24  # between two lines, where nothing else says how large to draw
_TEXT = 'text-anchor="middle" font-family="system-ui,sans-serif" font-weight="600"'


def draw_svg(diagram: Diagram | Position) -> str:
    """Return the board as a self-contained ``<svg>`` element (no style sheet, script or font).

    The picture needs no color vision: stones are black and white, the last move has a ring of
    the other color. A title and a description in words help people who cannot see it.
    """
    diagram = _as_diagram(diagram)
    grid = diagram.position.grid
    width, height = grid.columns + 2, grid.rows + 2
    title = diagram.caption or f"Board, {grid.columns} by {grid.rows}"
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width * _PIXELS}" '
            f'height="{height * _PIXELS}" viewBox="-5 -5 {width * 10} {height * 10}">',
            f"<title>{_escape(title)}</title><desc>{_escape(describe(diagram))}</desc>",
            f'<rect x="-5" y="-5" width="{width * 10}" height="{height * 10}" rx="4" '
            f'fill="{_WOOD}"/><g transform="scale(10)" fill="none" stroke-linecap="round">',
            _svg_lines(grid),
            _svg_stones(diagram.position),
            _svg_last(diagram),
            "</g>",
            _svg_coordinates(diagram),
            _svg_marks(diagram),
            "</svg>",
        )
    )


def describe(diagram: Diagram) -> str:
    """Return the board in words, for a screen reader: ``Black: C3 D4. White: none. …``."""
    position, letters, sentences = diagram.position, diagram.letters, []
    for name, stones in (("Black", position.black), ("White", position.white)):
        points = " ".join(vertex(point, letters) for point in position.grid.points(stones))
        sentences.append(f"{name}: {points or 'none'}.")
    if diagram.last:
        sentences.append(f"Last move: {vertex(diagram.last, letters)}.")
    if diagram.marks:
        marks = ", ".join(f"{text} {vertex(p, letters)}" for p, text in diagram.marks.items())
        sentences.append(f"Marked: {marks}.")
    return " ".join(sentences)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _place(grid: Grid, point: Point) -> tuple[int, int]:
    """Return x and y in units; SVG counts rows downwards."""
    return point[1] + 1, grid.rows - point[0]


def _dots(grid: Grid, points: list[Point]) -> str:
    return "".join("M{} {}h0".format(*_place(grid, point)) for point in points)


def _svg_lines(grid: Grid) -> str:
    across = "".join(f"M1 {y}H{grid.columns}" for y in range(1, grid.rows + 1))
    down = "".join(f"M{x} 1V{grid.rows}" for x in range(1, grid.columns + 1))
    stars = _dots(grid, star_points(grid))
    return f'<path stroke="{_INK}" stroke-width=".045" d="{across}{down}"/>' + (
        f'<path stroke="{_INK}" stroke-width=".22" d="{stars}"/>' if stars else ""
    )


def _svg_stones(position: Position) -> str:
    """Black stones whole, white ones as a black disk with a smaller white one on it."""
    black, white = (
        _dots(position.grid, position.grid.points(position.stones(c))) for c in (BLACK, WHITE)
    )
    drawn = f'<path stroke="{_INK}" stroke-width=".94" d="{black}{white}"/>'
    if white:
        drawn += f'<path stroke="{_PAPER}" stroke-width=".84" d="{white}"/>'
    return drawn if black or white else ""


def _svg_last(diagram: Diagram) -> str:
    if diagram.last is None:
        return ""
    x, y = _place(diagram.position.grid, diagram.last)
    color = _contrast(diagram.position.color_at(diagram.last))
    return f'<circle cx="{x}" cy="{y}" r=".28" stroke="{color}" stroke-width=".1"/>'


def _contrast(color: int) -> str:
    """Return the ink that is seen on a stone of this color, or on the bare board."""
    return _PAPER if color == BLACK else _INK


def _svg_coordinates(diagram: Diagram) -> str:
    """Letters above and below as one text each, every letter with its own x; numbers singly."""
    grid = diagram.position.grid
    names = diagram.letters[: grid.columns]
    xs = " ".join(str(10 * x) for x in range(1, grid.columns + 1))
    letters = "".join(
        f'<text x="{xs}" y="{y}">{names}</text>' for y in (2.6, grid.rows * 10 + 12.4)
    )
    numbers = "".join(
        f'<text x="{x}" y="{(grid.rows - row) * 10 + 2}">{row + 1}</text>'
        for row in range(grid.rows)
        for x in (0, grid.columns * 10 + 10)
    )
    return f'<g {_TEXT} font-size="5.6" fill="{_INK}">{letters}{numbers}</g>'


def _svg_marks(diagram: Diagram) -> str:
    """Labels; on an empty point the lines behind one are covered."""
    drawn = ""
    for point, text in diagram.marks.items():
        x, y = _place(diagram.position.grid, point)
        color = diagram.position.color_at(point)
        if color == EMPTY:
            drawn += f'<circle cx="{x * 10}" cy="{y * 10}" r="3.6" fill="{_WOOD}"/>'
        ink = _contrast(color)
        drawn += f'<text x="{x * 10}" y="{y * 10 + 2}" fill="{ink}">{_escape(text)}</text>'
    return f'<g {_TEXT} font-size="6">{drawn}</g>' if drawn else ""
