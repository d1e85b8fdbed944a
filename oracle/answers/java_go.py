"""The three methods of java-go.txt, on a bare board: ``isCaptured``, ``score`` and ``isLegal``.

The board knows no history, so ko is not judged here but in the game (:mod:`oracle.games.go`).
"""

from __future__ import annotations

from oracle.color import BLACK, NAMES, opponent
from oracle.errors import VertexError
from oracle.explanation import Explanation, count, listing
from oracle.rules import area, capture
from oracle.rules.flood import flood, neighbours, regions
from oracle.vertex import Point, vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.position import Position

SUBJECT, LIBERTY, TAKEN, TERRITORY = "?", "L", "x", "t"  # marks


def is_captured(position: Position, point: Point) -> bool:
    """Return whether a point is captured, "either as territory or as a prisoner".

    A stone is when its chain has no liberty; an empty point when its region touches stones of one
    color only (an empty board is nobody's territory).

    Source: java-go.txt, "Specific Requirements", settled by the harness's specification.
    Raises :class:`VertexError` for a point that is not on the board, as all functions here do.
    """
    bit = _bit(position, point)
    shape, (black, white) = position.grid, (position.black, position.white)
    if bit & position.empty:
        _, _, neutral = area.area(shape, black, white)
        return not bit & neutral
    dead_black, dead_white = capture.captured_of_both(shape, black, white)
    return bool(bit & (dead_black | dead_white))


def prisoners_and_territory(position: Position, color: int) -> tuple[int, int]:
    """Return the masks of the opponent's stones to be taken off and of the territory after it."""
    mine, theirs = position.stones(color), position.stones(opponent(color))
    return area.prisoners_and_territory(position.grid, mine, theirs)


def score(position: Position, color: int) -> int:
    """Return the points of one color: its prisoners and its territory.

    A stone that is captured and still lies on the board is worth two, itself and its point.

    Source: java-go.txt, "Scoring": "Each empty space surrounded by one colour is counted toward
    the score along with each prisoner."
    """
    return sum(points.bit_count() for points in prisoners_and_territory(position, color))


def is_legal(position: Position, point: Point, color: int) -> bool:
    """Return whether the point is empty and a stone there has a liberty or captures.

    Source: java-go.txt, "Self Capture".
    """
    bit = _bit(position, point)
    mine, theirs = position.stones(color), position.stones(opponent(color))
    return capture.is_legal(position.grid, mine, theirs, bit)


def explain_captured(position: Position, point: Point) -> Explanation:
    """Return the chain and its liberties, or the region and the colors it touches."""
    if _bit(position, point) & position.empty:
        return _explain_region(position, point)
    return _explain_chain(position, point)


def explain_score(position: Position, color: int) -> Explanation:
    """Return the prisoners, the regions of territory, and their sum."""
    shape, name = position.grid, NAMES[color].capitalize()
    dead, own = prisoners_and_territory(position, color)
    total = dead.bit_count() + own.bit_count()
    sentences = [_prisoners(dead, color)] if dead else []
    sentences += [
        _territory([region.bit_count() for region in regions(shape, own)], color),
        f"{name}'s score is {dead.bit_count()} + {own.bit_count()} = {total}.",
    ]
    return Explanation(" ".join(sentences), _marks(position, {TERRITORY: own, TAKEN: dead}))


def explain_legal(position: Position, point: Point, color: int) -> Explanation:
    """Return what stands on the point, or the liberties and captures of a stone there."""
    bit = _bit(position, point)
    if not bit & position.empty:
        stone = NAMES[position.color_at(point)]
        return Explanation(f"{vertex(point)} is occupied by a {stone} stone: not legal.")
    shape, mine = position.grid, position.stones(color)
    theirs = position.stones(opponent(color))
    dead = capture.taken(shape, mine, theirs, bit)
    free = capture.liberties(shape, flood(shape, bit, mine), mine | theirs | bit)
    text = f"A {NAMES[color]} stone at {vertex(point)} {_effect(position, free, dead, color)}"
    return Explanation(text, _marks(position, {LIBERTY: free, TAKEN: dead, SUBJECT: bit}))


