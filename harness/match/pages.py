"""A match as pages: the crosstable with plots, and each game on a board that steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from harness.match.game_records import base_name, course, explanation, is_drawn, record
from harness.match.records import GO, Game, Match
from harness.match.standings import Score, Standing, Standings, counts, sprt_lines, unplayed
from harness.report import report_files
from harness.report.board_evidence import Evidence
from harness.report.html.board_drawing import figure
from harness.report.html.page_names import MATRIX
from harness.report.html.parts import PageFrame, box, facts, items, page, sortable_heads
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import number_of, one_line
from oracle.draw import Diagram, PositionCourse
from oracle.errors import OracleError
from oracle.games.go import GoGame
from oracle.position import BLACK, WHITE

INDEX = "index.html"
_POINTS = 400  # of the course of a match, at most, in its plot
_LISTED = 2_000  # games on the first page
_WIDE, _HIGH = 560, 22  # pixels of a plot, and of one of its rows


def report(path: str, found: Standings) -> None:
    """Write all pages; see :class:`~harness.report.reporters.Reporter`."""
    write_pages(path, found, found.result.games)


Games = tuple[Game, ...]


def write_pages(path: str, found: Standings, games: Games, title: str = "Match") -> None:
    """Write the first page, and those of some games; the others are not linked."""
    for place, game in enumerate(games):
        near = games[max(0, place - 1) : place] + games[place + 1 : place + 2]
        parts = _game_page(found.result.match, game, near)
        report_files.write(f"{path}/{_address(game)}", parts, lasting=False)
    report_files.write(f"{path}/{INDEX}", _index_page(found, games, title))


def _address(game: Game) -> str:
    return f"{base_name(game)}.html"


# --- the first page ----------------------------------------------------------------------------

_SECTION = Markup('<section aria-label="%s"><div class="sec-h"><h2>%s</h2></div>%s</section>\n')


def _index_page(found: Standings, games: Sequence[Game], title: str) -> Iterator[Markup]:
    result, names = found.result, found.result.match.players
    failed = unplayed(result)
    known = [
        ("Game", result.match.rules.title),
        ("Format", result.schedule.format),
        ("Games", str(len(result.games))),
        ("Sandbox", result.sandbox),
        *((one.name, one_line(one.command)) for one in (names if len(names) <= 4 else ())),
    ]
    body = [
        Markup("<h1>%s</h1>%s") % (title, facts(known)),
        box("Not played: the harness failed", items(failed)) if failed else NOTHING,
        _comparisons(found),
        _section("Standings", _standings(found)),
        _section("Crosstable", _crosstable(found)) if len(found.rows) > 2 else NOTHING,
        _section("Elo with 95 % intervals", _interval_plot(found)),
        _course_section(found) if len(found.rows) == 2 and result.games else NOTHING,
        _section("Games", _games(result.match, games)),
    ]
    return page(title, body, PageFrame(script=True, style=MATRIX))


def _section(title: str, body: Markup) -> Markup:
    return _SECTION % (title, title, body)


def _comparisons(found: Standings) -> Markup:
    kind = "" if any(one.is_weaker for one in found.comparisons) else "calm"
    told = items(map(str, found.comparisons))
    return box("Compared with the baseline", told, kind) if found.comparisons else NOTHING


# A cell: its class, what it is sorted by, what it shows. Numbers stand at the right.
_TABLE = Markup(
    '<div class="card ft"><div class="scroll"><table><thead><tr>%s</tr></thead>'
    "<tbody>%s</tbody></table></div></div>"
)
_CELL = Markup('<td class="%s" data-l="%s" data-k="%s">%s</td>')
Cell = tuple[object, object]  # what it is sorted by; what it shows


def _table(columns: str, rows: Iterable[Sequence[Cell]]) -> Markup:
    """Return a table that can be sorted; numbers, whose columns have a #, stand at the right."""
    heads = [("num" if one[0] == "#" else "", one.strip("#")) for one in columns.split("; ")]
    body = (
        join_markup(_CELL % (*head, *cell) for head, cell in zip(heads, row, strict=True))
        for row in rows
    )
    shown = join_markup(Markup("<tr>%s</tr>") % row for row in body)
    return _TABLE % (sortable_heads(columns), shown)


