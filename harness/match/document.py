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

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from harness.match.ratings import Rating
from harness.match.records import Player
from harness.match.standings import Standing, Standings
from harness.match.text import describe
from harness.report import report_files
from harness.text import encode_without_surrogates
from oracle.position import BLACK, WHITE

SCHEMA, VERSION = "gtp-harness/match", 1


def report(path: str, found: Standings) -> None:
    """Write the document; see :class:`~harness.report.reporters.Reporter`."""
    text = json.dumps(document(found), indent=1, ensure_ascii=False)
    report_files.write(path, [text, "\n"], encode_without_surrogates)


def document(found: Standings) -> dict[str, Any]:
    """Return the document of a match, as the module describes it."""
    result, players = found.result, found.result.match.players
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "rules": {**result.match.rules._asdict(), "time": result.match.rules.time._asdict()},
        "title": describe(result.match.rules),
        "format": result.schedule.format,
        "sandbox": result.sandbox,
        "is_whole": result.is_whole,
        "players": [_player(row, found) for row in found.rows],
        "reasons": dict(found.reasons),
        "sprt": _sprt(found),
        "comparisons": [
            {
                "player": players[one.player].name,
                "baseline": players[one.baseline].name,
                "elo": _rating(one.difference),
                "is_weaker": one.is_weaker,
            }
            for one in found.comparisons
        ],
        "openings": [
            {"name": one.name, "setup": _moves(one.setup), "moves": _moves(one.moves)}
            for one in result.match.openings
        ],
        "games": [_game(game, players) for game in result.games],
        "unplayed": [{"game": plan.number + 1, "why": why} for plan, why in result.unplayed],
    }


def _player(row: Standing, found: Standings) -> dict[str, Any]:
    return {
        "name": row.player.name,
        "command": row.player.command,
        "rank": found.ranks[row.place],
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


def _rating(rating: Rating) -> dict[str, float] | None:
    """Return a rating; None if nothing is known."""
    if math.isinf(rating.error):
        return None
    low, high = rating.interval
    return {"elo": round(rating.elo, 2), "low": round(low, 2), "high": round(high, 2)}


def _sprt(found: Standings) -> dict[str, Any] | None:
    sprt, course = found.result.sprt, found.result.course
    if not sprt or not course:
        return None
    return {
        **sprt._asdict(),
        "bounds": list(sprt.bounds),
        "llr": course.llr[-1] if course.llr else 0.0,
        "pairs": list(course.counts),
        "verdict": course.verdict,
        "expected_games": {
            f"{one:g}": round(2 * sprt.expected_pairs(one, course.variance))
            for one in (sprt.elo0, (sprt.elo0 + sprt.elo1) / 2, sprt.elo1)
        },
    }


def _game(game: Any, players: Sequence[Player]) -> dict[str, Any]:
    plan = game.plan
    return {
        "number": plan.number + 1,
        "pair": plan.pair + 1,
        "round": plan.round + 1,
        "black": players[plan.black].name,
        "white": players[plan.white].name,
        "opening": plan.opening,
        "result": game.result,
        **{key: value for key, value in game.as_json().items() if key != "plan"},
        "disputed": game.disputed,
    }


def _moves(moves: Sequence[tuple[int, str]]) -> list[str]:
    return [f"{'?bw'[color]} {vertex}" for color, vertex in moves]
