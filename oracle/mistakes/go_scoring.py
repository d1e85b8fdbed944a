"""Mistakes in the ``score`` of go-scoring.txt."""

from __future__ import annotations

from functools import partial

from oracle.answers.go_scoring import Region, empty_regions
from oracle.errors import GtpError
from oracle.gtp import protocol
from oracle.komi import plain_text
from oracle.mistakes.bank import Hang, Shelf
from oracle.mistakes.reference import go as parts
from oracle.mistakes.reference.go import SIGNS
from oracle.position import BLACK, WHITE, Point, Position, opponent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from decimal import Decimal

    from oracle.gtp.go import GoSession
    from oracle.gtp.protocol import Command
    from oracle.komi import Komi

    Around = Callable[[Position, Point], Iterator[Point]]
    Worth = Callable[[Position, Region], int]
    Lead = Callable[[Position], int]

SHELF = Shelf("go-scoring", parts.ROUTES)
mistake = SHELF.mistake
SCORE = ("score", "final_score")

# Points are above 0 for Black, below 0 for White.
lead = SHELF.rule(parts.lead)
stone_points = SHELF.rule(parts.stones)
territory = SHELF.rule(parts.territory)
regions = SHELF.rule(parts.regions)
owned = SHELF.rule(parts.owned)
shared = SHELF.rule(parts.shared)
komi = SHELF.rule(parts.komi)
text = SHELF.rule(parts.text)
number = SHELF.rule(parts.number)
draw = SHELF.rule(parts.draw)


# --- neutral points ----------------------------------------------------------------------------


@shared
def neutral_points_to_white(position: Position, region: Region) -> int:
    """As if neutral points were White's."""
    return -len(region.points)


@shared
def neutral_points_to_black(position: Position, region: Region) -> int:
    """As if neutral points were Black's."""
    return len(region.points)


@shared
def neutral_points_to_first_neighbor(position: Position, region: Region) -> int:
    """As if a region belonged to the first stone found next to it, whatever else it touches."""
    sides = (position.color_at(p) for point in region.points for p in beside(position, point))
    first = next(color for color in sides if color)
    return SIGNS[first] * len(region.points)


@shared
def neutral_points_to_majority(position: Position, region: Region) -> int:
    """As if a region belonged to the color that has more stones around it."""
    more = len(region.borders[BLACK]) - len(region.borders[WHITE])
    return (more > 0) * len(region.points) - (more < 0) * len(region.points)


# --- regions -----------------------------------------------------------------------------------


@owned
def single_points_only(right: Worth, position: Position, region: Region) -> int:
    """As if only regions of a single point were territory."""
    return right(position, region) if len(region.points) == 1 else 0


@owned
def region_once_for_every_stone(right: Worth, position: Position, region: Region) -> int:
    """As if a region counted once for every stone that touches it."""
    return right(position, region) * sum(map(len, region.borders.values()))


@owned
def region_is_one_point(position: Position, region: Region) -> int:
    """As if a region were worth one point, whatever its size."""
    return SIGNS[region.owner]


@owned
def border_regions_dropped(right: Worth, position: Position, region: Region) -> int:
    """As if regions at the edge of the board were nobody's."""
    last = position.grid.rows - 1
    is_inside = all(0 < x < last for point in region.points for x in point)
    return right(position, region) if is_inside else 0


@territory
def single_region_counts_nothing(right: Lead, position: Position) -> int:
    """As if a board with a single empty region had no territory."""
    return right(position) if len(empty_regions(position)) > 1 else 0


@regions
def only_first_region(
    right: Callable[[Position], list[Region]], position: Position
) -> list[Region]:
    """As if only the first region found, from A1 on, were territory."""
    return right(position)[:1]


@territory
def empty_board_to_white(right: Lead, position: Position) -> int:
    """As if the empty board were White's."""
    is_empty = not (position.black or position.white)
    return -position.empty.bit_count() if is_empty else right(position)


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
            points = _connected(first, left, partial(around, position))
            beside = {near for point in points for near in around(position, point)}
            found.append(_region(position, points, beside))
    return found


def _connected(
    first: Point, left: set[Point], around: Callable[[Point], Iterator[Point]]
) -> list[Point]:
    """Take a point and all that is connected with it out of ``left``, and return them."""
    left.remove(first)
    points = [first]
    for point in points:  # which grows under way
        new = left.intersection(around(point))
        left -= new
        points += new
    return points


def _region(position: Position, points: list[Point], border: set[Point]) -> Region:
    colors = {near: position.color_at(near) for near in border}
    borders = {color: [p for p in colors if colors[p] == color] for color in (BLACK, WHITE)}
    return Region(points, borders)


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


