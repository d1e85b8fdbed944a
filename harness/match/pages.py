"""A match as pages: the crosstable with plots, and each game on a board that steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.match.game_records import course, explanation, is_drawn, record
from harness.match.records import GO, Game, Match
from harness.match.standings import Score, Standing, Standings
from harness.match.text import describe, elo, sprt_lines
from harness.report import report_files
from harness.report.board_evidence import Evidence
from harness.report.html.board_drawing import figure
from harness.report.html.page_names import MATRIX
from harness.report.html.parts import PageFrame, box, facts, items, page
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import number_of, one_line
from oracle.draw import Diagram, PositionCourse
from oracle.errors import OracleError
from oracle.games.go import GoGame
from oracle.position import BLACK, WHITE, Move, Position

INDEX = "index.html"
_SHARE = 40  # points of the course of a match, at most, in its plot
_LISTED = 2_000  # games on the first page
_WIDE, _HIGH = 560, 22  # pixels of a plot, and of one of its rows


def report(path: str, found: Standings) -> None:
    """Write all pages; see :class:`~harness.report.reporters.Reporter`."""
    match, games = found.result.match, found.result.games
    for place, game in enumerate(games):
        name = game_page(game)
        near = games[place - 1 : place] + games[place + 1 : place + 2]
        report_files.write(f"{path}/{name}", game_parts(match, game, near), lasting=False)
    report_files.write(f"{path}/{INDEX}", index_parts(found))


def game_page(game: Game) -> str:
    """Return the name of a game's page."""
    return f"game-{game.plan.number + 1:05}.html"


# --- the first page ----------------------------------------------------------------------------

_SECTION = Markup('<section aria-label="%s"><div class="sec-h"><h2>%s</h2></div>%s</section>\n')


def index_parts(
    found: Standings, title: str = "Match", *, only: int | None = None
) -> Iterator[Markup]:
    """Yield the first page. ``only``: a player: of others' games there is no link then."""
    result = found.result
    games = [one for one in result.games if only in (None, one.plan.black, one.plan.white)]
    body = [
        Markup("<h1>%s</h1>%s") % (title, facts(_facts(found))),
        _warnings(found),
        _SECTION % ("Standings", "Standings", standings_table(found)),
        _SECTION % ("Crosstable", "Crosstable", _crosstable(found))
        if len(found.rows) > 2
        else NOTHING,
        _SECTION % ("Elo", "Elo with 95 % intervals", _interval_plot(found)),
        _course_section(found),
        _SECTION % ("Games", "Games", _games(result.match, games)),
    ]
    return page(title, body, PageFrame(script=True, style=MATRIX))


def _facts(found: Standings) -> Iterator[tuple[str, str]]:
    result = found.result
    yield "Game", describe(result.match.rules)
    yield "Format", result.schedule.format
    yield "Games", str(len(result.games))
    yield "Sandbox", result.sandbox
    for row in found.rows if len(found.rows) <= 4 else ():
        if row.player.command:
            yield row.player.name, one_line(row.player.command)


def _warnings(found: Standings) -> Markup:
    result = found.result
    told = [f"game {plan.number + 1}: {why}" for plan, why in result.unplayed]
    boxes = [box("Not played: the harness failed", items(told))] if told else []
    verdicts = [one.sentence(result.match.players) for one in found.comparisons]
    if verdicts:
        is_bad = any(one.is_weaker for one in found.comparisons)
        boxes.append(box("Compared with the baseline", items(verdicts), "" if is_bad else "calm"))
    return join_markup(boxes)


_TABLE = Markup(
    '<div class="card ft"><div class="scroll"><table><thead><tr>%s</tr></thead>'
    "<tbody>%s</tbody></table></div></div>"
)
_HEAD = Markup('<th scope="col"%s><button type="button">%s</button></th>')
_CELL = Markup('<td class="num" data-l="%s" data-k="%s">%s</td>')
_NUMBER = Markup(' class="num"')
_COLUMNS = ("Rank", "Engine", "Points", "Games", "As Black", "As White", "Elo", "Lost by")


def standings_table(found: Standings) -> Markup:
    """Return everybody's points, by color and reason."""
    head = join_markup(
        _HEAD % (NOTHING if name in ("Engine", "Lost by") else _NUMBER, name) for name in _COLUMNS
    )
    ranks = found.ranks
    rows = join_markup(_standing(row, ranks[row.place]) for row in found.ranked)
    return _TABLE % (head, rows)


