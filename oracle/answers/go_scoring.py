"""The ``score`` of go-scoring.txt: area scoring with komi, and its reasons."""

from __future__ import annotations

from oracle.explanation import Explanation, Fact, Sentence, a_color, figure, number, numbers
from oracle.komi import as_komi, exact, plain_text, result_text
from oracle.position import BLACK, WHITE, Point, Position
from oracle.rules import go
from oracle.rules.flood import neighbours, regions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

    from oracle.komi import AnyKomi, Komi

NEUTRAL = 0  # the owner of points that count for nobody
OWNER_MARKS = ("n", "b", "w")  # by owner, on empty points


class Region:
    """A connected set of empty points.

    Attributes: ``points``; ``borders``, by color the stones next to it (an empty list where none
    is); ``owner``, ``BLACK``, ``WHITE`` or ``NEUTRAL``.
    """

    def __init__(self, points: list[Point], borders: dict[int, list[Point]]) -> None:
        self.points = points
        self.borders = borders
        touching = [color for color, stones in borders.items() if stones]
        self.owner = touching[0] if len(touching) == 1 else NEUTRAL


def score(position: Position, komi: AnyKomi = 0) -> Decimal:
    """Return Black's points minus White's and the komi, exactly."""
    points = go.score(position.grid, position.black, position.white)
    return exact().subtract(points, as_komi(komi))


def answer(position: Position, komi: AnyKomi = 0) -> str:
    """Return ``B+n``, ``W+n`` or ``0``, as go-scoring.txt, "GTP Command for Scoring" has it."""
    points = go.score(position.grid, position.black, position.white)
    return result_text(points, as_komi(komi))


def owners(position: Position) -> dict[Point, int]:
    """Return who counts each point of the board: ``BLACK``, ``WHITE`` or ``NEUTRAL``."""
    black, white, neutral = go.area(position.grid, position.black, position.white)
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


def explain(position: Position, komi: AnyKomi = 0) -> Explanation:
    """Return the count of both colors and of the regions that count for nobody."""
    found, komi = empty_regions(position), as_komi(komi)
    sentences = [_count(position, found, color, komi) for color in (BLACK, WHITE)]
    nobodys = [region for region in found if region.owner == NEUTRAL]
    if both := [region for region in nobodys if region.borders[BLACK]]:
        touching = number("regions", len(both), "empty region touches", "empty regions touch")
        points = number("points", sum(len(region.points) for region in both), "point")
        parts = (touching, " both colors: ", points, " for nobody.")
        sentences.append(Sentence("neutral", *parts))
    elif nobodys:
        text = "There is no stone, so the empty board counts for nobody."
        sentences.append(Sentence("empty board", text))
    result = figure("score", answer(position, komi))
    sentences.append(Sentence("score", "The score is ", result, "."))
    marks = {point: OWNER_MARKS[region.owner] for region in found for point in region.points}
    return Explanation(sentences, marks)


def readings(position: Position, komi: AnyKomi = 0) -> dict[str, str]:
    """Return the one answer that the document and its settlement leave: nothing is open."""
    return {"area": answer(position, komi)}


def _count(position: Position, regions: list[Region], color: int, komi: Komi) -> Sentence:
    """Return the sentence that adds up one color's points."""
    stones = position.stones(color).bit_count()
    sizes = sorted(len(region.points) for region in regions if region.owner == color)
    terms = [number("stones", stones, "stone"), " + ", *_territory(sizes)]
    total: Komi = stones + sum(sizes)
    if color == WHITE and komi:
        terms += [" + komi ", Fact("komi", komi, plain_text(komi))]
        total = exact().add(total, komi)
    who, whole = a_color("color", color, is_first=True), Fact("total", total, plain_text(total))
    return Sentence("count", who, ": ", *terms, " = ", whole, ".")


def _territory(sizes: list[int]) -> list[str | Fact]:
    """Return, for example, ``9 points in 3 regions (1, 3 and 5)``."""
    points = number("points", sum(sizes), "point")
    if not sizes:
        return [points, " of territory"]
    found: list[str | Fact] = [points, " in ", number("regions", len(sizes), "region")]
    return [*found, " (", numbers("sizes", sizes), ")"] if len(sizes) > 1 else found