def _standings(found: Standings) -> Markup:
    """Return everybody's points, by color and reason."""
    columns = "#Rank; Engine; #Points; #Games; #As Black; #As White; #Elo; Lost by"
    return _table(columns, (_standing(row, found.ranks[row.place]) for row in found.ranked))


def _standing(row: Standing, rank: int) -> list[Cell]:
    name, lost = one_line(row.player.name, 80), counts(row.lost)
    return [
        (rank, rank),
        (name, name),
        (row.points, f"{row.points:g}"),
        (row.score.games, row.score.games),
        *((score.points, score) for score in row.colors.values()),
        (row.rating.elo, str(row.rating).strip()),
        (lost, lost),
    ]


def _crosstable(found: Standings) -> Markup:
    ranks = (found.ranks[row.place] for row in found.ranked)
    head = join_markup(Markup('<th scope="col">%s</th>') % rank for rank in ranks)
    return Markup(
        '<div class="card"><div class="scroll" tabindex="0"><table class="mx"><thead><tr>'
        '<th scope="col" class="c0">Points against</th>%s</tr></thead><tbody>%s</tbody></table>'
        "</div></div>"
    ) % (head, join_markup(_cross_row(row, found) for row in found.ranked))


def _cross_row(row: Standing, found: Standings) -> Markup:
    cells = join_markup(
        Markup("<td>·</td>") if row is other else _cross_cell(row.against.get(other.place))
        for other in found.ranked
    )
    name = f"{found.ranks[row.place]}. {one_line(row.player.name, 40)}"
    return Markup('<tr><th scope="row" class="c0">%s</th>%s</tr>') % (name, cells)


def _cross_cell(score: Score | None) -> Markup:
    if score is None:
        return Markup("<td></td>")
    kind = "p" if score.points > score.games / 2 else ""
    return Markup('<td class="%s" title="%s">%s</td>') % (kind, score, f"{score.points:g}")


# --- plots -------------------------------------------------------------------------------------

_SVG = Markup(
    '<div class="card scroll"><svg viewBox="0 0 %s %s" width="%s" height="%s" role="img"'
    ' aria-label="%s" style="max-width:100%%;font:12px var(--sans)">%s</svg></div>'
)
_LINE = Markup('<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%s"/>')
_TEXT = Markup('<text x="%s" y="%s" text-anchor="%s" fill="var(--ink-2)">%s</text>')
_POINT = Markup('<circle cx="%s" cy="%s" r="4" fill="var(--accent)"/>')
_CURVE = Markup('<polyline points="%s" fill="none" stroke="var(--accent)" stroke-width="2"/>')


def _svg(height: int, words: str, drawn: Iterable[Markup]) -> Markup:
    return _SVG % (_WIDE, height, _WIDE, height, words, join_markup(drawn))


def _interval_plot(found: Standings) -> Markup:
    """Return everybody's rating as a point on its interval."""
    rows = [row for row in found.ranked if math.isfinite(row.rating.error)]
    if not rows:
        return Markup("<p>Nothing was played.</p>")
    ends = [end for row in rows for end in row.rating.interval]
    low, high = min(ends), max(ends)
    scale, height = (_WIDE - 200) / max(1.0, high - low), _HIGH * (len(rows) + 2)

    def across(value: float) -> str:
        return f"{180 + (value - low) * scale:.1f}"

    drawn = [_LINE % (across(0), 4, across(0), height - _HIGH, "var(--line-2)", 1)]
    for place, row in enumerate(rows, 1):
        y = _HIGH * place
        first, last = map(across, row.rating.interval)
        drawn += [
            _TEXT % (170, y + 4, "end", one_line(row.player.name, 24)),
            _LINE % (first, y, last, y, "var(--accent)", 2),
            _POINT % (across(row.rating.elo), y),
        ]
    for value, anchor in ((low, "start"), (high, "end")):
        drawn.append(_TEXT % (across(value), height - 4, anchor, f"{value:+.0f}"))
    told = "; ".join(f"{row.player.name}: {str(row.rating).strip()}" for row in rows)
    return _svg(height, one_line(told, 500), drawn)


def _course_section(found: Standings) -> Markup:
    """Return the course of a match of two: the likelihood ratio of its test, or the lead."""
    test = found.result.course
    if test and test.llr:
        plot = _course_plot(test.llr, test.sprt.bounds, "log-likelihood ratio")
        return _section("Sequential test", items(sprt_lines(test)) + plot)
    games = found.result.games
    leads = [*accumulate(one.points_of(0) - one.points_of(1) for one in games)]
    title = f"Lead of {one_line(found.rows[0].player.name, 40)}, in points"
    return _section(title, _course_plot(leads, (0.0, 0.0), title))


