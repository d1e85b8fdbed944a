"""Every question that a board alone answers: its name in ``exhaustive.c``, and who answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain

import numpy as np

from oracle import batch, batch_gomoku
from oracle.answers import go_scoring, gomoku_policy, gomoku_rules, gosensei, java_go
from oracle.position import BLACK, NAMES, WHITE, Grid, Position
from oracle.rules import go
from oracle.rules.flood import flood, flood_diagonally, regions
from oracle.rules.gomoku import TYPES, fives, rule_based
from tests.oracle.definition_in_c import Question, Rule


def _set(position: Position, points: Iterable[tuple[int, int]]) -> list[int]:
    return [position.grid.mask(list(points))]


def _where(position: Position, holds: Callable[..., bool], *more: object) -> list[int]:
    shape = position.grid
    return _set(position, [p for p in shape.points(shape.full) if holds(position, p, *more)])


def _owners(position: Position) -> list[int]:
    owned = go_scoring.owners(position)
    return [
        _set(position, [p for p, owner in owned.items() if owner == color])[0]
        for color in (BLACK, WHITE)
    ]


def _dead(shape: Grid, black: int, white: int) -> list[int]:
    of_black, of_white = go.find_captured_of_both(shape, black, white)
    return [of_black | of_white]


def _winner(shape: Grid, black: int, white: int) -> int:
    return BLACK if fives(shape, black) else WHITE if fives(shape, white) else 0


def _java_score(shape: Grid, mine: int, theirs: int) -> int:
    prisoners, territory = go.prisoners_and_territory(shape, mine, theirs)
    return prisoners.bit_count() + territory.bit_count()


def _count_taken(shape: Grid, mine: int, theirs: int) -> int:
    moves = map(shape.bit, shape.points(shape.full & ~(mine | theirs)))
    return sum(go.find_taken(shape, mine, theirs, move).bit_count() for move in moves)


def _count_spaces(connect: Callable, larger: bool, shape: Grid, mine: int, theirs: int) -> int:
    found = go.eye_spaces(shape, mine, theirs, connect)
    return sum(1 for _ in regions(shape, go.larger_than_one(shape, found) if larger else found))


def _reading(place: int, position: Position, color: int) -> int:
    return list(gosensei.readings_eye_spaces(position, color).values())[place]


def _policy_masks(kind: str, moves: int) -> list[int]:
    return [moves if kind == one else 0 for one in TYPES]


def _policy_rule(shape: Grid, mine: int, theirs: int) -> list[int]:
    return _policy_masks(*rule_based(shape, mine, theirs))


def _policy_batch(boards: np.ndarray, color: int) -> np.ndarray:
    types, moves = batch_gomoku.policy_moves(boards, color)
    return (types[:, None, None] + 1) * moves


def _policy_answer(position: Position, color: int) -> list[int]:
    kind, moves = gomoku_policy.policy_moves(position, color)
    return _policy_masks(kind, position.grid.mask(moves))


def _stopping(position: Position, color: int) -> list[int]:
    """Return the moves of the other reading, where the settled one has blocks at all."""
    readings = gomoku_policy.readings_policy_moves(position, color)
    kind, moves = next(iter(readings.values()))
    other, stopping = readings.get(gomoku_policy.STOPPING, (kind, moves))
    return _set(position, stopping if other == kind else [])


_PLAIN = (
    Question("score", 0, batch.score, go.score, lambda one: int(go_scoring.score(one))),
    Question("owners", 2, batch.owners, lambda *board: list(go.area(*board)[:2]), _owners),
    Question(
        "is_legal_position", 0, batch.positions_legal, lambda *board: not _dead(*board)[0], None
    ),
    Question("without_liberties", 1, batch.without_liberties, _dead, None),
    Question(
        "captured",
        1,
        batch.map_captured,
        lambda *board: _where(Position(*board), java_go.is_captured),
        None,
    ),
    Question("winner", 0, batch_gomoku.winner, _winner, gomoku_rules.winner),
    Question(
        "gomoku_legal",
        1,
        batch_gomoku.legal_moves,
        lambda *board: [0 if _winner(*board) else Position(*board).empty],
        lambda one: _set(one, gomoku_rules.legal_moves(one)),
    ),
)
# As above, but of a color: it is the last argument of ``batch`` and ``answer``; ``rule`` takes the
# stones of the color and then those of the other one.
_OF_COLOR: tuple[tuple, ...] = (
    ("java_score", 0, batch.java_score, _java_score, java_go.score),
    (
        "legal",
        1,
        batch.legal,
        lambda *sides: [go.legal(*sides)],
        lambda one, color: _where(one, java_go.is_legal, color),
    ),
    ("count_taken", 0, None, _count_taken, None),
    (
        "eyes",
        1,
        batch.eyes,
        lambda *sides: [go.eyes(*sides)],
        lambda one, color: _set(one, gosensei.eyes(one, color)),
    ),
    (
        "two_eyes",
        1,
        batch.two_eyes,
        lambda *sides: [go.two_eyes(*sides)],
        lambda one, color: _set(one, gosensei.two_eyes(one, color)),
    ),
    ("close_two_eyes", 1, None, lambda *sides: [go.close_two_eyes(*sides)], None),
    (
        "eye_spaces",
        1,
        batch.eye_spaces,
        lambda *sides: [go.eye_spaces(*sides)],
        lambda one, color: _set(one, chain.from_iterable(gosensei.eye_spaces(one, color))),
    ),
    (
        "count_eye_spaces",
        0,
        batch.count_eye_spaces,
        partial(_count_spaces, flood, False),
        partial(_reading, 0),
    ),
    (
        "count_larger_spaces",
        0,
        None,
        partial(_count_spaces, flood, True),
        partial(_reading, 1),
    ),
    (
        "count_spaces_diagonally",
        0,
        None,
        partial(_count_spaces, flood_diagonally, False),
        partial(_reading, 2),
    ),
    (
        "count_larger_spaces_diagonally",
        0,
        None,
        partial(_count_spaces, flood_diagonally, True),
        partial(_reading, 3),
    ),
    (
        "policy",
        5,
        _policy_batch,
        _policy_rule,
        _policy_answer,
    ),
    ("stopping", 1, None, None, _stopping),
)


def _of_color(
    color: int,
    name: str,
    values: int,
    batch: Callable | None,
    rule: Rule | None,
    answer: Callable | None,
) -> Question:
    swapped = rule and (lambda shape, black, white: rule(shape, white, black))
    return Question(
        f"{name}:{NAMES[color]}",
        values,
        batch and (lambda boards: batch(boards, color)),
        rule if color == BLACK else swapped,
        answer and (lambda position: answer(position, color)),
    )


QUESTIONS = _PLAIN + tuple(
    _of_color(color, *question) for question in _OF_COLOR for color in (BLACK, WHITE)
)
GOMOKU = tuple(
    question
    for question in QUESTIONS
    if question.name.startswith(("winner", "gomoku_legal", "policy", "stopping"))
)
