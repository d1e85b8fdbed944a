"""Boards on pages: large, with what the test is about on them; their colors are the page's.

A cell is 20 units. Stones and marks are markers on one path for each kind, so that 250 stones are
2 KB; gradients and markers stand once in a page. Shadows are a path of their own, below all
stones. All that is drawn is said in words too, in the label and the legend.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from harness.report.board_evidence import Evidence
from harness.report.markup import NOTHING, Markup, join_markup
from oracle.draw import Diagram, PositionCourse, describe, star_points
from oracle.position import BLACK, EMPTY, WHITE, Grid, Point, Position, vertex

_MARKER = Markup(
    '<marker id="%s" markerUnits="userSpaceOnUse" markerWidth="26" markerHeight="26" '
    'viewBox="-13 -13 26 26">%s</marker>'
)
_CHECK = Markup('d="M-3.3.3l2.3 2.5 4.3-5.2"')
_SQUARE = Markup('x="-8.2" y="-8.2" width="16.4" height="16.4" rx="3"')
_DRAWN = {
    "S": '<circle cx=".9" cy="1.7" r="10.6" fill="url(#gs)"/>',
    "B": '<circle r="9.4" fill="url(#gb)"/>'
    '<circle r="8.9" fill="none" stroke="url(#rb)" stroke-width=".9"/>',
    "W": '<circle r="9.3" fill="url(#gw)" stroke="#6f6551" stroke-width=".55"/>'
    '<circle r="8.5" fill="none" stroke="#fff" stroke-opacity=".75" stroke-width=".8"/>',
    "ok": f'<g class="mk"><circle class="ok" r="7"/><path {_CHECK}/></g>',
    "mi": f'<g class="mk"><circle class="mi" r="7"/><path class="g" {_CHECK}/></g>',
    "no": '<g class="mk"><circle class="no" r="7"/>'
    '<path d="M-2.6-2.6l5.2 5.2m0-5.2l-5.2 5.2"/></g>',
    "bx": f'<g class="mk"><rect class="box" {_SQUARE}/><rect class="box2" {_SQUARE}/></g>',
    "aq": '<g class="mk"><circle class="q" r="7.6"/><circle class="q2" r="7.6"/></g>',
}

DEFINITIONS = Markup(  # put once into a page that has boards
    '<svg width="0" height="0" class="vh" aria-hidden="true" focusable="false"><defs>'
    '<linearGradient id="wd" x2=".35" y2="1"><stop class="w1"/><stop offset="1" class="w2"/>'
    '</linearGradient><pattern id="gn" width="1" height=".14" viewBox="0 0 420 58" '
    'preserveAspectRatio="none" patternTransform="rotate(-3)"><g class="gn" fill="none">'
    '<path d="M0 5q105-6 210 0t210 0" opacity=".28" stroke-width=".7"/>'
    '<path d="M0 15q105 5 210 0t210 0" opacity=".18" stroke-width="1.4"/>'
    '<path d="M0 24q105-4 210 0t210 0" opacity=".25" stroke-width=".6"/>'
    '<path d="M0 37q105 6 210 0t210 0" opacity=".16" stroke-width="1.8"/></g></pattern>'
    '<radialGradient id="gb" cx=".36" cy=".3" r=".78"><stop stop-color="#6d737c"/>'
    '<stop offset=".28" stop-color="#363a41"/><stop offset=".75" stop-color="#15171b"/>'
    '<stop offset="1" stop-color="#08090b"/></radialGradient>'
    '<radialGradient id="gw" cx=".36" cy=".3" r=".8"><stop stop-color="#fff"/>'
    '<stop offset=".55" stop-color="#f7f5f0"/><stop offset=".88" stop-color="#dcd7cc"/>'
    '<stop offset="1" stop-color="#c4bdae"/></radialGradient>'
    '<linearGradient id="rb" x1=".15" y1=".1" x2=".85" y2=".95">'
    '<stop stop-color="#fff" stop-opacity=".42"/>'
    '<stop offset=".4" stop-color="#fff" stop-opacity="0"/>'
    '<stop offset=".72" stop-color="#fff" stop-opacity="0"/>'
    '<stop offset="1" stop-color="#fff" stop-opacity=".3"/></linearGradient>'
    '<radialGradient id="gs"><stop offset=".6" stop-opacity=".42"/>'
    '<stop offset="1" stop-opacity="0"/></radialGradient>%s</defs></svg>\n'
) % join_markup(_MARKER % (name, Markup(drawn)) for name, drawn in _DRAWN.items())

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


def figure(
    diagram: Diagram,
    seen: Evidence,
    legend: Mapping[str, str],
    komi: str = "",
    command: str = "",
) -> Markup:
    """Return a board with its legend, and what is needed to step through its setup.

    ``legend``: what the marks of explanations mean. ``komi``, ``command``: of the test, for a copy
    of it; "" if there is none.
    """
    return _figure(diagram, seen, tuple(legend.items()), komi, command)


# In a class the same boards come again and again, mostly with the same wrong answers.
@lru_cache(512)
def _figure(
    diagram: Diagram,
    seen: Evidence,
    legend: tuple[tuple[str, str], ...],
    komi: str,
    command: str,
) -> Markup:
    shown = Markup("<figure%s>%s%s%s%s</figure>")
    kept, drawn = _script_attributes(diagram, komi, command), board(diagram, seen)
    told = _legend(diagram, seen, dict(legend))
    return shown % (kept, drawn, _steps(diagram), told, _caption(diagram))


def is_large(diagram: Diagram) -> bool:
    """Whether a board needs more room than others."""
    return max(diagram.position.grid.rows, diagram.position.grid.columns) >= _LARGE


def board(diagram: Diagram, seen: Evidence) -> Markup:
    """Return the picture alone."""
    grid, rim = diagram.position.grid, _rim(diagram)
    width, height = (2 * rim + 20 * (lines - 1) for lines in (grid.columns, grid.rows))
    drawn = Markup(
        '<svg class="board" role="img" data-m="%s" viewBox="0 0 %s %s" aria-label="%s">'
        '<rect width="%s" height="%s" rx="2" fill="url(#wd)"/>'
        '<rect width="%s" height="%s" fill="url(#gn)"/>%s</svg>'
    )
    size = (width, height)
    parts = (
        _lines(grid, rim),
        _coordinates(diagram, rim, size),
        _owners(diagram, rim),
        _stones(diagram.position, rim),
        _last(diagram, rim),
        _labels(diagram, seen, rim),
        _evidence(grid, seen, rim),
    )
    return drawn % (rim, *size, _in_words(diagram, seen), *size, *size, join_markup(parts))


def _rim(diagram: Diagram) -> int:
    return 24 if is_large(diagram) else 19


# --- the board and its stones -------------------------------------------------------------------


def _place(grid: Grid, point: Point, rim: int) -> tuple[int, int]:
    """Return x and y in units; SVG counts rows downwards."""
    return rim + 20 * point[1], rim + 20 * (grid.rows - 1 - point[0])


def _path(grid: Grid, points: Iterable[Point], rim: int) -> Markup:
    places = [f"{x} {y}" for x, y in (_place(grid, point, rim) for point in points)]
    return Markup("M" + "L".join(places)) if places else NOTHING


@lru_cache(64)
def _lines(grid: Grid, rim: int) -> Markup:
    right, low = rim + 20 * (grid.columns - 1), rim + 20 * (grid.rows - 1)
    across = "".join(f"M{rim} {rim + 20 * row}H{right}" for row in range(grid.rows))
    down = "".join(f"M{rim + 20 * column} {rim}V{low}" for column in range(grid.columns))
    stars = join_markup(
        Markup('<circle class="st" cx="%s" cy="%s" r="2"/>') % _place(grid, point, rim)
        for point in star_points(grid)
    )
    return Markup('<path class="gr" d="%s%s"/>%s') % (across, down, stars)


def _coordinates(diagram: Diagram, rim: int, size: tuple[int, int]) -> Markup:
    """Letters above and below as one text each, every letter with its own x; numbers singly.

    The style sets their size, for it knows how large the board is shown: ``--u`` is a hundredth of
    the board's longer side.
    """
    grid, (width, height) = diagram.position.grid, size
    near = (rim - 9.4) / 2 + 0.3
    xs = " ".join(str(rim + 20 * column) for column in range(grid.columns))
    letters = join_markup(
        Markup('<text x="%s" y="%s">%s</text>') % (xs, f"{y:.1f}", diagram.letters[: grid.columns])
        for y in (near, height - near)
    )
    numbers = join_markup(
        Markup('<text x="%s" y="%s">%s</text>')
        % (f"{x:.1f}", rim + 20 * (grid.rows - 1 - row), row + 1)
        for row in range(grid.rows)
        for x in (near, width - near)
    )
    shown = Markup('<g class="co" aria-hidden="true" style="--u:%spx">%s%s</g>')
    return shown % (f"{max(size) / 100:g}", letters, numbers)


_MARKED = Markup(
    '<path class="%s" d="%s" fill="none" marker-start="url(#%s)" marker-mid="url(#%s)" '
    'marker-end="url(#%s)"/>'
)


def _stones(position: Position, rim: int) -> Markup:
    grid = position.grid
    black, white = (grid.points(position.stones(color)) for color in (BLACK, WHITE))
    kinds = (("sS", "S", [*black, *white]), ("sB", "B", black), ("sW", "W", white))
    return join_markup(
        _MARKED % (kind, _path(grid, points, rim), marker, marker, marker)
        for kind, marker, points in kinds
    )


def _last(diagram: Diagram, rim: int) -> Markup:
    drawn = Markup('<circle class="lm" cx="%s" cy="%s" r="4.2" stroke="%s"%s/>')
    if diagram.last is None:
        return drawn % (0, 0, "#fff", Markup(' style="display:none"'))
    color = diagram.position.color_at(diagram.last)
    stroke = "#fff" if color == BLACK else "#16181d"
    return drawn % (*_place(diagram.position.grid, diagram.last, rim), stroke, NOTHING)


# --- what explanations and the test itself mark -------------------------------------------------


def _owners(diagram: Diagram, rim: int) -> Markup:
    """Territory as small squares on a tint of its owner's, and crosses where it is nobody's."""
    grid, position = diagram.position.grid, diagram.position
    owned: dict[int, list[Point]] = {BLACK: [], WHITE: [], EMPTY: []}
    for point, mark in diagram.marks.items():
        if mark in _OWNERS:
            owned[_OWNERS[mark]].append(point)
    if not any(owned.values()):
        return NOTHING
    drawn = []
    for color, tint, square in ((BLACK, "tb", "qb"), (WHITE, "tw", "qw")):
        if owned[BLACK] or owned[WHITE]:
            area = [*owned[color], *grid.points(position.stones(color))]
            drawn.append(_squares(tint, grid, area, rim, 20))
        drawn.append(_squares(square, grid, owned[color], rim, 7))
    crosses = "".join(
        f"M{x - 3} {y - 3}l6 6m0-6l-6 6"
        for x, y in (_place(grid, point, rim) for point in owned[EMPTY])
    )
    drawn.append(Markup('<path class="qn" d="%s"/>') % crosses if crosses else NOTHING)
    return Markup('<g class="end">%s</g>') % join_markup(drawn)


def _squares(kind: str, grid: Grid, points: Iterable[Point], rim: int, side: int) -> Markup:
    places = (_place(grid, point, rim) for point in points)
    drawn = "".join(
        f"M{x - side / 2:g} {y - side / 2:g}h{side}v{side}h-{side}z" for x, y in places
    )
    return Markup('<path class="%s" d="%s"/>') % (kind, drawn) if drawn else NOTHING


def _labels(diagram: Diagram, seen: Evidence, rim: int) -> Markup:
    """Return the marks that are letters and signs; evidence on the same point goes before."""
    taken = {*seen.right, *seen.missing, *seen.wrong}
    drawn = join_markup(
        _label(diagram, point, mark, rim)
        for point, mark in diagram.marks.items()
        if mark not in _OWNERS and point not in taken
    )
    return Markup('<g class="end">%s</g>') % drawn if drawn else NOTHING


def _label(diagram: Diagram, point: Point, mark: str, rim: int) -> Markup:
    x, y = _place(diagram.position.grid, point, rim)
    color = diagram.position.color_at(point)
    cover = NOTHING
    if color == EMPTY:
        cover = Markup('<circle class="cover" cx="%s" cy="%s" r="6.5"/>') % (x, y)
    kind = {BLACK: "lb lbk", WHITE: "lb lbw"}.get(color, "lb")
    return cover + Markup('<text class="%s" x="%s" y="%s">%s</text>') % (kind, x, y + 3.2, mark)


def _evidence(grid: Grid, seen: Evidence, rim: int) -> Markup:
    drawn = join_markup(
        _MARKED % ("ev-p", _path(grid, points, rim), marker, marker, marker)
        for points, (marker, _) in zip(seen, _SAYINGS.values(), strict=True)
        if points
    )
    return Markup('<g class="end">%s</g>') % drawn if drawn else NOTHING


# --- in words ----------------------------------------------------------------------------------


def _in_words(diagram: Diagram, seen: Evidence) -> str:
    grid = diagram.position.grid
    told = [f"Board, {grid.columns} by {grid.rows}. {describe(diagram)}"]
    for points, (_, words) in zip(seen, _SAYINGS.values(), strict=True):
        if points:
            names = " ".join(vertex(point, diagram.letters) for point in points)
            told.append(f"{words[0].upper()}{words[1:]}: {names}.")
    return " ".join(told)


def _legend(diagram: Diagram, seen: Evidence, legend: Mapping[str, str]) -> Markup:
    listed = join_markup(
        (_of_marks(set(diagram.marks.values()), legend), _of_evidence(diagram, seen))
    )
    return Markup('<ul class="leg">%s</ul>') % listed if listed else NOTHING


def owners_on_paper(diagrams: Iterable[Diagram], legend: Mapping[str, str]) -> Markup:
    """Return what the squares and crosses of these boards mean, once for all, for paper alone."""
    found = {mark for diagram in diagrams for mark in diagram.marks.values() if mark in _OWNERS}
    return Markup('<ul class="leg po">%s</ul>') % _of_marks(found, legend) if found else NOTHING


_KEY = Markup('<svg viewBox="0 0 18 18" aria-hidden="true" class="board-k">%s</svg>')
_ON_WOOD = Markup('<g class="board"><rect class="cover" width="18" height="18"/>%s</g>')
_KEYS = {
    "b": Markup(
        '<rect class="tb" width="18" height="18"/>'
        '<rect class="qb" x="5.5" y="5.5" width="7" height="7"/>'
    ),
    "w": Markup(
        '<rect class="tw" width="18" height="18"/>'
        '<rect class="qw" x="5.5" y="5.5" width="7" height="7"/>'
    ),
    "n": Markup('<path class="qn" d="M6 6l6 6m0-6l-6 6"/>'),
}
_LETTER = Markup('<text class="lb" x="9" y="12.2" style="font-size:11px">%s</text>')


_ENTRY = Markup("<li>%s%s</li>")
_OWNED = Markup('<li class="o">%s%s</li>')  # on paper it is said once for all boards


def _of_marks(found: Collection[str], legend: Mapping[str, str]) -> Markup:
    return join_markup(
        (_OWNED if mark in _OWNERS else _ENTRY)
        % (_KEY % (_ON_WOOD % (_KEYS.get(mark) or _LETTER % mark)), words)
        for mark, words in legend.items()
        if mark in found
    )


def _of_evidence(diagram: Diagram, seen: Evidence) -> Markup:
    return join_markup(
        _ENTRY
        % (
            _KEY % (_MARKED % ("ev-p", "M9 9L9 9", marker, marker, marker)),
            f"{_some(diagram, points)}{words}",
        )
        for points, (marker, words) in zip(seen, _SAYINGS.values(), strict=True)
        if points
    )


def _some(diagram: Diagram, points: tuple[Point, ...]) -> str:
    """Return a few points by their names, none of many."""
    if len(points) > 3:
        return ""
    return ", ".join(vertex(point, diagram.letters) for point in points) + ": "


def _caption(diagram: Diagram) -> Markup:
    """Return the last move, what was refused, and the prisoners."""
    course, told = diagram.course, [diagram.caption]
    if course and any(course.prisoners):
        black, white = course.prisoners
        told.append(f"prisoners: Black has taken {black}, White {white}")
    words = "; ".join(filter(None, told))
    return Markup("<figcaption>%s</figcaption>") % words if words else NOTHING


# --- stepping ----------------------------------------------------------------------------------

_STEPS = Markup(
    '<div class="step js-only" role="group" aria-label="Setup, move by move">'
    '<button type="button" class="btn" data-step="-999" aria-label="To the start">&laquo;</button>'
    '<button type="button" class="btn" data-step="-1" aria-label="One move back">&lsaquo;</button>'
    '<input type="range" min="0" max="%s" value="%s" aria-label="Move">'
    '<button type="button" class="btn" data-step="1" aria-label="One move on">&rsaquo;</button>'
    '<button type="button" class="btn" data-step="999" aria-label="To the end">&raquo;</button>'
    "<output>%s of %s</output>"
    '<button type="button" class="btn" data-numbers aria-pressed="false">Numbers</button></div>'
)


def _steps(diagram: Diagram) -> Markup:
    course = diagram.course
    if course is None or not course.moves:
        return NOTHING
    count = len(course.moves)
    return _STEPS % (count, count, count, count)


@lru_cache(512)
def _script_attributes(diagram: Diagram, komi: str, command: str) -> Markup:
    """Return what led to the position, as attributes for the script."""
    course = diagram.course or PositionCourse(diagram.position, ())
    grid, start = diagram.position.grid, course.start
    laid = [
        f"{' bw'[color]}{vertex(point)}"
        for color in (BLACK, WHITE)
        for point in grid.points(start.stones(color))
    ]
    moves = [f"{' bw'[color]}{vertex(point) if point else ''}" for color, point in course.moves]
    kept = Markup(' data-w="%s" data-h="%s" data-start="%s" data-moves="%s"') % (
        grid.columns,
        grid.rows,
        " ".join(laid),
        " ".join(moves),
    )
    if not course.captures:
        kept += Markup(" data-gomoku")
    given = (("komi", komi), ("command", command))
    return kept + join_markup(Markup(' data-%s="%s"') % pair for pair in given if pair[1])
