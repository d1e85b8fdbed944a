"""A match as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from harness.escaping import encode_without_surrogates
from harness.match.ratings import Rating
from harness.match.records import Player
from harness.match.standings import Standing, Standings
from harness.match.text import describe
from harness.report import report_files
from oracle.color import BLACK, WHITE

SCHEMA, VERSION = "gtp-harness/match", 1


def report(path: str, found: Standings) -> None:
    """Write the document; see :class:`~harness.report.reporters.Reporter`."""
    text = json.dumps(document(found), indent=1, ensure_ascii=False)
    report_files.write(path, [text, "\n"], encode_without_surrogates)


def document(found: Standings) -> dict[str, Any]:
    """Return all that is known of a match: ``gtp-harness/match``, version 1.

    Members: ``rules``, ``title``, ``format``, ``sandbox``, ``is_whole`` (false if games are left),
    ``players`` by their ranks (``black`` and ``white`` are wins, draws and losses with that color;
    ``elo`` with its interval, or null if nothing is known), ``reasons`` (how games ended, and how
    often), ``sprt`` (or null), ``comparisons`` with a baseline, ``openings``, ``games`` in the
    order of the schedule, and ``unplayed`` games with the reason.
    """
    held, players = found.held, found.held.match.players
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "rules": {**held.match.rules._asdict(), "time": held.match.rules.time._asdict()},
        "title": describe(held.match.rules),
        "format": held.schedule.format,
        "sandbox": held.sandbox,
        "is_whole": held.is_whole,
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
            for one in held.match.openings
        ],
        "games": [_game(game, players) for game in held.games],
        "unplayed": [{"game": plan.number + 1, "why": why} for plan, why in held.unplayed],
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
    sprt, course = found.held.sprt, found.held.course
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
