"""The three methods of java-go.txt, on a bare board: ``isCaptured``, ``score`` and ``isLegal``.

The board knows no history, so ko is not judged here but in the game (:mod:`oracle.games.go`).
"""

from oracle.errors import VertexError
from oracle.explanation import (
    Explanation,
    Fact,
    Sentence,
    a_color,
    a_point,
    figure,
    number,
    numbers,
    points,
)
from oracle.position import BLACK, NAMES, WHITE, Point, Position, opponent, sides
from oracle.rules import go
from oracle.rules.flood import flood, neighbours, regions

SUBJECT, LIBERTY, TAKEN, TERRITORY = "?", "L", "x", "t"  # marks
_FEW = 4  # liberties, which are named one by one


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
        _, _, neutral = go.area(shape, black, white)
        return not bit & neutral
    dead_black, dead_white = go.find_captured_of_both(shape, black, white)
    return bool(bit & (dead_black | dead_white))


def prisoners_and_territory(position: Position, color: int) -> tuple[int, int]:
    """Return the masks of the opponent's stones to be taken off and of the territory after it."""
    return go.prisoners_and_territory(position.grid, *sides(position, color))


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
    return go.is_legal(position.grid, *sides(position, color), bit)


def explain_captured(position: Position, point: Point) -> Explanation:
    """Return the chain and its liberties, or the region and the colors it touches."""
    shape, bit, color = position.grid, _bit(position, point), position.color_at(point)
    if bit & position.empty:
        region = flood(shape, bit, position.empty)
        beside = neighbours(shape, region) & ~region
        colors = tuple(one for one in (BLACK, WHITE) if beside & position.stones(one))
        whose = "stones of both colors" if colors else "no stone"
        if len(colors) == 1:
            whose = f"{NAMES[colors[0]]} stones only"
        size = number("points", region.bit_count(), "empty point")
        where = ("The region of ", a_point("point", point), " (", size, ") touches ")
        end = ": captured, as territory." if len(colors) == 1 else ": not captured."
        sentence = Sentence("region", *where, Fact("colors", colors, whose), end)
        return Explanation([sentence], _marks(position, {SUBJECT: region}))
    chain = flood(shape, bit, position.stones(color))
    free = go.liberties(shape, chain, position.black | position.white)
    size = number("stones", chain.bit_count(), "stone")
    chain_at = (a_color("color", color), " chain at ", a_point("point", point))
    who = ("The ", *chain_at, " (", size, ")")
    end = ": not captured." if free else ": captured."
    sentence = Sentence("chain", *who, " has ", *_liberties(position, free), end)
    return Explanation([sentence], _marks(position, {LIBERTY: free, SUBJECT: chain}))


def explain_score(position: Position, color: int) -> Explanation:
    """Return the prisoners, the regions of territory, and their sum."""
    dead, own = prisoners_and_territory(position, color)
    sizes = sorted(region.bit_count() for region in regions(position.grid, own))
    sentences = []
    if count := dead.bit_count():
        stones = number("prisoners", count, f"{NAMES[opponent(color)]} stone")
        what = " has no liberty: a prisoner" if count == 1 else " have no liberty: prisoners"
        sentences.append(Sentence("prisoners", stones, what, ", taken off the board."))
    sentences.append(_territory(sizes, color))
    parts = (figure("prisoners", count), " + ", figure("territory", own.bit_count()))
    who, total = a_color("color", color, is_first=True), figure("total", count + own.bit_count())
    sentences.append(Sentence("score", who, "'s score is ", *parts, " = ", total, "."))
    return Explanation(sentences, _marks(position, {TERRITORY: own, TAKEN: dead}))


def explain_legal(position: Position, point: Point, color: int) -> Explanation:
    """Return what stands on the point, or the liberties and captures of a stone there."""
    bit = _bit(position, point)
    if not bit & position.empty:
        stone = a_color("stone", position.color_at(point))
        parts = (a_point("point", point), " is occupied by a ", stone, " stone: not legal.")
        return Explanation([Sentence("occupied", *parts)])
    shape, (mine, theirs) = position.grid, sides(position, color)
    dead = go.find_taken(shape, mine, theirs, bit)
    free = go.liberties(shape, flood(shape, bit, mine), mine | theirs | bit)
    who = ("A ", a_color("color", color), " stone at ", a_point("point", point), " ")
    if dead:
        stones = number("taken", dead.bit_count(), f"{NAMES[opponent(color)]} stone")
        sentence = Sentence("move", *who, "takes ", stones, ": legal.")
    else:
        end = ": legal." if free else " and takes nothing: self capture, not legal."
        sentence = Sentence("move", *who, "has ", *_liberties(position, free), end)
    return Explanation([sentence], _marks(position, {LIBERTY: free, TAKEN: dead, SUBJECT: bit}))


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


def _liberties(position: Position, liberties: int) -> list[str | Fact]:
    """Return how many, and which when they are few."""
    if not liberties:
        return [Fact("liberties", 0, "no liberty")]
    many = number("liberties", liberties.bit_count(), "liberty", "liberties")
    if liberties.bit_count() > _FEW:
        return [many]
    return [many, " (", points("which", position.grid.points(liberties)), ")"]


def _territory(sizes: list[int], color: int) -> Sentence:
    who = a_color("color", color)
    if not sizes:
        return Sentence("no territory", "No empty region touches ", who, " stones only.")
    found = number("regions", len(sizes), "empty region touches", "empty regions touch")
    end = " point." if sizes == [1] else " points."
    return Sentence("territory", found, " ", who, " stones only: ", numbers("sizes", sizes), end)


def _marks(position: Position, masks: dict[str, int]) -> dict[Point, str]:
    """Return the marks of some masks; of two on one point, the later counts."""
    return {point: mark for mark, mask in masks.items() for point in position.grid.points(mask)}
