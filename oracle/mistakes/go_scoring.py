"""The ``score`` of go-scoring.txt in parts, and mistakes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from oracle.answers.go_scoring import NEUTRAL, Region, empty_regions
from oracle.errors import GtpError
from oracle.gtp import protocol
from oracle.gtp.go import GoSession
from oracle.gtp.protocol import Command
from oracle.komi import exact, plain_text
from oracle.mistakes.bank import EnginePart, Hang, Route, Shelf, keep_captured, last_state, part
from oracle.position import BLACK, WHITE, Point, Position, opponent

Around = Callable[[Position, Point], Iterator[Point]]
SIGNS = {BLACK: 1, WHITE: -1, NEUTRAL: 0}

# --- the right score: points are above 0 for Black, below 0 for White --------------------------

stones = EnginePart(lambda _, position: position.black.bit_count() - position.white.bit_count())
regions = EnginePart(lambda _, position: empty_regions(position))  # by their lowest point
# The worth of a region that touches one color, or none, and of one that touches both.
owned = EnginePart(lambda _, position, region: SIGNS[region.owner] * len(region.points))
shared = EnginePart(lambda _, position, region: 0)


@part(owned, shared)
def worth(session: GoSession, position: Position, region: Region) -> int:
    """Return the worth of a region."""
    kind = shared if region.borders[BLACK] and region.borders[WHITE] else owned
    return int(kind(session, position, region))


territory = EnginePart(
    lambda session, position: sum(
        worth(session, position, region) for region in regions(session, position)
    ),
    (regions, worth),
)
lead = EnginePart(
    lambda session, position: stones(session, position) + territory(session, position),
    (stones, territory),
)
komi = EnginePart(lambda _, value: value)  # what is taken from Black's lead, told the komi
number = EnginePart(lambda _, value: plain_text(abs(value)))  # a lead without its color
draw = EnginePart(lambda _: "0")


@part(number, draw)
def text(session: GoSession, value: Decimal) -> str:
    """Return the text of Black's lead."""
    if not value:
        return str(draw(session))
    return ("B+" if value > 0 else "W+") + str(number(session, value))


def score(session: GoSession, words: list[str]) -> str:
    """Answer by the parts."""
    on_board = lead(session, session.game.position)
    return str(text(session, exact().subtract(on_board, komi(session, session.komi))))


SCORE = ("score", "final_score")
SHELF = Shelf("go-scoring", dict.fromkeys(SCORE, Route(score, (lead, komi, text))))
mistake = SHELF.mistake

# --- neutral points ----------------------------------------------------------------------------

SHELF.add_rows(
    (shared, "neutral-points-to-white", "As if neutral points were White's.",
     lambda position, region: -len(region.points)),
    (shared, "neutral-points-to-black", "As if neutral points were Black's.",
     lambda position, region: len(region.points)),
)  # fmt: skip


@mistake(shared)
def neutral_points_to_first_neighbor(position: Position, region: Region) -> int:
    """As if a region belonged to the first stone found next to it, whatever else it touches."""
    sides = (position.color_at(p) for point in region.points for p in beside(position, point))
    first = next(color for color in sides if color)
    return SIGNS[first] * len(region.points)


@mistake(shared)
def neutral_points_to_majority(position: Position, region: Region) -> int:
    """As if a region belonged to the color that has more stones around it."""
    more = len(region.borders[BLACK]) - len(region.borders[WHITE])
    return (more > 0) * len(region.points) - (more < 0) * len(region.points)


# --- regions -----------------------------------------------------------------------------------

SHELF.add_rows(
    (owned, "single-points-only", "As if only regions of a single point were territory.",
     lambda right, position, region: (
         right(position, region) if len(region.points) == 1 else 0)),
    (owned, "region-once-for-every-stone",
     "As if a region counted once for every stone that touches it.",
     lambda right, position, region: (
         right(position, region) * sum(map(len, region.borders.values())))),
    (owned, "region-is-one-point", "As if a region were worth one point, whatever its size.",
     lambda position, region: SIGNS[region.owner]),
    (owned, "border-regions-dropped", "As if regions at the edge of the board were nobody's.",
     lambda right, position, region: (
         right(position, region)
         if all(0 < x < position.grid.rows - 1 for point in region.points for x in point) else 0)),
    (territory, "single-region-counts-nothing",
     "As if a board with a single empty region had no territory.",
     lambda right, position: right(position) if len(empty_regions(position)) > 1 else 0),
    (regions, "only-first-region",
     "As if only the first region found, from A1 on, were territory.",
     lambda right, position: right(position)[:1]),
    (territory, "empty-board-to-white", "As if the empty board were White's.",
     lambda right, position: (
         right(position) if position.black or position.white
         else -position.empty.bit_count())),
)  # fmt: skip


@mistake(*SCORE)
def fill_never_ends_on_empty_board(right: Command, session: GoSession, words: list[str]) -> str:
    """As if the search for a stone went on forever when there is none: no answer."""
    if session.game.position.black or session.game.position.white:
        return right(session, words)
    raise Hang


# --- connection --------------------------------------------------------------------------------


