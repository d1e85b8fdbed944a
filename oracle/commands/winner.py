"""``gtp-oracle winner``."""

from __future__ import annotations

import argparse

from oracle.answers import gomoku_rules
from oracle.boards.snapshot import Snapshot
from oracle.commands.ask import Answer, question, run

DESCRIPTION = """\
The winner of a game of Gomoku, by the rules of gomoku-rules.html: black, white, draw or unknown
(nobody yet). Five or more in a row win.
"""


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    return run(arguments, question("winner", DESCRIPTION, rules="gomoku"), ask)


def ask(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the result."""
    position = snapshot.position
    result = gomoku_rules.result(position)
    reason = gomoku_rules.explain_result(position)
    readings = gomoku_rules.readings_result(position)
    return [Answer("winner", result, result, reason, readings)]
