"""The subject of a test, as points on its board: asked for, right, missing, wrong. Pure.

Only whole vertices count, as commands, expectations and replies have them. Of an expectation that
leaves open what it matches nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.reading.expectation import examples, is_any_order
from harness.records import Outcome, Pattern, Step, Verdict
from harness.report.miscounted_points import NEUTRAL, find_explaining_points
from harness.typed import NamedTuple
from oracle.color import EMPTY
from oracle.grid import Grid
from oracle.sentences import listing
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.draw import Diagram
    from oracle.vertex import Point

_VERTEX = re.compile(r"(?<![^\s,;:()\[\]{}|])([A-Z])([1-9]\d?)(?![^\s,;:()\[\]{}|])", re.I)
_CHOOSE = ("genmove", "reg_genmove")  # commands that are answered with a move
_NAMED = 4  # occupied points that are named
_LONGEST = 4_000  # characters of a text that is looked through


class Evidence(NamedTuple):
    """Points of a board, each list from A1 rightwards, then upwards, and without the others'."""

    asked: tuple[Point, ...] = ()  # the command names them
    right: tuple[Point, ...] = ()  # expected: all of them came, or one of them is enough
    missing: tuple[Point, ...] = ()  # expected in a list, and did not come
    wrong: tuple[Point, ...] = ()  # came, and are not right
    for_black: tuple[Point, ...] = ()  # nobody's, and given to Black they make the wrong reply
    for_white: tuple[Point, ...] = ()  # the same for White

    def __bool__(self) -> bool:
        """Whether there is anything to be seen."""
        return any(self)


def evidence(step: Step, outcome: Outcome, diagram: Diagram) -> Evidence:
    """Return what there is to see of a test on its board."""
    board, letters = diagram.position.grid, diagram.letters
    asked = points(step.command, board, letters)
    reply = outcome.reply
    came = points(reply.text, board, letters) if reply and reply.ok else ()
    expected, is_list = _find_expected(step.pattern, board, letters)
    is_wrong = outcome.verdict in (Verdict.FAILED, Verdict.EXPECTED_FAIL)
    missing = _without(expected, came) if is_list and is_wrong and came else ()
    right = _without(expected, missing) if is_wrong else came
    wrong = _without(came, expected) if is_wrong and _is_known(step.pattern) else ()
    if not (is_wrong and reply and reply.ok and NEUTRAL in diagram.marks.values()):
        return Evidence(asked, right, missing, wrong)
    return Evidence(
        asked,
        right,
        missing,
        wrong,
        *find_explaining_points(step.pattern, reply.text, diagram.marks),
    )


def objection(step: Step, outcome: Outcome, diagram: Diagram) -> str:
    """Return what speaks against the points of a reply where it should be moves, or "".

    Such as ", which is occupied". Whether points are moves is told by the right ones: these are
    empty. An engine's own move is one in any case.
    """
    board, letters, reply = diagram.position.grid, diagram.letters, outcome.reply
    if reply is None or not reply.ok or outcome.verdict is not Verdict.FAILED:
        return ""
    expected, _ = _find_expected(step.pattern, board, letters)
    if not _are_moves(step, expected, diagram):
        return ""
    came = points(reply.text, board, letters)
    taken = [one for one in came if diagram.position.color_at(one) != EMPTY]
    is_single = bool(_VERTEX.fullmatch(reply.text))
    if is_single:
        return ", which is occupied" if taken else "" if came else ", which is not on the board"
    if not taken:
        return ""
    names = listing([vertex(one, letters) for one in taken[:_NAMED]])
    if len(taken) > _NAMED:
        return f"; {len(taken)} of them are occupied, such as {names}"
    return f"; {names} {'is' if len(taken) == 1 else 'are'} occupied"


def _are_moves(step: Step, expected: tuple[Point, ...], diagram: Diagram) -> bool:
    if step.command.partition(" ")[0] in _CHOOSE:
        return True
    return bool(expected) and all(diagram.position.color_at(one) == EMPTY for one in expected)


def points(text: str, board: Grid, letters: str) -> tuple[Point, ...]:
    """Return the points of a board that a text names."""
    named = (
        (int(row) - 1, letters.find(letter.upper()))
        for letter, row in _VERTEX.findall(text[:_LONGEST])
    )
    return tuple(sorted({point for point in named if point in board}))


def names_of_points(text: str) -> set[str]:
    """Return the names in a text that are points of some board."""
    return {f"{letter}{row}".upper() for letter, row in _VERTEX.findall(text[:_LONGEST])}


def without_points(text: str) -> str:
    """Return a text with the same sign in the place of each point."""
    return _VERTEX.sub("*", text[:_LONGEST])


def _find_expected(
    pattern: Pattern | None, board: Grid, letters: str
) -> tuple[tuple[Point, ...], bool]:
    """Return the points of the right answers, and whether the one right answer is a list."""
    if not _is_known(pattern):
        return (), False
    assert pattern is not None
    texts = examples(pattern.expression).texts
    found = {point for text in texts for point in points(text, board, letters)}
    is_list = len(texts) == 1 or is_any_order(texts)
    return tuple(sorted(found)), is_list and len(found) > 1


def _is_known(pattern: Pattern | None) -> bool:
    """Whether an expectation says all that is right."""
    if pattern is None or pattern.negated:
        return False
    found = examples(pattern.expression)
    return bool(found.texts) and found.complete


def _without(some: Iterable[Point], others: Iterable[Point]) -> tuple[Point, ...]:
    left_out = set(others)
    return tuple(point for point in some if point not in left_out)
