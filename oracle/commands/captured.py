"""``gtp-oracle captured``."""

from __future__ import annotations

import argparse

from oracle.answers import java_go
from oracle.boards.snapshot import Snapshot
from oracle.commands.ask import Answer, points, question, run
from oracle.explanation import Explanation, Sentence, number
from oracle.position import Point, Position, vertex

DESCRIPTION = """\
Which points of a board are captured, by the rules of java-go.txt: a stone whose chain has no
liberty (a prisoner), and an empty point whose region touches one color only (territory).
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    parser = question("captured", DESCRIPTION, rules="go")
    parser.add_argument(
        "points", metavar="POINT", nargs="*", help="points such as C3 (default: list all captured)"
    )
    return run(arguments, parser, ask)


def ask(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return whether each point is captured, or all points that are."""
    asked = points(options.points, snapshot)
    if not asked:
        return [_every(snapshot.position)]
    return [_one(snapshot.position, point) for point in asked]


def _one(position: Position, point: Point) -> Answer:
    captured = java_go.is_captured(position, point)
    name, readings = vertex(point), java_go.readings_captured(position, point)
    return Answer(
        f"captured {name}",
        f"{name} is {'' if captured else 'not '}captured",
        captured,
        java_go.explain_captured(position, point),
        {reading: str(value).lower() for reading, value in readings.items()},
    )


def _every(position: Position) -> Answer:
    shape = position.grid
    found = [point for point in shape.points(shape.full) if java_go.is_captured(position, point)]
    stones = [point for point in found if position.color_at(point)]
    names = [vertex(point) for point in found]
    dead = number("stones", len(stones), "stone")
    own = number("points", len(found) - len(stones), "point")
    parts = (dead, " without liberties and ", own, " of territory are captured.")
    reason = Sentence("captured", *parts)
    marks = {p: java_go.TAKEN if position.color_at(p) else java_go.TERRITORY for p in found}
    return Answer("captured", " ".join(names) or "none", names, Explanation([reason], marks))
