"""``gtp-oracle legal``."""

from __future__ import annotations

import argparse

from oracle.answers import gomoku_rules, java_go
from oracle.boards.snapshot import Snapshot
from oracle.commands.ask import Answer, add_color, add_rules, color_to_play, points, question, run
from oracle.explanation import Explanation, Sentence, a_color, a_point, number
from oracle.explanation import points as listed
from oracle.position import NAMES, Point, vertex

DESCRIPTION = """\
Which moves are legal.

go       a stone on an empty point that has a liberty or captures (java-go.txt, "Self Capture");
         the immediate recapture of a ko is not, if the file shows the capture
gomoku   any empty point until the game is over; sorted as strings, in lower case
"""

NOT = "x"  # mark: an empty point on which a stone is not legal
KO = "It would take back at once the stone that has just taken one: ko, not legal."


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    parser = question("legal", DESCRIPTION)
    parser.add_argument(
        "points", metavar="POINT", nargs="*", help="points such as C3 (default: list all legal)"
    )
    add_color(parser, "color to move")
    add_rules(parser)
    return run(arguments, parser, ask)


def ask(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return whether each move is legal, or all moves that are."""
    asked = points(options.points, snapshot)
    if snapshot.game == "gomoku":
        return [_gomoku(snapshot, point) for point in asked] or [_every_in_gomoku(snapshot)]
    color = color_to_play(options, snapshot)
    return [_go(snapshot, point, color) for point in asked] or [_every_in_go(snapshot, color)]


def _one(point: Point, legal: bool, explanation: Explanation) -> Answer:
    name = vertex(point)
    text = f"{name} is {'' if legal else 'not '}legal"
    return Answer(f"legal {name}", text, legal, explanation)


# --- Go ----------------------------------------------------------------------------------------


def _go(snapshot: Snapshot, point: Point, color: int) -> Answer:
    if _is_ko(snapshot, point, color):
        return _one(point, False, Explanation([Sentence("ko", KO)], {point: java_go.SUBJECT}))
    legal = java_go.is_legal(snapshot.position, point, color)
    return _one(point, legal, java_go.explain_legal(snapshot.position, point, color))


def _every_in_go(snapshot: Snapshot, color: int) -> Answer:
    position = snapshot.position
    empty = position.grid.points(position.empty)
    legal = [
        point
        for point in empty
        if java_go.is_legal(position, point, color) and not _is_ko(snapshot, point, color)
    ]
    others = [point for point in empty if point not in legal]
    moves = number("moves", len(legal), "empty point is", "empty points are")
    rest = ("; not so ", listed("others", others)) if others else ()
    reason = Sentence("legal", moves, " legal for ", a_color("color", color), *rest, ".")
    marks = dict.fromkeys(others, NOT)
    names = [vertex(point) for point in legal]
    text = " ".join(names) or "none"
    return Answer(f"legal {NAMES[color]}", text, names, Explanation([reason], marks))


def _is_ko(snapshot: Snapshot, point: Point, color: int) -> bool:
    return point == snapshot.ko and color == snapshot.to_play


# --- Gomoku ------------------------------------------------------------------------------------


def _gomoku(snapshot: Snapshot, point: Point) -> Answer:
    position = snapshot.position
    legal = point in gomoku_rules.legal_moves(position)
    stone = position.color_at(point)
    if stone:
        who = a_color("stone", stone)
        occupied = (a_point("point", point), " is occupied by a ", who, " stone.")
        return _one(point, legal, Explanation([Sentence("occupied", *occupied)]))
    return _one(point, legal, gomoku_rules.explain_legal_moves(position))


def _every_in_gomoku(snapshot: Snapshot) -> Answer:
    position = snapshot.position
    names = _lower(gomoku_rules.legal_moves(position))
    readings = gomoku_rules.readings_legal_moves(position)
    return Answer(
        "legal",
        " ".join(names) or "none",
        names,
        gomoku_rules.explain_legal_moves(position),
        {name: " ".join(_lower(moves)) or "none" for name, moves in readings.items()},
    )


def _lower(moves: list[Point]) -> list[str]:
    return [vertex(point).lower() for point in moves]
