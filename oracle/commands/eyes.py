"""``gtp-oracle eyes``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from oracle.answers import gosensei
from oracle.boards.snapshot import Snapshot
from oracle.commands.ask import Answer, add_color, question, run
from oracle.errors import OracleError
from oracle.explanation import Explanation
from oracle.position import BLACK, SENSEI_LETTERS, Position

Count = Callable[[Position, int], Sequence[object]]
Sentence = Callable[[int, int], str]
Explain = Callable[[Position, int], Explanation]
Readings = Callable[[Position, int], dict[str, int]]

DESCRIPTION = """\
The eyes, two eyes and eye spaces of a color, as gosensei.txt defines them. As there, columns are
called A to I, with I, so boards have at most nine.
"""

# Name on the command line: what is counted, the sentence, the reason and the readings.
QUESTIONS: dict[str, tuple[Count, Sentence, Explain, Readings]] = {
    "eyes": (gosensei.eyes, gosensei.eyes_sentence, gosensei.explain_eyes, gosensei.readings_eyes),
    "twoeyes": (
        gosensei.two_eyes,
        gosensei.two_eyes_sentence,
        gosensei.explain_two_eyes,
        gosensei.readings_two_eyes,
    ),
    "eyespaces": (
        gosensei.eye_spaces,
        gosensei.eye_spaces_sentence,
        gosensei.explain_eye_spaces,
        gosensei.readings_eye_spaces,
    ),
}


def main(arguments: list[str]) -> int:
    """Run the command and return the exit status."""
    parser = question("eyes", DESCRIPTION, rules="go")
    parser.add_argument("--only", choices=QUESTIONS, help="one of the three (default: all)")
    add_color(parser, "color of the eyes", "black")
    return run(arguments, parser, ask, SENSEI_LETTERS)


def ask(snapshot: Snapshot, options: argparse.Namespace) -> list[Answer]:
    """Return the numbers that are asked for."""
    columns = snapshot.position.grid.columns
    if columns > len(SENSEI_LETTERS):
        raise OracleError(f"the columns A to I are not enough for a board of {columns}")
    names = [options.only] if options.only else list(QUESTIONS)
    return [_answer(name, snapshot, options.color or BLACK) for name in names]


def _answer(name: str, snapshot: Snapshot, color: int) -> Answer:
    found, sentence, explain, readings = QUESTIONS[name]
    position = snapshot.position
    number = len(found(position, color))
    return Answer(
        name,
        sentence(number, color),
        number,
        explain(position, color),
        {reading: str(value) for reading, value in readings(position, color).items()},
    )
