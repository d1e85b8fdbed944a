"""The three options of gosensei.txt: ``-eyes``, ``-twoeyes`` and ``-eyespaces``.

The document asks for Black; every function answers for either color.
"""

from __future__ import annotations

from oracle.explanation import Explanation, Fact, Sentence, a_color, a_point, number, points
from oracle.position import BLACK, NAMES, SENSEI_LETTERS, Point, Position, opponent, sides
from oracle.rules import go as rules
from oracle.rules.flood import flood, flood_diagonally, neighbours, regions
from oracle.sentences import listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sized

    Find = Callable[[Position, int], Sized]
    Say = Callable[..., str]
    Explain = Callable[..., Explanation]
    EachReading = Callable[..., dict[str, int]]

_LINES = ("rows", "columns")
_REACH = 2  # rows or columns in which two eyes are near each other
EYE, FALSE_EYE, MISSING, SPACE, NO_SPACE = "e", "f", "!", "s", "n"  # marks


def eyes(position: Position, color: int = BLACK) -> list[Point]:
    """Return the eyes, by gosensei.txt, "-eyes Options"."""
    return position.grid.points(rules.eyes(position.grid, *sides(position, color)))


def two_eyes(position: Position, color: int = BLACK) -> list[Point]:
    """Return the eyes that have another within two rows or two columns ("-twoeyes Options")."""
    return position.grid.points(rules.two_eyes(position.grid, *sides(position, color)))


def eye_spaces(position: Position, color: int = BLACK) -> list[list[Point]]:
    """Return the points of each eye space, by gosensei.txt, "-eyespaces Options"."""
    shape = position.grid
    spaces = rules.eye_spaces(position.grid, *sides(position, color))
    return [shape.points(space) for space in regions(shape, spaces)]


def eyes_sentence(number: int, color: int = BLACK) -> str:
    """Return the sentence for a number of eyes, to the letter."""
    name = NAMES[color]
    return f"There is 1 eye for {name}." if number == 1 else f"There are {number} eyes for {name}."


def two_eyes_sentence(number: int, color: int = BLACK) -> str:
    """Return the sentence for a number of two eyes, to the letter: the odd plural is meant."""
    name = NAMES[color]
    if number == 1:
        return f"There is 1 two eye for {name}."
    return f"There are {number} two eye for {name}s."


def eye_spaces_sentence(number: int, color: int = BLACK) -> str:
    """Return the sentence for a number of eye spaces, to the letter."""
    name = NAMES[color]
    if number == 1:
        return f"There is 1 eyespace for {name}."
    return f"There are {number} eyespaces for {name}."


def explain_eyes(position: Position, color: int = BLACK) -> Explanation:
    """Return the eyes, and of every false eye the diagonals that are missing."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    found = rules.eyes(shape, mine, theirs)
    false = position.empty & ~neighbours(shape, shape.full & ~mine) & ~found
    sentences = [Sentence("eyes", "Eyes: ", _names("eyes", eyes(position, color)), ".")]
    marks: dict[Point, str] = {}
    for point in shape.points(false):
        row, column = point
        around = [(row + up, column + right) for up in (-1, 1) for right in (-1, 1)]
        missing = [p for p in around if p in shape and position.color_at(p) != color]
        corners = (" is false: ", _names("corners", missing), " are not ", a_color("color", color))
        sentences.append(Sentence("false eye", _name("point", point), *corners, "."))
        marks |= {point: FALSE_EYE, **dict.fromkeys(missing, MISSING)}
    marks |= dict.fromkeys(shape.points(found), EYE)  # an eye may be a corner missing to another
    return Explanation(sentences, marks)


def explain_two_eyes(position: Position, color: int = BLACK) -> Explanation:
    """Return for each eye the nearest that makes it count, or that none does."""
    every, close = eyes(position, color), two_eyes(position, color)
    heading = Sentence("eyes", "Eyes that have another near: ", _names("eyes", close), ".")
    within = Fact("within", _LINES, f"{_REACH} rows or {_REACH} columns")
    alone = [
        Sentence("alone", _name("point", point), " has no other eye within ", within, ".")
        for point in every
        if point not in close
    ]
    together = [_company(point, close) for point in close]
    return Explanation([heading, *alone, *together], dict.fromkeys(close, EYE))


def explain_eye_spaces(position: Position, color: int = BLACK) -> Explanation:
    """Return each space's size, and why each other region that touches the color is not one."""
    shape, mine = position.grid, position.stones(color)
    spaces = eye_spaces(position, color)
    sentences = [Sentence("eye spaces", number("spaces", len(spaces), "eye space"), ".")]
    marks = {point: SPACE for space in spaces for point in space}
    for region in regions(shape, position.empty):
        found = shape.points(region)
        size = number("points", len(found), "point")
        name = ("The region of ", _name("point", found[0]), " (", size, ")")
        if found in spaces:
            sentences.append(Sentence("eye space", *name, " is surrounded by one chain."))
        elif neighbours(shape, region) & mine:
            why = _why_open(position, region, color)
            sentences.append(Sentence("no eye space", *name, " is not an eye space: ", *why, "."))
            marks |= dict.fromkeys(found, NO_SPACE)
    return Explanation(sentences, marks)


