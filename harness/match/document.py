"""A match as JSON: ``gtp-harness/match``, version 1.

Members: ``schema``, ``version``, ``rules``, ``title`` (the rules in words), ``format`` (who played
whom), ``sandbox``, ``is_whole`` (all games were played, or the test has decided), ``players``,
``reasons`` (how often games ended so), ``sprt`` (the test, or null), ``comparisons`` (with the
baseline), ``openings``, ``games`` and ``unplayed`` (the harness failed). A player has ``name``,
``command``, ``rank``, ``points``, ``sat_out`` (games of a Swiss), wins, draws and losses as
``black`` and as ``white``, the reasons ``won_by`` and ``lost_by``, ``elo`` (with ``low`` and
``high`` of the 95 % interval; null without games), ``seconds`` and ``moves``. A game has
``number``, ``pair`` and ``round`` from 1, the names ``black`` and ``white``, ``opening`` (its
place in the list, from 0), ``result`` as SGF has it, ``winner`` (``b``, ``w`` or empty),
``reason``, ``detail``, ``score``, ``moves`` after the opening, ``seconds`` of both engines,
``claims`` (what each said of the end), ``board`` (the last position as the reference of a declared
game draws it) and ``disputed``, whether a claim names another winner.
"""

import json
import math
from typing import Any

from harness.core.text import encode_without_surrogates
from harness.match.ratings import Rating
from harness.match.records import Game, moves_as_text
from harness.match.standings import Standings
from harness.report import report_files
from oracle.position import BLACK, WHITE

SCHEMA, VERSION = "gtp-harness/match", 1


def report(path: str, standings: Standings) -> None:
    """Write the document; see :class:`~harness.report.reporters.Reporter`."""
    text = json.dumps(document(standings), indent=1, ensure_ascii=False)
    report_files.write(path, [text, "\n"], encode_without_surrogates)


def document(standings: Standings) -> dict[str, Any]:
    """Return the document of a match, as the module describes it."""
    result, match = standings.result, standings.result.match
    names = [player.name for player in match.players]
    sprt = None
    if course := result.course:
        needed = {f"{elo:g}": round(count) for elo, count in course.expected_games.items()}
        sprt = {
            **course.sprt._asdict(),
            "bounds": list(course.sprt.bounds),
            "llr": course.last,
            "pairs": course.counts,
            "verdict": course.verdict,
            "expected_games": needed,
        }
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "rules": {**match.rules._asdict(), "time": match.rules.time._asdict()},
        "title": match.rules.title,
        "format": result.schedule.format,
        "sandbox": result.sandbox,
        "is_whole": result.is_whole,
        "players": [
            {
                "name": row.player.name,
                "command": row.player.command,
                "rank": standings.ranks[row.place],
                "points": row.points,
                "sat_out": row.missed,
                "black": row.colors[BLACK]._asdict(),
                "white": row.colors[WHITE]._asdict(),
                "won_by": dict(row.won),
                "lost_by": dict(row.lost),
                "elo": _rating(row.rating),
                "seconds": round(row.seconds, 3),
                "moves": row.moves,
            }
            for row in standings.rows
        ],
        "reasons": dict(standings.reasons),
        "sprt": sprt,
        "comparisons": [
            {
                "player": one.player.name,
                "baseline": one.baseline.name,
                "elo": _rating(one.difference),
                "is_weaker": one.is_weaker,
            }
            for one in standings.comparisons
        ],
        "openings": [
            {
                "name": one.name,
                "setup": moves_as_text(one.setup),
                "moves": moves_as_text(one.moves),
            }
            for one in match.openings
        ],
        "games": [_game(game, names) for game in result.games],
        "unplayed": [{"game": plan.number + 1, "why": why} for plan, why in result.unplayed],
    }


def _game(game: Game, names: list[str]) -> dict[str, Any]:
    plan, known = game.plan, game.as_json()
    del known["plan"]
    return {
        "number": plan.number + 1,
        "pair": plan.pair + 1,
        "round": plan.round + 1,
        "black": names[plan.black],
        "white": names[plan.white],
        "opening": plan.opening,
        "result": game.result,
        **known,
        "disputed": game.disputed,
    }


def _rating(rating: Rating) -> dict[str, float] | None:
    if math.isinf(rating.error):
        return None
    low, high = rating.interval
    return {"elo": round(rating.elo, 2), "low": round(low, 2), "high": round(high, 2)}
