"""``gtp-oracle policy``."""

from __future__ import annotations

import argparse

from oracle.answers import gomoku_policy
from oracle.boards.snapshot import Snapshot
from oracle.commands.ask import Answer, add_color, color_to_play, question, run
from oracle.position import Point, vertex

DESCRIPTION = """\
The moves that a playout of Gomoku considers (policy_moves of gomoku-policy.txt): their type, which
is the first of Win, BlockWin, OpenFour, BlockOpenFour and Random that has any, and the moves,
sorted as strings. Nothing when the game is over.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    parser = question("policy", DESCRIPTION, rules="gomoku")
    parser.add_argument(
        "--policy",
        choices=("rule_based", "random"),
        default="rule_based",
        help="the playout policy (default: rule_based)",
    )
    add_color(parser, "color to move")
    return run(arguments, parser, ask)


def ask(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the type and the moves."""
    about = snapshot.position, color_to_play(options, snapshot), options.policy
    kind, moves = gomoku_policy.policy_moves(*about)
    readings = gomoku_policy.readings_policy_moves(*about)
    return [
        Answer(
            "policy_moves",
            _text(kind, moves) or "none: the game is over",
            {"type": kind, "moves": [vertex(point) for point in moves]},
            gomoku_policy.explain_policy_moves(*about),
            {name: _text(*reading) for name, reading in readings.items()},
        )
    ]


def _text(kind: str, moves: list[Point]) -> str:
    return " ".join([kind, *(vertex(point) for point in moves)])