def readings_eyes(position: Position, color: int = BLACK) -> dict[str, int]:
    """Return the one number: the definition of an eye leaves nothing open."""
    return {"definition": len(eyes(position, color))}


def readings_two_eyes(position: Position, color: int = BLACK) -> dict[str, int]:
    """Return the numbers by the letter ("2 rows or 2 columns") and by the example (and)."""
    close = rules.close_two_eyes(position.grid, *sides(position, color)).bit_count()
    return {"rows or columns": len(two_eyes(position, color)), "rows and columns": close}


def readings_eye_spaces(position: Position, color: int = BLACK) -> dict[str, int]:
    """Return the numbers with and without single points, and with diagonal links or not."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    numbers = {}
    for link, connect in (("rows and columns", flood), ("diagonals too", flood_diagonally)):
        spaces = rules.eye_spaces(shape, mine, theirs, connect)
        larger = rules.larger_than_one(shape, spaces)
        numbers[f"stones connect along {link}"] = _parts(position, spaces)
        numbers[f"stones connect along {link}; a single point is none"] = _parts(position, larger)
    return numbers


def _name(name: str, point: Point) -> Fact:
    return a_point(name, point, SENSEI_LETTERS)


def _names(name: str, vertices: list[Point]) -> Fact:
    return points(name, vertices, SENSEI_LETTERS)


def _parts(position: Position, mask: int) -> int:
    return sum(1 for _ in regions(position.grid, mask))


def _company(point: Point, close: list[Point]) -> Sentence:
    """Return the sentence that names the nearest eye within two rows or two columns."""
    distances = [
        (abs(other[0] - point[0]), abs(other[1] - point[1]), other)
        for other in close
        if other != point
    ]
    near = [found for found in distances if min(found[:2]) <= _REACH]
    rows, columns, other = min(near, key=lambda found: found[0] + found[1])
    lines = [name for name, gap in zip(_LINES, (rows, columns), strict=True) if gap <= _REACH]
    within = Fact("within", tuple(lines), listing([f"{_REACH} {name}" for name in lines]))
    end = (" is within ", within, " of ", _name("other", other), ".")
    return Sentence("together", _name("point", point), *end)


def _why_open(position: Position, region: int, color: int) -> list[str | Fact]:
    """Return why a region that touches this color is not an eye space."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    beside = neighbours(shape, region)
    if beside & theirs:
        return ["it touches ", a_color("color", opponent(color)), " stones too"]
    chains = sum(1 for chain in regions(shape, mine) if chain & beside)
    return ["the stones around it are ", number("chains", chains, "separate chain")]


# By name: what is found, the sentence for its number, why it is so, and the numbers by reading.
OPTIONS: dict[str, tuple[Find, Say, Explain, EachReading]] = {
    "eyes": (eyes, eyes_sentence, explain_eyes, readings_eyes),
    "twoeyes": (two_eyes, two_eyes_sentence, explain_two_eyes, readings_two_eyes),
    "eyespaces": (eye_spaces, eye_spaces_sentence, explain_eye_spaces, readings_eye_spaces),
}
