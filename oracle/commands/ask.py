"""Asking questions of a position, and printing the answers for people or as JSON."""

from __future__ import annotations

import json
import sys
import textwrap

from oracle.color import NAMES
from oracle.commands import position_options as shared
from oracle.commands.position_options import OptionParser
from oracle.draw import Diagram, draw_text
from oracle.explanation import Explanation, is_underspecified
from oracle.komi import plain_text
from oracle.vertex import GTP_LETTERS, vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping
    from typing import Any

    from oracle.boards.snapshot import Snapshot

    Ask = Callable[[Snapshot, argparse.Namespace], "list[Answer]"]


class Answer:
    """The answer to one question.

    Attributes: ``question``, in a few words; ``text``, the answer for people; ``value``, the
    answer as JSON has it; ``explanation``; ``readings``, what the document leaves open, as text.
    """

    __slots__ = ("explanation", "question", "readings", "text", "value")

    def __init__(
        self,
        question: str,
        text: str,
        value: Any,
        explanation: Explanation,
        readings: Mapping[str, str] | None = None,
    ) -> None:
        self.question = question
        self.text = text
        self.value = value
        self.explanation = explanation
        self.readings = readings or {}

    @property
    def is_underspecified(self) -> bool:
        """Whether the document allows different answers."""
        return bool(self.readings) and is_underspecified(self.readings)


def question(name: str, description: str, rules: str | None = None) -> OptionParser:
    """Return the parser of a command that asks about one position.

    ``rules`` is the game that the question is about, if it is about one.
    """
    parser = OptionParser(name, description, rules)
    shared.add_position(parser)
    add_output(parser)
    return parser


def run(arguments: list[str], parser: OptionParser, ask: Ask, letters: str = GTP_LETTERS) -> int:
    """Read the options and the position, ask, and print; return the exit status.

    ``letters`` are those of the columns in the answers.
    """
    options = parser.parse_args(arguments)
    snapshot = shared.read(options)
    answers = ask(snapshot, options)
    if options.json:
        print_json(
            describe_position(snapshot, options.file)
            | {"answers": [_json(a, letters) for a in answers]}
        )
        return 0
    print_notes(snapshot)
    blocks = [_text(answer, snapshot, letters, not options.ascii) for answer in answers]
    print_text("\n\n".join(blocks))
    return 0


def add_output(parser: OptionParser) -> None:
    """Add the options that say how to answer."""
    output = parser.add_argument_group("how to answer")
    output.add_argument("--json", action="store_true", help="as JSON, for programs")
    output.add_argument("--ascii", action="store_true", help="draw the board in plain ASCII")


# --- text ----------------------------------------------------------------------------------------


def _text(answer: Answer, snapshot: Snapshot, letters: str, unicode: bool) -> str:
    diagram = Diagram(snapshot.position, snapshot.last, answer.explanation.marks, letters=letters)
    parts = [answer.text, textwrap.fill(answer.explanation.text, 79), draw_board(diagram, unicode)]
    if answer.is_underspecified:
        parts.append(_open(answer))
    return "\n\n".join(part for part in parts if part)


def draw_board(diagram: Diagram, unicode: bool) -> str:
    """Return a board as text, in ASCII where the terminal can show no other."""
    return draw_text(diagram, unicode=unicode and can_draw_unicode())


def can_draw_unicode() -> bool:
    """Whether standard output can show more than ASCII."""
    return (sys.stdout.encoding or "ascii").lower().startswith("utf")


def _open(answer: Answer) -> str:
    lines = [f"  {name}: {reading}" for name, reading in answer.readings.items()]
    return "\n".join(["Underspecified: the document allows different answers.", *lines])


def print_notes(snapshot: Snapshot) -> None:
    """Say on standard error what was assumed or overlooked while reading."""
    for note in snapshot.notes:
        sys.stderr.write(f"gtp-oracle: note: {note}\n")


def print_text(text: str) -> None:
    """Print text, whatever the terminal can show of it."""
    encoding = sys.stdout.encoding or "ascii"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


# --- JSON ----------------------------------------------------------------------------------------


def describe_position(snapshot: Snapshot, file: str) -> dict[str, Any]:
    """Return a position and its known facts, for JSON.

    ``board`` has the top row first, with ``.`` for an empty point, ``B`` and ``W``.
    """
    position = snapshot.position
    return {
        "file": file,
        "format": snapshot.kind,
        "game": snapshot.game,
        "title": snapshot.title,
        "rows": position.grid.rows,
        "columns": position.grid.columns,
        "board": ["".join(".BW"[color] for color in row) for row in position.to_rows()],
        "to_play": None if snapshot.to_play is None else NAMES[snapshot.to_play],
        "last": vertex(snapshot.last) if snapshot.last else None,
        "ko": vertex(snapshot.ko) if snapshot.ko else None,
        "komi": None if snapshot.komi is None else plain_text(snapshot.komi),
        "notes": snapshot.notes,
    }


def _json(answer: Answer, letters: str) -> dict[str, Any]:
    marks = answer.explanation.marks
    return {
        "question": answer.question,
        "answer": answer.value,
        "explanation": answer.explanation.text,
        "marks": {vertex(point, letters): marks[point] for point in sorted(marks)},
        "underspecified": answer.is_underspecified,
        "readings": dict(answer.readings),
    }


def print_json(value: Any) -> None:
    """Print a value as JSON in ASCII, so that no terminal can spoil it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
