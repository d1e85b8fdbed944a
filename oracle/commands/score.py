"""``gtp-oracle score``."""

from __future__ import annotations

import argparse

from oracle.answers import go_scoring, java_go
from oracle.boards.snapshot import Snapshot
from oracle.commands.ask import Answer, komi, question, run
from oracle.position import BLACK, NAMES, WHITE

DESCRIPTION = """\
The score of a board as it is: no stones count as dead.

go-scoring   stones, and empty regions that touch one color only, with komi: B+4, W+0.5 or 0
java-go      for each color: prisoners (stones without liberties, which leave the board) and
             empty points in regions that touch that color only
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    parser = question("score", DESCRIPTION, rules="go")
    parser.add_argument(
        "--assignment",
        choices=("go-scoring", "java-go"),
        help="way of counting (default: java-go for boards of 0, 1 and 2, else go-scoring)",
    )
    parser.add_argument(
        "--komi",
        type=komi,
        metavar="N",
        help="go-scoring: White's komi (default: the file's, or 0)",
    )
    return run(arguments, parser, ask)


def ask(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the result, or the score of each color."""
    chosen = options.assignment or ("java-go" if snapshot.game == "java-go" else "go-scoring")
    if chosen == "go-scoring":
        return [_area(snapshot, options)]
    return [_of_color(snapshot, color) for color in (BLACK, WHITE)]


def _area(snapshot: Snapshot, options: argparse.Namespace) -> Answer:
    position, amount = snapshot.position, options.komi
    if amount is None:
        amount = snapshot.komi
    if amount is None and snapshot.kind == "sgf":
        snapshot.notes.append("the file states no komi: 0 is assumed")
    amount = amount or 0
    result = go_scoring.answer(position, amount)
    reason = go_scoring.explain(position, amount)
    return Answer("score", result, result, reason, go_scoring.readings(position, amount))


def _of_color(snapshot: Snapshot, color: int) -> Answer:
    position, name = snapshot.position, NAMES[color]
    points = java_go.score(position, color)
    readings = java_go.readings_score(position, color)
    return Answer(
        f"score {name}",
        f"{name.capitalize()}: {points}",
        points,
        java_go.explain_score(position, color),
        {reading: str(value) for reading, value in readings.items()},
    )