def _standing(row: Standing, rank: int) -> Markup:
    black, white = row.colors[BLACK], row.colors[WHITE]
    lost = ", ".join(f"{reason} {count}" for reason, count in row.lost.most_common() if count)
    numbers = (
        ("Points", row.points, f"{row.points:g}"),
        ("Games", row.score.games, str(row.score.games)),
        ("As Black", black.points, str(black)),
        ("As White", white.points, str(white)),
        ("Elo", row.rating.elo, elo(row.rating).strip()),
    )
    cells = join_markup(_CELL % (name, f"{key:g}", shown) for name, key, shown in numbers)
    begin = Markup(
        '<tr><td class="num" data-l="Rank" data-k="%s">%s</td><td data-k="%s">%s</td>%s'
    )
    end = Markup('<td data-l="Lost by" data-k="%s">%s</td></tr>') % (lost, lost)
    name = one_line(row.player.name, 80)
    return begin % (rank, rank, name, name, cells) + end


def _crosstable(found: Standings) -> Markup:
    head = join_markup(
        Markup('<th scope="col">%s</th>') % found.ranks[row.place] for row in found.ranked
    )
    body = join_markup(_cross_row(row, found) for row in found.ranked)
    return Markup(
        '<div class="card"><div class="scroll" tabindex="0"><table class="mx"><thead><tr>'
        '<th scope="col" class="c0">Points against</th>%s</tr></thead><tbody>%s</tbody></table>'
        "</div></div>"
    ) % (head, body)


def _cross_row(row: Standing, found: Standings) -> Markup:
    cells = join_markup(
        _cross_cell(row.against.get(other.place), row is other) for other in found.ranked
    )
    name = one_line(row.player.name, 40)
    rank = found.ranks[row.place]
    return Markup('<tr><th scope="row" class="c0">%s. %s</th>%s</tr>') % (rank, name, cells)


def _cross_cell(score: Score | None, is_own: bool) -> Markup:
    if is_own or score is None:
        return Markup("<td>%s</td>") % ("·" if is_own else "")
    kind = "p" if score.points > score.games / 2 else ""
    return Markup('<td class="%s" title="%s">%s</td>') % (kind, str(score), f"{score.points:g}")


# --- plots -------------------------------------------------------------------------------------

_SVG = Markup(
    '<div class="card scroll"><svg viewBox="0 0 %s %s" width="%s" height="%s" role="img"'
    ' aria-label="%s" style="max-width:100%%;font:12px var(--sans)">%s</svg></div>'
)
_LINE = Markup('<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%s"/>')
_TEXT = Markup('<text x="%s" y="%s" text-anchor="%s" fill="var(--ink-2)">%s</text>')


def _interval_plot(found: Standings) -> Markup:
    """Return everybody's rating as a point on its interval."""
    rows = [row for row in found.ranked if math.isfinite(row.rating.error)]
    if not rows:
        return Markup("<p>Nothing was played.</p>")
    ends = [end for row in rows for end in row.rating.interval]
    low, high = min(ends), max(ends)
    scale = (_WIDE - 200) / max(1.0, high - low)
    height = _HIGH * (len(rows) + 2)

    def across(value: float) -> str:
        return f"{180 + (value - low) * scale:.1f}"

    drawn = [_LINE % (across(0), 4, across(0), height - _HIGH, "var(--line-2)", 1)]
    for place, row in enumerate(rows):
        y = _HIGH * (place + 1)
        first, last = map(across, row.rating.interval)
        drawn += [
            _TEXT % (170, y + 4, "end", one_line(row.player.name, 24)),
            _LINE % (first, y, last, y, "var(--accent)", 2),
            Markup('<circle cx="%s" cy="%s" r="4" fill="var(--accent)"/>')
            % (across(row.rating.elo), y),
        ]
    for value, anchor in ((low, "start"), (high, "end")):
        drawn.append(_TEXT % (across(value), height - 4, anchor, f"{value:+.0f}"))
    told = "; ".join(f"{row.player.name}: {elo(row.rating).strip()}" for row in rows)
    return _SVG % (_WIDE, height, _WIDE, height, one_line(told, 500), join_markup(drawn))


def _course_section(found: Standings) -> Markup:
    """Return the course of a match of two: the likelihood ratio of its test, or the lead."""
    result = found.result
    if len(found.rows) != 2 or not result.games:
        return NOTHING
    if result.sprt and result.course and result.course.llr:
        told = items(sprt_lines(result.sprt, result.course))
        plot = _course_plot(result.course.llr, result.sprt.bounds, "log-likelihood ratio")
        return _SECTION % ("Test", "Sequential test", told + plot)
    lead = 0.0
    course: list[float] = []
    for game in result.games:
        color = BLACK if game.plan.black == 0 else WHITE
        lead += game.points(color) - game.points(3 - color)
        course.append(lead)
    title = f"Lead of {one_line(found.rows[0].player.name, 40)}, in points"
    return _SECTION % ("Course", title, _course_plot(course, (0.0, 0.0), title))


