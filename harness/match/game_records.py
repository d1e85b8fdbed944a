"""The games of a match as records: SGF, or GTP commands where SGF does not know the game."""

from harness.core.text import encode_visible, one_line
from harness.match.records import GO, Game, Match, moves_as_text
from harness.match.referee import REFEREES, start_of
from harness.match.standings import Standings
from harness.report import report_files
from oracle.komi import parse_komi
from oracle.position import NAMES, Move, Position, parse_vertex
from oracle.sgf import write_sgf


def report(path: str, standings: Standings) -> None:
    """Write a file for each game; see :class:`~harness.report.reporters.Reporter`."""
    match = standings.result.match
    ending = "sgf" if is_drawn(match) else "gtp"
    for game in standings.result.games:
        report_files.write_bytes(f"{path}/{base_name(game)}.{ending}", record(match, game))


def base_name(game: Game) -> str:
    """Return the name of a game's files, without their ending."""
    return f"game-{game.plan.number + 1:05}"


def is_drawn(match: Match) -> bool:
    """Whether the oracle knows the game, and so what a move does."""
    return match.rules.game in REFEREES


def record(match: Match, game: Game) -> bytes:
    rules, opening = match.rules, match.openings[game.plan.opening]
    black, white = match.names(game)
    if not is_drawn(match):
        columns, rows = rules.size
        size = f"{columns}" if columns == rows else f"{columns} {rows}"
        lines = [f"# {line}" for line in (f"{black} - {white}", *explanation(match, game))]
        lines += [f"boardsize {size}", "clear_board"]
        if opening.moves:
            plays = [f"play {move}" for move in moves_as_text(opening.moves)]
            lines += [*plays, "# the opening ends here"]
        lines += [f"play {move}" for move in moves_as_text(game.moves)]
        return encode_visible("\n".join(lines) + "\n")
    start, moves = course(match, game)
    properties = {
        "PB": black,
        "PW": white,
        "RO": f"{game.plan.round + 1}",
        "ON": one_line(opening.name),
        "HA": f"{rules.handicap or ''}",
        "TM": f"{rules.time.main:g}" if rules.time.main else "",
    }
    return write_sgf(
        start,
        moves,
        game=rules.game,
        to_play=moves[0][0] if moves else opening.to_play,
        komi=parse_komi(rules.komi) if rules.game == GO else None,
        result=game.result,
        comment="\n".join(explanation(match, game)),
        properties={key: value for key, value in properties.items() if value},
    )


def explanation(match: Match, game: Game) -> list[str]:
    """Return how a game ended, and what the engines said of it: lines of text."""
    names = ("", *match.names(game))
    lines = [f"{game.result}: {game.reason}", game.detail]
    if game.detail and game.winner:
        loser = f"{NAMES[3 - game.winner].capitalize()} ({names[3 - game.winner]})"
        lines[0] = f"{game.result}: {loser} lost by: {game.reason}"
    lines += [
        f"{NAMES[color].capitalize()}'s own count: {claim}"
        for color, claim in enumerate(game.claims, 1)
        if claim
    ]
    if game.disputed:
        lines.append("That is not what the referee counts.")
    return [one_line(line) for line in lines if line]


def course(match: Match, game: Game) -> tuple[Position, list[Move]]:
    """Return the position that a game began with and its moves, the opening's too."""
    opening, (columns, rows) = match.openings[game.plan.opening], match.rules.size
    return start_of(match.rules, opening), [
        (color, None if name == "pass" else parse_vertex(name, rows, columns))
        for color, name in (*opening.moves, *game.moves)
    ]