def readings_captured(position: Position, point: Point) -> dict[str, bool]:
    """Return the one answer: the settlement leaves nothing open."""
    return {"settled": is_captured(position, point)}


def readings_score(position: Position, color: int) -> dict[str, int]:
    """Return the one answer: the settlement leaves nothing open."""
    return {"settled": score(position, color)}


def readings_legal(position: Position, point: Point, color: int) -> dict[str, bool]:
    """Return the one answer: the settlement leaves nothing open (ko is the game's)."""
    return {"settled": is_legal(position, point, color)}


def _bit(position: Position, point: Point) -> int:
    shape = position.grid
    if point not in shape:
        size = f"{shape.columns} columns and {shape.rows} rows"
        raise VertexError(f"no point {point} (row, column, from 0) on a board of {size}")
    return shape.bit(point)


def _explain_chain(position: Position, point: Point) -> Explanation:
    shape, color = position.grid, position.color_at(point)
    chain = flood(shape, shape.bit(point), position.stones(color))
    free = capture.liberties(shape, chain, position.black | position.white)
    who = f"The {NAMES[color]} chain at {vertex(point)} ({count(chain.bit_count(), 'stone')})"
    if free:
        text = f"{who} has {_liberties(position, free)}: not captured."
    else:
        text = f"{who} has no liberty: captured."
    return Explanation(text, _marks(position, {LIBERTY: free, SUBJECT: chain}))


def _explain_region(position: Position, point: Point) -> Explanation:
    shape = position.grid
    region = flood(shape, shape.bit(point), position.empty)
    beside = neighbours(shape, region) & ~region
    colors = [color for color in (BLACK, opponent(BLACK)) if beside & position.stones(color)]
    size = count(region.bit_count(), "empty point")
    where = f"The region of {vertex(point)} ({size}) touches"
    if len(colors) == 1:
        text = f"{where} {NAMES[colors[0]]} stones only: captured, as territory."
    else:
        text = f"{where} {'stones of both colors' if colors else 'no stone'}: not captured."
    return Explanation(text, _marks(position, {SUBJECT: region}))


def _effect(position: Position, free: int, dead: int, color: int) -> str:
    """Return what a stone does that has these liberties and takes these stones."""
    if dead:
        stones = count(dead.bit_count(), f"{NAMES[opponent(color)]} stone")
        return f"takes {stones}: legal."
    if free:
        return f"has {_liberties(position, free)}: legal."
    return "has no liberty and takes nothing: self capture, not legal."


def _liberties(position: Position, free: int) -> str:
    """Return how many, and which when they are few."""
    names = [vertex(point) for point in position.grid.points(free)]
    number = count(len(names), "liberty", "liberties")
    return f"{number} ({listing(names)})" if len(names) <= 4 else number


def _prisoners(dead: int, color: int) -> str:
    stones = count(dead.bit_count(), f"{NAMES[opponent(color)]} stone")
    what = "has no liberty: a prisoner" if dead.bit_count() == 1 else "have no liberty: prisoners"
    return f"{stones} {what}, taken off the board."


def _territory(sizes: list[int], color: int) -> str:
    if not sizes:
        return f"No empty region touches {NAMES[color]} stones only."
    verb = "touches" if len(sizes) == 1 else "touch"
    which = listing([str(size) for size in sorted(sizes)])
    points = "point" if sizes == [1] else "points"
    return (
        f"{count(len(sizes), 'empty region')} {verb} {NAMES[color]} stones only: {which} {points}."
    )


def _marks(position: Position, masks: dict[str, int]) -> dict[Point, str]:
    """Return the marks of some masks; of two on one point, the later counts."""
    return {point: mark for mark, mask in masks.items() for point in position.grid.points(mask)}
