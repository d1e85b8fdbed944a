"""The ``score`` of go-scoring.txt: area scoring with komi, and its reasons."""

from __future__ import annotations

from oracle.color import BLACK, NAMES, WHITE
from oracle.explanation import Explanation, count, listing
from oracle.komi import exact, plain_text, result_text
from oracle.rules import area
from oracle.rules.flood import neighbours, regions
from oracle.vertex import Point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

    from oracle.komi import Komi
    from oracle.position import Position

NEUTRAL = 0  # the owner of points that count for nobody
OWNER_MARKS = ("n", "b", "w")  # by owner, on empty points


class Region:
    """A connected set of empty points.

    Attributes: ``points``; ``borders``, by color the stones next to it (an empty list where none
    is); ``owner``, ``BLACK``, ``WHITE`` or ``NEUTRAL``.
    """

    __slots__ = ("borders", "owner", "points")

    def __init__(self, points: list[Point], borders: dict[int, list[Point]]) -> None:
        self.points = points
        self.borders = borders
        touching = [color for color, stones in borders.items() if stones]
        self.owner = touching[0] if len(touching) == 1 else NEUTRAL


def score(position: Position, komi: Komi = 0) -> Decimal:
    """Return Black's points minus White's and the komi, exactly."""
    return exact().subtract(area.score(position.grid, position.black, position.white), komi)


def answer(position: Position, komi: Komi = 0) -> str:
    """Return ``B+n``, ``W+n`` or ``0``, as go-scoring.txt, "GTP Command for Scoring" has it."""
    return result_text(area.score(position.grid, position.black, position.white), komi)


def owners(position: Position) -> dict[Point, int]:
    """Return who counts each point of the board: ``BLACK``, ``WHITE`` or ``NEUTRAL``."""
    black, white, neutral = area.area(position.grid, position.black, position.white)
    owned = ((BLACK, black), (WHITE, white), (NEUTRAL, neutral))
    return {point: owner for owner, mask in owned for point in position.grid.points(mask)}


def empty_regions(position: Position) -> list[Region]:
    """Return the empty regions with what borders them, by their lowest point."""
    shape = position.grid
    found = []
    for region in regions(shape, position.empty):
        beside = neighbours(shape, region)
        borders = {
            color: shape.points(beside & position.stones(color)) for color in (BLACK, WHITE)
        }
        found.append(Region(shape.points(region), borders))
    return found


def explain(position: Position, komi: Komi = 0) -> Explanation:
    """Return the count of both colors and of the regions that count for nobody."""
    found = empty_regions(position)
    sentences = [_count(position, found, color, komi) for color in (BLACK, WHITE)]
    sentences += _nobodys(found)
    sentences.append(f"The score is {answer(position, komi)}.")
    marks = {point: OWNER_MARKS[region.owner] for region in found for point in region.points}
    return Explanation(" ".join(sentences), marks)


def readings(position: Position, komi: Komi = 0) -> dict[str, str]:
    """Return the one answer that the document and its settlement leave: nothing is open."""
    return {"area": answer(position, komi)}


def _count(position: Position, found: list[Region], color: int, komi: Komi) -> str:
    """Return the sentence that adds up one color's points."""
    stones = position.stones(color).bit_count()
    sizes = [len(region.points) for region in found if region.owner == color]
    terms = [count(stones, "stone"), _territory(sizes)]
    total: Komi = stones + sum(sizes)
    if color == WHITE and komi:
        terms.append(f"komi {plain_text(komi)}")
        total = exact().add(total, komi)
    return f"{NAMES[color].capitalize()}: {' + '.join(terms)} = {plain_text(total)}."


def _territory(sizes: list[int]) -> str:
    """Return, for example, ``9 points in 3 regions (1, 3 and 5)``."""
    points = count(sum(sizes), "point")
    if not sizes:
        return f"{points} of territory"
    if len(sizes) == 1:
        return f"{points} in 1 region"
    return f"{points} in {len(sizes)} regions ({listing([str(size) for size in sorted(sizes)])})"


def _nobodys(found: list[Region]) -> list[str]:
    """Return a sentence about the regions that count for nobody, if there are any."""
    both = [region for region in found if region.owner == NEUTRAL and region.borders[BLACK]]
    if both:
        points = sum(len(region.points) for region in both)
        regions_text = count(len(both), "empty region touches", "empty regions touch")
        return [f"{regions_text} both colors: {count(points, 'point')} for nobody."]
    if any(region.owner == NEUTRAL for region in found):
        return ["There is no stone, so the empty board counts for nobody."]
    return []
