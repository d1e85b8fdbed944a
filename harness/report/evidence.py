"""What a test is about, as points on its board: asked for, right, missing, wrong. Pure.

Only whole vertices count, as commands, expectations and replies have them. Of an expectation that
leaves open what it matches nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.reading.expectation import examples
from harness.records import Outcome, Pattern, Step, Verdict
from harness.typed import NamedTuple
from oracle.grid import Grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.draw import Diagram
    from oracle.vertex import Point

_VERTEX = re.compile(r"(?<![^\s,;:()\[\]{}|])([A-Z])([1-9]\d?)(?![^\s,;:()\[\]{}|])", re.I)
_LONGEST = 4_000  # characters of a text that is looked through


class Evidence(NamedTuple):
    """Points of a board, each list from A1 rightwards, then upwards, and without the others'."""

    asked: tuple[Point, ...] = ()  # the command names them
    right: tuple[Point, ...] = ()  # expected: all of them came, or one of them is enough
    missing: tuple[Point, ...] = ()  # expected in a list, and did not come
    wrong: tuple[Point, ...] = ()  # came, and are not right

    def __bool__(self) -> bool:
        """Whether there is anything to be seen."""
        return any(self)


def evidence(step: Step, outcome: Outcome, diagram: Diagram) -> Evidence:
    """Return what there is to see of a test on its board."""
    board, letters = diagram.position.grid, diagram.letters
    asked = points(step.command, board, letters)
    reply = outcome.reply
    came = points(reply.text, board, letters) if reply and reply.ok else ()
    expected, is_list = _expected(step.pattern, board, letters)
    is_wrong = outcome.verdict in (Verdict.FAILED, Verdict.EXPECTED_FAIL)
    missing = _without(expected, came) if is_list and is_wrong and came else ()
    right = _without(expected, missing) if is_wrong else came
    wrong = _without(came, expected) if is_wrong and _is_known(step.pattern) else ()
    return Evidence(asked, right, missing, wrong)


def points(text: str, board: Grid, letters: str) -> tuple[Point, ...]:
    """Return the points of a board that a text names."""
    named = (
        (int(row) - 1, letters.find(letter.upper()))
        for letter, row in _VERTEX.findall(text[:_LONGEST])
    )
    return tuple(sorted({point for point in named if point in board}))


def _expected(
    pattern: Pattern | None, board: Grid, letters: str
) -> tuple[tuple[Point, ...], bool]:
    """Return the points of the right answers, and whether the one right answer is a list."""
    if not _is_known(pattern):
        return (), False
    assert pattern is not None
    texts = examples(pattern.expression).texts
    found = {point for text in texts for point in points(text, board, letters)}
    return tuple(sorted(found)), len(texts) == 1 and len(found) > 1


def _is_known(pattern: Pattern | None) -> bool:
    """Whether an expectation says all that is right."""
    if pattern is None or pattern.negated:
        return False
    found = examples(pattern.expression)
    return bool(found.texts) and found.complete


def _without(some: Iterable[Point], others: Iterable[Point]) -> tuple[Point, ...]:
    left_out = set(others)
    return tuple(point for point in some if point not in left_out)
