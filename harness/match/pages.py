"""A match as pages: the crosstable with plots, and each game on a board that steps."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from types import SimpleNamespace

from harness.core.text import one_line
from harness.match.game_records import base_name, course, explanation, is_drawn, record
from harness.match.records import GO, Game, Match
from harness.match.standings import Standings, counts, sprt_lines, unplayed
from harness.report import report_files
from harness.report.board_evidence import Evidence
from harness.report.html.board_drawing import figure
from harness.report.html.page_names import MATRIX
from harness.report.html.parts import PageFrame, page
from harness.report.html.templates import PIECES, Markup, Template
from oracle.draw import Diagram, PositionCourse
from oracle.errors import OracleError
from oracle.games.go import GoGame
from oracle.position import BLACK, WHITE

INDEX = "index.html"
_POINTS = 400  # of the course of a match, at most, in its plot
_LISTED = 2_000  # games on the first page
_WIDE = 560  # pixels of a plot
_index, _game = Template("match/index.html"), Template("match/game.html")

Games = tuple[Game, ...]


def report(path: str, standings: Standings) -> None:
    """Write all pages; see :class:`~harness.report.reporters.Reporter`."""
    write_pages(path, standings, standings.result.games)


def write_pages(path: str, standings: Standings, games: Games, title: str = "Match") -> None:
    """Write the first page, and those of some games; the others are not linked."""
    for place, game in enumerate(games):
        near = games[max(0, place - 1) : place] + games[place + 1 : place + 2]
        parts = _game_page(standings.result.match, game, near)
        report_files.write(f"{path}/{base_name(game)}.html", parts, lasting=False)
    report_files.write(f"{path}/{INDEX}", _index_page(standings, games, title))


# --- the first page ----------------------------------------------------------------------------


def _index_page(standings: Standings, games: Sequence[Game], title: str) -> Iterator[str]:
    result, players = standings.result, standings.result.match.players
    body = _index.body(
        title=title,
        result=result,
        players=[(one.name, one_line(one.command)) for one in players]
        if len(players) <= 4
        else [],
        failed=unplayed(result),
        comparisons=standings.comparisons,
        is_weaker=any(one.is_weaker for one in standings.comparisons),
        counts=counts,
        ranked=standings.ranked,
        ranks=standings.ranks,
        intervals=_interval_plot(standings),
        course=_course(standings) if len(standings.rows) == 2 and result.games else None,
        games=games[:_LISTED],
        link=_link,
        others=len(games) - _LISTED,
    )
    return page(title, [body], PageFrame(script=True, style=MATRIX))


# --- plots -------------------------------------------------------------------------------------


def _interval_plot(standings: Standings) -> SimpleNamespace | None:
    """Return everybody's rating as a point on its interval; None if nothing was played."""
    rows = [row for row in standings.ranked if math.isfinite(row.rating.error)]
    if not rows:
        return None
    ends = [end for row in rows for end in row.rating.interval]
    low, high = min(ends), max(ends)
    scale = (_WIDE - 200) / max(1.0, high - low)

    def across(value: float) -> str:
        return f"{180 + (value - low) * scale:.1f}"

    words = "; ".join(f"{row.player.name}: {str(row.rating).strip()}" for row in rows)
    return SimpleNamespace(
        words=one_line(words, 500),
        rows=[
            (one_line(row.player.name, 24), *map(across, (*row.rating.interval, row.rating.elo)))
            for row in rows
        ],
        zero=across(0),
        ends=[(across(low), "start", low), (across(high), "end", high)],
    )


def _course(standings: Standings) -> SimpleNamespace:
    """Return the course of a match of two: the likelihood ratio of its test, or the lead."""
    test, bounds = standings.result.course, (0.0, 0.0)
    if test and test.llr:
        title, what, told = "Sequential test", "log-likelihood ratio", [*sprt_lines(test)]
        values, bounds = test.llr, test.sprt.bounds
    else:
        games, told = standings.result.games, []
        values = [*accumulate(one.points_of(0) - one.points_of(1) for one in games)]
        title = what = f"Lead of {one_line(standings.rows[0].player.name, 40)}, in points"
    low, high = min(*values, *bounds, 0.0), max(*values, *bounds, 0.0)
    scale, step = 120 / max(1e-9, high - low), max(1, len(values) // _POINTS)
    shown = [0.0, *values[step - 1 :: step]]
    wide = (_WIDE - 60) / max(1, len(shown) - 1)

    def up(value: float) -> str:
        return f"{140 - (value - low) * scale:.1f}"

    return SimpleNamespace(
        title=title,
        lines=told,
        words=f"{what}: {values[-1]:.2f} after {len(values)}",
        marks=[
            (up(value), f"{value:g}" if value == int(value) else f"{value:.2f}")
            for value in sorted({0.0, *bounds, low, high})
        ],
        points=[(f"{40 + place * wide:.1f}", up(value)) for place, value in enumerate(shown)],
    )


# --- games -------------------------------------------------------------------------------------


def _link(game: Game) -> Markup:
    return PIECES.anchor(f"{base_name(game)}.html", f"Game {game.plan.number + 1}")


def _game_page(match: Match, game: Game, neighbours: Sequence[Game]) -> Iterator[str]:
    """Yield the page of a game; ``neighbours``: those before and after it."""
    black, white = match.names(game, 80)
    body = _game.body(
        black=black,
        white=white,
        links=[*map(_link, neighbours)],
        board=_board(match, game) if is_drawn(match) else None,
        text="" if is_drawn(match) else game.board,
        game=game,
        opening=match.openings[game.plan.opening].name,
        explanation=explanation(match, game),
        record=record(match, game).decode(errors="replace"),
    )
    number = f"Game {game.plan.number + 1}"
    frame = PageFrame([("Match", INDEX), (number, "")], boards=True, script=True)
    return page(number, [body], frame)


def _board(match: Match, game: Game) -> Markup | None:
    """Return the last position and what led to it.

    What a move of a declared game takes or turns, only its reference knows.
    """
    try:
        start, moves = course(match, game)
    except (OracleError, ValueError):
        return None
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
