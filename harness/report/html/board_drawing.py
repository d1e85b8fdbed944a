"""Boards on pages: large, with what the test is about on them; their colors are the page's.

A cell is 20 units. Stones and marks are markers on one path for each kind, so that 250 stones are
2 KB; gradients and markers stand once in a page. Shadows are a path of their own, below all
stones. All that is drawn is said in words too, in the label and the legend.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from harness.report.board_evidence import Evidence
from harness.report.html.page_names import BOARD_DEFINITIONS
from harness.report.html.templates import Markup, Template
from oracle.draw import Diagram, PositionCourse, describe, star_points
from oracle.position import BLACK, EMPTY, WHITE, Grid, Point, vertex

DEFINITIONS = Markup(BOARD_DEFINITIONS)  # put once into a page that has boards

_OWNERS = {"b": BLACK, "w": WHITE, "n": EMPTY}  # marks that are drawn as squares and crosses
_SAYINGS = {  # of each kind of evidence: its marker, what it means
    "asked": ("aq", "asked about"),
    "right": ("ok", "right"),
    "missing": ("mi", "right, but missing in the reply"),
    "wrong": ("no", "came, and is wrong"),
    "for_black": ("bx", "given to Black, makes exactly the reply"),
    "for_white": ("bx", "given to White, makes exactly the reply"),
}
_LARGE = 13  # lines from which on a board needs more room
_template = Template("report/html/board_drawing.html")


def figure(
    diagram: Diagram,
    evidence: Evidence,
    legend: Mapping[str, str],
    komi: str = "",
    command: str = "",
) -> Markup:
    """Return a board with its legend, and what is needed to step through its setup.

    ``legend``: what the marks of explanations mean. ``komi``, ``command``: of the test, for a copy
    of it; "" if there is none.
    """
    marks, grid = set(diagram.marks.values()), diagram.position.grid
    course = diagram.course or PositionCourse(diagram.position, ())
    told = []
    for marker, words, points in _marked(evidence):
        names = ", ".join(vertex(point, diagram.letters) for point in points)
        told.append((marker, f"{names}: {words}" if len(points) <= 3 else words))
    laid = [
        _played(color, point)
        for color in (BLACK, WHITE)
        for point in grid.points(course.start.stones(color))
    ]
    return _template.figure(
        board(diagram, evidence),
        diagram,
        course,
        " ".join(laid),
        [_played(*move) for move in course.moves],
        komi,
        command,
        [one for one in legend.items() if one[0] in marks],
        _OWNERS,
        told,
    )


def _played(color: int, point: Point | None) -> str:
    """Return a stone or a move as the script of pages reads it; a pass has no point."""
    return f"{' bw'[color]}{vertex(point) if point else ''}"


def _marked(evidence: Evidence) -> list[tuple[str, str, tuple[Point, ...]]]:
    """Return the evidence there is: its marker, what it means, its points."""
    pairs = zip(_SAYINGS.values(), evidence, strict=True)
    return [(marker, words, points) for (marker, words), points in pairs if points]


def is_large(diagram: Diagram) -> bool:
    """Whether a board needs more room than others."""
    return max(diagram.position.grid.rows, diagram.position.grid.columns) >= _LARGE


# In a class the same boards come again and again, mostly with the same wrong answers.
@lru_cache(512)
def board(diagram: Diagram, evidence: Evidence) -> Markup:
    """Return the picture alone."""
    grid, rim = diagram.position.grid, 24 if is_large(diagram) else 19
    width, height = (2 * rim + 20 * (lines - 1) for lines in (grid.columns, grid.rows))
    position, last = diagram.position, None
    black, white = (grid.points(position.stones(color)) for color in (BLACK, WHITE))
    stones = (("S", [*black, *white]), ("B", black), ("W", white))  # the shadows first
    if diagram.last is not None:
        x, y = _place(grid, diagram.last, rim)
        is_on_black = position.color_at(diagram.last) == BLACK
        last = x, y, "#fff" if is_on_black else "#16181d"
    told = [f"Board, {grid.columns} by {grid.rows}. {describe(diagram)}"]
    for _, words, points in _marked(evidence):
        names = " ".join(vertex(point, diagram.letters) for point in points)
        told.append(f"{words[0].upper()}{words[1:]}: {names}.")
    return _template.board(
        rim,
        width,
        height,
        " ".join(told),
        _lines(grid, rim, diagram.letters),
        _owners(diagram, rim),
        [(f"s{kind}", _path(grid, points, rim), kind) for kind, points in stones],
        last,
        _labels(diagram, evidence, rim),
        [(_path(grid, points, rim), marker) for marker, _, points in _marked(evidence)],
    )


# --- the board and its stones -------------------------------------------------------------------


def _place(grid: Grid, point: Point, rim: int) -> tuple[int, int]:
    """Return x and y in units; SVG counts rows downwards."""
    return rim + 20 * point[1], rim + 20 * (grid.rows - 1 - point[0])


def _path(grid: Grid, points: Iterable[Point], rim: int) -> str:
    places = [f"{x} {y}" for x, y in (_place(grid, point, rim) for point in points)]
    return "M" + "L".join(places) if places else ""


@lru_cache(64)
def _lines(grid: Grid, rim: int, names: str) -> Markup:
    right, low = rim + 20 * (grid.columns - 1), rim + 20 * (grid.rows - 1)
    across = "".join(f"M{rim} {rim + 20 * row}H{right}" for row in range(grid.rows))
    down = "".join(f"M{rim + 20 * column} {rim}V{low}" for column in range(grid.columns))
    near = (rim - 9.4) / 2 + 0.3
    xs = " ".join(str(rim + 20 * column) for column in range(grid.columns))
    return _template.lines(
        across + down,
        [_place(grid, point, rim) for point in star_points(grid)],
        f"{max(right + rim, low + rim) / 100:g}",
        [(xs, f"{y:.1f}", names[: grid.columns]) for y in (near, low + rim - near)],
        [
            (f"{x:.1f}", rim + 20 * (grid.rows - 1 - row), row + 1)
            for row in range(grid.rows)
            for x in (near, right + rim - near)
        ],
    )


# --- what explanations and the test itself mark -------------------------------------------------


def _owners(diagram: Diagram, rim: int) -> list[tuple[str, str]]:
    """Territory as small squares on a tint of its owner's, and crosses where it is nobody's."""
    grid, position = diagram.position.grid, diagram.position
    owned: dict[int, list[Point]] = {BLACK: [], WHITE: [], EMPTY: []}
    for point, mark in diagram.marks.items():
        if mark in _OWNERS:
            owned[_OWNERS[mark]].append(point)
    drawn = []
    for color, tint, square in ((BLACK, "tb", "qb"), (WHITE, "tw", "qw")):
        if owned[BLACK] or owned[WHITE]:
            area = [*owned[color], *grid.points(position.stones(color))]
            drawn.append((tint, _squares(grid, area, rim, 20)))
        drawn.append((square, _squares(grid, owned[color], rim, 7)))
    crosses = "".join(
        f"M{x - 3} {y - 3}l6 6m0-6l-6 6"
        for x, y in (_place(grid, point, rim) for point in owned[EMPTY])
    )
    return [(kind, path) for kind, path in (*drawn, ("qn", crosses)) if path]


def _squares(grid: Grid, points: Iterable[Point], rim: int, side: int) -> str:
    places = (_place(grid, point, rim) for point in points)
    return "".join(f"M{x - side / 2:g} {y - side / 2:g}h{side}v{side}h-{side}z" for x, y in places)


def _labels(diagram: Diagram, evidence: Evidence, rim: int) -> list[tuple[str, int, int, str]]:
    """Return the marks that are letters and signs; evidence on the same point goes before."""
    taken, grid = {*evidence.right, *evidence.missing, *evidence.wrong}, diagram.position.grid
    kinds = {BLACK: "lb lbk", WHITE: "lb lbw", EMPTY: "lb"}
    return [
        (kinds[diagram.position.color_at(point)], *_place(grid, point, rim), mark)
        for point, mark in diagram.marks.items()
        if mark not in _OWNERS and point not in taken
    ]


def owners_on_paper(diagrams: Iterable[Diagram], legend: Mapping[str, str]) -> Markup:
    """Return what the squares and crosses of these boards mean, once for all, for paper alone."""
    found = {mark for diagram in diagrams for mark in diagram.marks.values() if mark in _OWNERS}
    shown = [one for one in legend.items() if one[0] in found]
    return _template.legend_on_paper(shown, _OWNERS) if found else Markup("")
