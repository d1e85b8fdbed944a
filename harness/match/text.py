"""A match as text, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from harness.match.ratings import Rating
from harness.match.records import GO, Game, Rules
from harness.match.sprt import Course, Sprt
from harness.match.standings import Standings
from harness.match.tournament import MatchResult
from harness.text import at_most, number_of, one_line

_NAME = 24  # columns
_SHOWN = 5  # games that were not played


def lines(found: Standings) -> Iterator[str]:
    """Yield the report of a match."""
    result = found.result
    yield f"{number_of(len(result.games), 'game')} of {describe(result.match.rules)}"
    yield ""
    yield from _table(found)
    yield ""
    yield f"ended by: {_counts(found.reasons)}" if found.reasons else "no games"
    for row in found.ranked:
        if row.lost:
            yield f"{one_line(row.player.name, _NAME)} lost by: {_counts(row.lost)}"
    if result.sprt and result.course:
        yield from sprt_lines(result.sprt, result.course)
    yield from (one.sentence(result.match.players) for one in found.comparisons)
    yield from _doubts(result)


def _table(found: Standings) -> Iterator[str]:
    names = [one_line(row.player.name, _NAME) for row in found.ranked]
    width = max(6, *map(len, names))
    yield f"{'engine':{width}}  points  games  as Black  as White  Elo (95 %)"
    for name, row in zip(names, found.ranked, strict=True):
        black, white = map(str, row.colors.values())
        shown = f"{row.points:6g}  {row.score.games:5}  {black:>8}  {white:>8}"
        yield f"{name:{width}}  {shown}  {elo(row.rating)}"


def _doubts(result: MatchResult) -> Iterator[str]:
    """Yield what else a reader must know."""
    if disputed := sum(game.disputed for game in result.games):
        yield f"an engine counts another winner than the referee in {number_of(disputed, 'game')}"
    told = [f"game {plan.number + 1}: {why}" for plan, why in result.unplayed]
    for line in at_most(told, _SHOWN):
        yield f"not played, because the harness failed: {line}"
    if not result.is_whole:
        yield "the match is not over; with --journal the same command continues it"


def describe(rules: Rules) -> str:
    """Return what is played, in a few words."""
    columns, rows = rules.size
    parts = [f"{rules.game} {columns}x{rows}"]
    if rules.game == GO:
        parts += [f"komi {rules.komi}", f"{rules.ko} ko"]
    if rules.handicap:
        parts.append(f"handicap {rules.handicap}")
    main, period, stones = rules.time
    if main or stones:
        parts.append(f"time {main:g} s" + (f" + {period:g} s for {stones}" if stones else ""))
    return ", ".join(parts)


def elo(rating: Rating) -> str:
    """Return a rating with its interval."""
    if math.isinf(rating.error):
        return "-"
    return f"{rating.elo:+5.0f} ± {rating.error:.0f}"


def sprt_lines(sprt: Sprt, course: Course) -> Iterator[str]:
    """Yield how the test of a match went."""
    low, high = sprt.bounds
    llr = course.llr[-1] if course.llr else 0.0
    verdict = {
        "H1": f"H1 accepted: stronger by {sprt.elo1:g} Elo rather than {sprt.elo0:g}",
        "H0": f"H0 accepted: stronger by {sprt.elo0:g} Elo rather than {sprt.elo1:g}",
    }.get(course.verdict or "", "not decided")
    yield f"SPRT: LLR {llr:.2f} ({low:.2f} to {high:.2f}) after {len(course.llr)} pairs: {verdict}"
    pairs = ", ".join(str(one) for one in course.counts)
    yield f"pairs with 0, 1/2, 1, 3/2, 2 points: {pairs}"
    strengths = (sprt.elo0, (sprt.elo0 + sprt.elo1) / 2, sprt.elo1)
    needed = [2 * sprt.expected_pairs(one, course.variance) for one in strengths]
    told = ", ".join(
        f"{count:.0f} at {one:+g}" for one, count in zip(strengths, needed, strict=True)
    )
    yield f"expected games: {told} Elo"


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{reason} {count}" for reason, count in ordered if count)


def game_line(game: Game, names: Sequence[str]) -> str:
    """Return a game in one line."""
    black, white = (one_line(names[one], _NAME) for one in (game.plan.black, game.plan.white))
    why = f"{game.reason}: {game.detail}" if game.detail else game.reason
    return f"game {game.plan.number + 1}: {black} - {white}  {game.result}  ({one_line(why, 100)})"
