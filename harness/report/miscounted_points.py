"""Points of nobody that a wrong score seems to count for somebody. Pure.

Nothing is known of how an engine counts. But where the points of some neutral regions, given to
one color, make exactly its answer, and no other choice of regions does, that is worth a look.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from harness.reading.expectation import examples
from harness.records import Pattern
from harness.vocabulary.wordings import score_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.vertex import Point

NEUTRAL = "n"  # the mark of a point that nobody owns
_MOST = 10  # regions: of more, some choice fits nearly every answer
_NONE: tuple[Point, ...] = ()

Points = tuple["Point", ...]


def find_explaining_points(
    pattern: Pattern | None, answer: str, marks: Mapping[Point, str]
) -> tuple[Points, Points]:
    """Return the neutral points that, given to Black or to White, make exactly the answer.

    ``marks``: by point, as explanations put them on a board. One of both is empty, mostly both.
    """
    more = _count_gain_for_black(pattern, answer)
    neutral = {point for point, mark in marks.items() if mark == NEUTRAL}
    if not more or abs(more) > len(neutral) or more != int(more):
        return _NONE, _NONE
    found = _choices(_regions(neutral), int(abs(more)))
    if len(found) != 1:
        return _NONE, _NONE
    points = tuple(sorted(found[0]))
    return (points, _NONE) if more > 0 else (_NONE, points)


def _count_gain_for_black(pattern: Pattern | None, answer: str) -> float | None:
    """Return by how many points an answer is better for Black than what is right."""
    if pattern is None or pattern.negated:
        return None
    right, came = {score_of(text) for text in examples(pattern.expression).texts}, score_of(answer)
    if came is None or len(right) != 1:
        return None
    wanted = right.pop()
    return None if wanted is None else came - wanted


def _regions(points: Iterable[Point]) -> list[set[Point]]:
    left, found = set(points), []
    while left:
        region, edge = set(), {left.pop()}
        while edge:
            region |= edge
            around = {
                (r + dr, c + dc) for r, c in edge for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1))
            }
            edge = around & left
            left -= edge
        found.append(region)
    return found


def _choices(regions: list[set[Point]], size: int) -> list[set[Point]]:
    """Return the unions of regions that have so many points."""
    if len(regions) > _MOST:
        return []
    return [
        set().union(*some)
        for count in range(1, len(regions) + 1)
        for some in combinations(regions, count)
        if sum(map(len, some)) == size
    ]