def _course_plot(values: Sequence[float], bounds: tuple[float, float], title: str) -> Markup:
    low, high = min(*values, *bounds, 0.0), max(*values, *bounds, 0.0)
    height, scale = 160, 120 / max(1e-9, high - low)
    step = max(1, len(values) // (_SHARE * 10))
    shown = [0.0, *values[step - 1 :: step]]
    wide = (_WIDE - 60) / max(1, len(shown) - 1)
    points = " ".join(
        f"{40 + place * wide:.1f},{140 - (value - low) * scale:.1f}"
        for place, value in enumerate(shown)
    )
    drawn = [
        Markup('<polyline points="%s" fill="none" stroke="var(--accent)" stroke-width="2"/>')
        % points
    ]
    for value in sorted({0.0, *bounds, low, high}):
        y = f"{140 - (value - low) * scale:.1f}"
        drawn.append(_LINE % (40, y, _WIDE - 20, y, "var(--line-2)", 1))
        drawn.append(
            _TEXT % (34, y, "end", f"{value:g}" if value == int(value) else f"{value:.2f}")
        )
    told = f"{title}: {values[-1]:.2f} after {len(values)}"
    return _SVG % (_WIDE, height, _WIDE, height, told, join_markup(drawn))


# --- games -------------------------------------------------------------------------------------

_GAME = Markup(
    '<tr><td data-k="%s"><a href="%s">Game %s</a></td><td>%s</td><td>%s</td>'
    '<td data-k="%s">%s</td><td>%s</td><td class="num" data-k="%s">%s</td></tr>'
)
_BESIDE = Markup(
    '<div class="card test"><div class="body large">%s<div class="say">%s%s</div></div></div>'
)
_GAME_COLUMNS = ("Game", "Black", "White", "Result", "Reason", "Moves")


def _games(match: Match, games: Sequence[Game]) -> Markup:
    head = join_markup(_HEAD % (NOTHING, name) for name in _GAME_COLUMNS)
    rows = join_markup(_game_row(match, game) for game in games[:_LISTED])
    rest = len(games) - _LISTED
    more = Markup("<p>and %s</p>") % number_of(rest, "game") if rest > 0 else NOTHING
    return _TABLE % (head, rows) + more


def _game_row(match: Match, game: Game) -> Markup:
    number, count = game.plan.number + 1, len(game.moves)
    names = [one_line(match.players[one].name, 40) for one in (game.plan.black, game.plan.white)]
    why = f"{game.reason}; an engine counts otherwise" if game.disputed else game.reason
    key = game.winner
    return _GAME % (number, game_page(game), number, *names, key, game.result, why, count, count)


def game_parts(
    match: Match, game: Game, near: Sequence[Game] = (), *, up: str = INDEX
) -> Iterator[Markup]:
    """Yield the page of a game; ``near``: those before and after it. ``up``: the first page."""
    names = [one_line(match.players[one].name, 80) for one in (game.plan.black, game.plan.white)]
    opening = match.openings[game.plan.opening].name
    known = (
        ("Black", names[0]),
        ("White", names[1]),
        ("Result", game.result),
        ("Opening", opening),
        ("Seconds", f"Black {game.seconds[0]:.2f}, White {game.seconds[1]:.2f}"),
    )
    links = Markup(" ").join(
        Markup('<a href="%s">Game %s</a>') % (game_page(one), one.plan.number + 1) for one in near
    )
    told = items(explanation(match, game).split("\n"))
    number = game.plan.number + 1
    body = [
        Markup("<h1>%s - %s</h1><p>%s</p>") % (*names, links),
        _BESIDE % (_board(match, game), facts(known), told),
        Markup('<details><summary>Record</summary><pre tabindex="0">%s</pre></details>')
        % record(match, game).decode(errors="replace"),
    ]
    crumbs = [("Match", up), (f"Game {number}", "")]
    return page(f"Game {number}", body, PageFrame(crumbs, boards=True, script=True))


_DRAWN = Markup('<pre tabindex="0" aria-label="The last position">%s</pre>')


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
    last = next((point for _, point in reversed(moves[-1:])), None)
    position, prisoners = _play(match, start, moves)
    led = PositionCourse(start, tuple(moves), match.rules.game == GO, prisoners)
    return figure(Diagram(position, last, course=led), Evidence(), {}, match.rules.komi)


def _play(
    match: Match, start: Position, moves: Sequence[Move]
) -> tuple[Position, tuple[int, int]]:
    """Return the position after some moves, and what both have taken."""
    if match.rules.game == GO:
        game = GoGame(start)
        for color, point in moves:
            game.record(color, point)
        return game.position, (game.prisoners(BLACK), game.prisoners(WHITE))
    position = start
    for color, point in moves:
        position = position.place(point, color) if point else position
    return position, (0, 0)