def _course_plot(values: Sequence[float], bounds: tuple[float, float], title: str) -> Markup:
    low, high = min(*values, *bounds, 0.0), max(*values, *bounds, 0.0)
    scale, step = 120 / max(1e-9, high - low), max(1, len(values) // _POINTS)
    shown = [0.0, *values[step - 1 :: step]]
    wide = (_WIDE - 60) / max(1, len(shown) - 1)

    def up(value: float) -> str:
        return f"{140 - (value - low) * scale:.1f}"

    points = (f"{40 + place * wide:.1f},{up(value)}" for place, value in enumerate(shown))
    drawn = [_CURVE % " ".join(points)]
    for value in sorted({0.0, *bounds, low, high}):
        drawn.append(_LINE % (40, up(value), _WIDE - 20, up(value), "var(--line-2)", 1))
        text = f"{value:g}" if value == int(value) else f"{value:.2f}"
        drawn.append(_TEXT % (34, up(value), "end", text))
    return _svg(160, f"{title}: {values[-1]:.2f} after {len(values)}", drawn)


# --- games -------------------------------------------------------------------------------------

_LINK = Markup('<a href="%s">Game %s</a>')
_BESIDE = Markup(
    '<div class="card test"><div class="body large">%s<div class="say">%s%s</div></div></div>'
)
_RECORD = Markup('<details><summary>Record</summary><pre tabindex="0">%s</pre></details>')
_DRAWN = Markup('<pre tabindex="0" aria-label="The last position">%s</pre>')


def _link(game: Game) -> Markup:
    return _LINK % (_address(game), game.plan.number + 1)


def _games(match: Match, games: Sequence[Game]) -> Markup:
    columns = "Game; Black; White; Result; Reason; #Moves"
    table = _table(columns, (_game_row(match, game) for game in games[:_LISTED]))
    rest = len(games) - _LISTED
    return table + (Markup("<p>and %s</p>") % number_of(rest, "game") if rest > 0 else NOTHING)


def _game_row(match: Match, game: Game) -> list[Cell]:
    why = f"{game.reason}; an engine counts otherwise" if game.disputed else game.reason
    return [
        (game.plan.number, _link(game)),
        *((name, name) for name in match.names(game, 40)),
        (game.winner, game.result),
        (why, why),
        (len(game.moves), len(game.moves)),
    ]


def _game_page(match: Match, game: Game, near: Sequence[Game]) -> Iterator[Markup]:
    """Yield the page of a game; ``near``: those before and after it."""
    black, white = match.names(game, 80)
    known = (
        ("Black", black),
        ("White", white),
        ("Result", game.result),
        ("Opening", match.openings[game.plan.opening].name),
        ("Seconds", f"Black {game.seconds[0]:.2f}, White {game.seconds[1]:.2f}"),
    )
    links = Markup(" ").join(map(_link, near))
    told = items(explanation(match, game))
    body = [
        Markup("<h1>%s - %s</h1><p>%s</p>") % (black, white, links),
        _BESIDE % (_board(match, game), facts(known), told),
        _RECORD % record(match, game).decode(errors="replace"),
    ]
    number = f"Game {game.plan.number + 1}"
    frame = PageFrame([("Match", INDEX), (number, "")], boards=True, script=True)
    return page(number, body, frame)


def _board(match: Match, game: Game) -> Markup:
    """Return the last position and what led to it.

    What a move of a declared game takes or turns, only its reference knows.
    """
    if not is_drawn(match):
        return _DRAWN % game.board if game.board else NOTHING
    try:
        start, moves = course(match, game)
    except (OracleError, ValueError):
        return NOTHING
    position, prisoners, is_go = start, (0, 0), match.rules.game == GO
    if is_go:
        played = GoGame(start)
        for color, point in moves:
            played.record(color, point)
        position, prisoners = played.position, (played.prisoners(BLACK), played.prisoners(WHITE))
    for color, point in () if is_go else moves:
        position = position.place(point, color) if point else position
    last = moves[-1][1] if moves else None
    led = PositionCourse(start, tuple(moves), is_go, prisoners)
    return figure(Diagram(position, last, course=led), Evidence(), {}, match.rules.komi)