@regions
def diagonal_fill(position: Position) -> list[Region]:
    """As if diagonal neighbors were connected."""
    return regions_by(position, diagonally_too)


@regions
def wrap_around(position: Position) -> list[Region]:
    """As if points at opposite edges of the board were neighbors."""
    return regions_by(position, over_the_edge)


# --- points ------------------------------------------------------------------------------------


@mistake(parts.regions)
def ko_point_not_counted(
    right: Callable[..., list[Region]], session: GoSession, position: Position
) -> list[Region]:
    """As if the point of a ko, where nobody may take back at once, were not empty."""
    return [one for one in right(session, position) if session.game.ko not in one.points]


@stone_points
def stones_not_counted(position: Position) -> int:
    """As if stones on the board were no points."""
    return 0


@territory
def territory_not_counted(position: Position) -> int:
    """As if empty points were no points."""
    return 0


@lead
def colors_exchanged(right: Lead, position: Position) -> int:
    """As if Black's points were White's and White's were Black's."""
    return -right(position)


@lead
def wrong_at_size_2(right: Lead, position: Position) -> int:
    """As if a board of 2 by 2 had no points."""
    return right(position) if position.grid.rows > 2 else 0


# --- komi --------------------------------------------------------------------------------------


@komi
def komi_to_black(value: Komi) -> Komi:
    """As if the komi were Black's."""
    return -value


@komi
def komi_twice(value: Komi) -> Komi:
    """As if the komi were added twice."""
    return 2 * value


@komi
def komi_ignored(value: Komi) -> Komi:
    """As if the komi were 0."""
    return 0


@komi
def komi_cut_to_whole(value: Komi) -> Komi:
    """As if the komi were a whole number: its fraction is cut off."""
    return int(value)


@komi
def negative_komi_ignored(value: Komi) -> Komi:
    """As if a komi below 0 were 0."""
    return max(value, 0)


# "You can assume that each test case will set the komi through the GTP command."
@mistake("clear_board", "boardsize", is_open=True)
def komi_lost_with_board(right: Command, session: GoSession, words: list[str]) -> str:
    """As if a new board set the komi to 0."""
    session.komi = 0
    return right(session, words)


# --- text --------------------------------------------------------------------------------------


@number
def integer_division(value: Decimal) -> str:
    """As if the score were a whole number: its fraction is cut off."""
    return plain_text(abs(value)).partition(".")[0]


@text
def minus_sign(right: Callable[[Decimal], str], value: Decimal) -> str:
    """As if White's lead were written with a minus sign, W+-3."""
    return right(value).replace("W+", "W+-") if value else right(value)


@draw
def draw_with_fraction() -> str:
    """As if a draw were written 0.0."""
    return "0.0"


@draw
def draw_with_winner() -> str:
    """As if a draw were won by 0 points."""
    return "W+0"


# --- the board and what is kept ----------------------------------------------------------------


@mistake(*SCORE)
def board_changed_by_score(right: Command, session: GoSession, words: list[str]) -> str:
    """As if score might write on the board: what it has visited is no longer empty."""
    answer = right(session, words)
    for region in empty_regions(session.game.position):
        for point in region.points:
            color = region.owner or WHITE
            now = session.game._states[-1]
            now.position = now.position.place(point, color)
    return answer


@mistake(parts.lead)
def points_add_up(right: Callable[..., int], session: GoSession, position: Position) -> int:
    """As if the points of one score were counted in the next one too."""
    memory = session.commands.memory  # type: ignore[attr-defined]
    memory["lead"] = memory.get("lead", 0) + right(session, position)
    return int(memory["lead"])


@mistake("clear_board")
def state_kept_after_clear_board(session: GoSession, words: list[str]) -> str:
    """As if clear_board left the stones on the board."""
    return ""


@mistake("play")
def captured_stones_stay(right: Command, session: GoSession, words: list[str]) -> str:
    """As if captured stones stayed on the board."""
    before = session.game.position
    answer = right(session, words)
    color, point = protocol.color(words, 0), protocol.move(words, 1)
    if point is not None:
        session.game._states[-1].position = before.place(point, color)
    return answer


@mistake("play")
def colors_must_alternate(right: Command, session: GoSession, words: list[str]) -> str:
    """As if a color could not play twice in a row."""
    moves = session.game.moves
    if moves and moves[-1][0] != opponent(protocol.color(words, 0)):
        raise GtpError("wrong color")
    return right(session, words)
