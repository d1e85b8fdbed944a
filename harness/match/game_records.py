"""The games of a match as records: SGF, or GTP commands where SGF does not know the game."""

from __future__ import annotations

from collections.abc import Sequence

from harness.match.records import GO, GOMOKU, Game, Match
from harness.match.standings import Standings
from harness.report import report_files
from harness.text import encode_visible, one_line
from oracle.komi import parse_komi
from oracle.position import NAMES, Move, Position, grid, parse_vertex
from oracle.sgf import write_sgf


def report(path: str, found: Standings) -> None:
    """Write a file for each game; see :class:`~harness.report.reporters.Reporter`."""
    match = found.result.match
    ending = "sgf" if is_drawn(match) else "gtp"
    for game in found.result.games:
        place = f"{path}/{record_name(game, ending)}"
        report_files.write_bytes(place, record(match, game))


def record_name(game: Game, ending: str) -> str:
    """Return the name of a game's file."""
    return f"game-{game.plan.number + 1:05}.{ending}"


def is_drawn(match: Match) -> bool:
    """Whether the oracle knows the game, and so what a move does."""
    return match.rules.game in (GO, GOMOKU)


def record(match: Match, game: Game) -> bytes:
    """Return a game's record."""
    return _sgf(match, game) if is_drawn(match) else _commands(match, game)


def explanation(match: Match, game: Game) -> str:
    """Return how a game ended, and what the engines said of it: lines of text."""
    names = {1: match.players[game.plan.black].name, 2: match.players[game.plan.white].name}
    lines = [f"{game.result}: {game.reason}"]
    if game.detail and game.winner:
        loser = 3 - game.winner
        lines = [f"{game.result}: {NAMES[loser].capitalize()} ({names[loser]}) lost by:"
                 f" {game.reason}", game.detail]  # fmt: skip
    elif game.detail:
        lines.append(game.detail)
    for color, claim in zip((1, 2), game.claims, strict=True):
        if claim:
            lines.append(f"{NAMES[color].capitalize()}'s own count: {claim}")
    if game.disputed:
        lines.append("That is not what the referee counts.")
    return "\n".join(one_line(line) for line in lines)


def course(match: Match, game: Game) -> tuple[Position, list[Move]]:
    """Return the position that a game began with and its moves, the opening's too."""
    columns, rows = match.rules.size
    opening = match.openings[game.plan.opening]
    start = Position(grid(rows, columns))
    for color, name in opening.setup:
        start = start.place(parse_vertex(name, rows, columns), color)
    moves = [*opening.moves, *game.moves]
    return start, [
        (color, None if name == "pass" else parse_vertex(name, rows, columns))
        for color, name in moves
    ]


def _sgf(match: Match, game: Game) -> bytes:
    start, moves = course(match, game)
    rules, opening = match.rules, match.openings[game.plan.opening]
    names = [match.players[one].name for one in (game.plan.black, game.plan.white)]
    properties = {"PB": names[0], "PW": names[1], "RO": f"{game.plan.round + 1}"}
    if opening.name:
        properties["ON"] = opening.name
    if rules.handicap:
        properties["HA"] = f"{rules.handicap}"
    if rules.time.main:
        properties["TM"] = f"{rules.time.main:g}"
    return write_sgf(
        start,
        moves,
        game=rules.game,
        to_play=moves[0][0] if moves else opening.to_play,
        komi=parse_komi(rules.komi) if rules.game == GO else None,
        result=game.result,
        comment=explanation(match, game),
        properties={key: one_line(value) for key, value in properties.items()},
    )


def _commands(match: Match, game: Game) -> bytes:
    columns, rows = match.rules.size
    size = f"{columns}" if columns == rows else f"{columns} {rows}"
    names = [match.players[one].name for one in (game.plan.black, game.plan.white)]
    heading = [
        f"{one_line(names[0])} - {one_line(names[1])}",
        *explanation(match, game).split("\n"),
    ]
    lines = [*(f"# {line}" for line in heading), f"boardsize {size}", "clear_board"]
    opening = match.openings[game.plan.opening]
    lines += _plays(opening.moves)
    if opening.moves:
        lines.append("# the opening ends here")
    lines += _plays(game.moves)
    return encode_visible("\n".join(lines) + "\n")


def _plays(moves: Sequence[tuple[int, str]]) -> list[str]:
    return [f"play {'?bw'[color]} {vertex}" for color, vertex in moves]