def regions_by(position: Position, around: Around) -> list[Region]:
    """Return the empty regions when ``around`` tells which points are connected."""
    found, left = [], set(position.grid.points(position.empty))
    for first in sorted(left):
        if first in left:
            left.remove(first)
            points = [first]
            for point in points:  # which grows under way
                new = left.intersection(around(position, point))
                left -= new
                points += new
            beside = {near for point in points for near in around(position, point)}
            colors = {near: position.color_at(near) for near in beside}
            borders = {
                color: [p for p in colors if colors[p] == color] for color in (BLACK, WHITE)
            }
            found.append(Region(points, borders))
    return found


def beside(position: Position, point: Point) -> Iterator[Point]:
    """Yield the neighbors on the board: left, right, below, above."""
    row, column = point
    four = ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column))
    return (near for near in four if near in position.grid)


def diagonally_too(position: Position, point: Point) -> Iterator[Point]:
    """Yield the neighbors and the diagonal ones."""
    row, column = point
    square = ((row + up, column + right) for up in (-1, 0, 1) for right in (-1, 0, 1))
    return (near for near in square if near != point and near in position.grid)


def over_the_edge(position: Position, point: Point) -> Iterator[Point]:
    """Yield the neighbors, with each row and column bent to a ring."""
    (row, column), shape = point, position.grid
    for up, right in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        yield (row + up) % shape.rows, (column + right) % shape.columns


SHELF.add_rows(
    (regions, "diagonal-fill", "As if diagonal neighbors were connected.",
     lambda position: regions_by(position, diagonally_too)),
    (regions, "wrap-around", "As if points at opposite edges of the board were neighbors.",
     lambda position: regions_by(position, over_the_edge)),
)  # fmt: skip

# --- points and komi ---------------------------------------------------------------------------

SHELF.add_rows(
    (regions, "ko-point-not-counted",
     "As if the point of a ko, where nobody may take back at once, were not empty.",
     lambda right, session, position: [
         one for one in right(session, position) if session.game.ko not in one.points]),
    (stones, "stones-not-counted", "As if stones on the board were no points.",
     lambda position: 0),
    (territory, "territory-not-counted", "As if empty points were no points.",
     lambda position: 0),
    (lead, "colors-exchanged", "As if Black's points were White's and White's were Black's.",
     lambda right, position: -right(position)),
    (lead, "wrong-at-size-2", "As if a board of 2 by 2 had no points.",
     lambda right, position: right(position) if position.grid.rows > 2 else 0),
    (komi, "komi-to-black", "As if the komi were Black's.", lambda value: -value),
    (komi, "komi-twice", "As if the komi were added twice.", lambda value: 2 * value),
    (komi, "komi-ignored", "As if the komi were 0.", lambda value: 0),
    (komi, "komi-cut-to-whole", "As if the komi were a whole number: its fraction is cut off.",
     lambda session, value: int(value)),
    (komi, "negative-komi-ignored", "As if a komi below 0 were 0.", lambda value: max(value, 0)),
)  # fmt: skip


# "You can assume that each test case will set the komi through the GTP command."
@mistake("clear_board", "boardsize", is_open=True)
def komi_lost_with_board(right: Command, session: GoSession, words: list[str]) -> str:
    """As if a new board set the komi to 0."""
    session.komi = 0
    return right(session, words)


# --- text --------------------------------------------------------------------------------------

SHELF.add_rows(
    (number, "integer-division", "As if the score were a whole number: its fraction is cut off.",
     lambda value: plain_text(abs(value)).partition(".")[0]),
    (text, "minus-sign", "As if White's lead were written with a minus sign, W+-3.",
     lambda right, value: right(value).replace("W+", "W+-") if value else right(value)),
    (draw, "draw-with-fraction", "As if a draw were written 0.0.", lambda: "0.0"),
    (draw, "draw-with-winner", "As if a draw were won by 0 points.", lambda: "W+0"),
)  # fmt: skip

# --- the board and what is kept ----------------------------------------------------------------


@mistake(*SCORE)
def board_changed_by_score(right: Command, session: GoSession, words: list[str]) -> str:
    """As if score might write on the board: what it has visited is no longer empty."""
    answer = right(session, words)
    for region in empty_regions(session.game.position):
        for point in region.points:
            now = last_state(session)
            now.position = now.position.place(point, region.owner or WHITE)
    return answer


@mistake(lead)
def points_add_up(right: Callable[..., int], session: GoSession, position: Position) -> int:
    """As if the points of one score were counted in the next one too."""
    memory = session.commands.memory  # type: ignore[attr-defined]
    memory["lead"] = memory.get("lead", 0) + right(session, position)
    return int(memory["lead"])


SHELF.add_rows(
    ("clear_board", "state-kept-after-clear-board",
     "As if clear_board left the stones on the board.",
     lambda session, words: ""),
    ("play", "captured-stones-stay", "As if captured stones stayed on the board.", keep_captured),
)  # fmt: skip


@mistake("play")
def colors_must_alternate(right: Command, session: GoSession, words: list[str]) -> str:
    """As if a color could not play twice in a row."""
    moves = session.game.moves
    if moves and moves[-1][0] != opponent(protocol.color(words, 0)):
        raise GtpError("wrong color")
    return right(session, words)
