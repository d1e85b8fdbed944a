"""Mistakes in the ``score`` of go-scoring.txt."""

from __future__ import annotations

from oracle.answers.go_scoring import NEUTRAL, empty_regions
from oracle.answers.go_scoring import score as right_score
from oracle.color import BLACK, WHITE, opponent
from oracle.errors import GtpError
from oracle.gtp import arguments
from oracle.komi import plain_text, result_text
from oracle.mistakes.bank import Hang, Shelf
from oracle.rules import area

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from decimal import Decimal

    from oracle.answers.go_scoring import Region
    from oracle.gtp.go import GoSession
    from oracle.gtp.protocol import Command
    from oracle.komi import Komi
    from oracle.position import Position
    from oracle.vertex import Point

    Around = Callable[[Position, Point], Iterator[Point]]

SHELF = Shelf("go-scoring")
mistake = SHELF.mistake
SCORE = ("score", "final_score")
SIGNS = {BLACK: 1, WHITE: -1, NEUTRAL: 0}


# --- kinds of mistakes -------------------------------------------------------------------------


def lead(function: Callable[[Position], int]) -> None:
    """Register another way to count Black's points minus White's on the board."""

    def score(right: Command, session: GoSession, words: list[str]) -> str:
        return result_text(function(session.game.position), session.komi)

    SHELF.add(function, dict.fromkeys(SCORE, score))


def worth(function: Callable[[Position, Region], int]) -> None:
    """Register another worth of an empty region: above 0 for Black, below 0 for White."""

    def counted(position: Position) -> int:
        regions = sum(function(position, region) for region in empty_regions(position))
        return stones(position) + regions

    counted.__name__, counted.__doc__ = function.__name__, function.__doc__
    lead(counted)


def komi(function: Callable[[Komi], Komi]) -> None:
    """Register another use of the komi, which is taken from Black's lead."""

    def score(right: Command, session: GoSession, words: list[str]) -> str:
        position = session.game.position
        on_board = area.score(position.grid, position.black, position.white)
        return result_text(on_board, function(session.komi))

    SHELF.add(function, dict.fromkeys(SCORE, score))


def text(function: Callable[[Decimal], str]) -> None:
    """Register another way to write Black's lead."""

    def score(right: Command, session: GoSession, words: list[str]) -> str:
        return function(right_score(session.game.position, session.komi))

    SHELF.add(function, dict.fromkeys(SCORE, score))


def stones(position: Position) -> int:
    """Return Black's stones minus White's."""
    return position.black.bit_count() - position.white.bit_count()


def usual(region: Region) -> int:
    """Return what a region is worth in truth."""
    return SIGNS[region.owner] * len(region.points)


def is_shared(region: Region) -> bool:
    """Whether a region touches both colors."""
    return bool(region.borders[BLACK] and region.borders[WHITE])


# --- neutral points ----------------------------------------------------------------------------


@worth
def neutral_points_to_white(position: Position, region: Region) -> int:
    """As if neutral points were White's."""
    return -len(region.points) if is_shared(region) else usual(region)


@worth
def neutral_points_to_black(position: Position, region: Region) -> int:
    """As if neutral points were Black's."""
    return len(region.points) if is_shared(region) else usual(region)


@worth
def neutral_points_to_first_neighbor(position: Position, region: Region) -> int:
    """As if a region belonged to the first stone found next to it, whatever else it touches."""
    sides = (position.color_at(p) for point in region.points for p in beside(position, point))
    first = next((color for color in sides if color), NEUTRAL)
    return SIGNS[first] * len(region.points)


@worth
def neutral_points_to_majority(position: Position, region: Region) -> int:
    """As if a region belonged to the color that has more stones around it."""
    more = len(region.borders[BLACK]) - len(region.borders[WHITE])
    return (more > 0) * len(region.points) - (more < 0) * len(region.points)


# --- regions -----------------------------------------------------------------------------------


@worth
def single_points_only(position: Position, region: Region) -> int:
    """As if only regions of a single point were territory."""
    return usual(region) if len(region.points) == 1 else 0


@worth
def region_once_for_every_stone(position: Position, region: Region) -> int:
    """As if a region counted once for every stone that touches it."""
    return usual(region) * sum(map(len, region.borders.values()))


@worth
def region_is_one_point(position: Position, region: Region) -> int:
    """As if a region were worth one point, whatever its size."""
    return SIGNS[region.owner]


@worth
def border_regions_dropped(position: Position, region: Region) -> int:
    """As if regions at the edge of the board were nobody's."""
    last = position.grid.rows - 1
    return usual(region) if all(0 < x < last for point in region.points for x in point) else 0


@lead
def single_region_counts_nothing(position: Position) -> int:
    """As if a board with a single empty region had no territory."""
    regions = empty_regions(position)
    return stones(position) + (sum(map(usual, regions)) if len(regions) > 1 else 0)


@lead
def only_first_region(position: Position) -> int:
    """As if only the first region found, from A1 on, were territory."""
    return stones(position) + sum(map(usual, empty_regions(position)[:1]))


@lead
def empty_board_to_white(position: Position) -> int:
    """As if the empty board were White's."""
    if position.black or position.white:
        return area.score(position.grid, position.black, position.white)  # type: ignore[no-any-return]
    return -position.empty.bit_count()


@mistake(*SCORE)
def fill_never_ends_on_empty_board(right: Command, session: GoSession, words: list[str]) -> str:
    """As if the search for a stone went on forever when there is none: no answer."""
    if session.game.position.black or session.game.position.white:
        return right(session, words)
    raise Hang


# --- connection --------------------------------------------------------------------------------


def filled(position: Position, around: Around) -> int:
    """Return the lead when ``around`` tells which points are connected."""
    points = stones(position)
    left = set(position.grid.points(position.empty))
    while left:
        region, colors, todo = 0, set(), [left.pop()]
        while todo:
            region += 1
            for point in around(position, todo.pop()):
                if point in left:
                    left.remove(point)
                    todo.append(point)
                colors.add(position.color_at(point))
        colors.discard(0)
        points += region * SIGNS[colors.pop()] if len(colors) == 1 else 0
    return points


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


@lead
def diagonal_fill(position: Position) -> int:
    """As if diagonal neighbors were connected."""
    return filled(position, diagonally_too)


@lead
def wrap_around(position: Position) -> int:
    """As if points at opposite edges of the board were neighbors."""
    return filled(position, over_the_edge)


# --- points ------------------------------------------------------------------------------------


@mistake(*SCORE)
def ko_point_not_counted(right: Command, session: GoSession, words: list[str]) -> str:
    """As if the point of a ko, where nobody may take back at once, were not empty."""
    game = session.game
    counted = [one for one in empty_regions(game.position) if game.ko not in one.points]
    return result_text(stones(game.position) + sum(map(usual, counted)), session.komi)


@lead
def stones_not_counted(position: Position) -> int:
    """As if stones on the board were no points."""
    return sum(map(usual, empty_regions(position)))


@lead
def territory_not_counted(position: Position) -> int:
    """As if empty points were no points."""
    return stones(position)


@lead
def colors_exchanged(position: Position) -> int:
    """As if Black's points were White's and White's were Black's."""
    return -area.score(position.grid, position.black, position.white)  # type: ignore[no-any-return]


@lead
def wrong_at_size_2(position: Position) -> int:
    """As if a board of 2 by 2 had no points."""
    if position.grid.rows == 2:
        return 0
    return area.score(position.grid, position.black, position.white)  # type: ignore[no-any-return]


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


def signed(value: Decimal) -> str:
    """Return the color's letter and the size of its lead."""
    return ("B+" if value > 0 else "W+") + plain_text(abs(value))


@text
def integer_division(value: Decimal) -> str:
    """As if the score were a whole number: its fraction is cut off."""
    return signed(value).partition(".")[0] if value else "0"


@text
def minus_sign(value: Decimal) -> str:
    """As if White's lead were written with a minus sign, W+-3."""
    return signed(value).replace("W+", "W+-") if value else "0"


@text
def draw_with_fraction(value: Decimal) -> str:
    """As if a draw were written 0.0."""
    return signed(value) if value else "0.0"


@text
def draw_with_winner(value: Decimal) -> str:
    """As if a draw were won by 0 points."""
    return signed(value)


# --- the board and what is kept ----------------------------------------------------------------


@mistake(*SCORE)
def board_changed_by_score(right: Command, session: GoSession, words: list[str]) -> str:
    """As if score might write on the board: what it has visited is no longer empty."""
    answer = right(session, words)
    for region in empty_regions(session.game.position):
        for point in region.points:
            color = region.owner or WHITE
            now = session.game._states[-1]
            now.position = now.position.placed(point, color)
    return answer


@mistake(*SCORE)
def points_add_up(right: Command, session: GoSession, words: list[str]) -> str:
    """As if the points of one score were counted in the next one too."""
    position, memory = session.game.position, session.commands.memory  # type: ignore[attr-defined]
    memory["lead"] = memory.get("lead", 0) + stones(position)
    memory["lead"] += sum(map(usual, empty_regions(position)))
    return result_text(memory["lead"], session.komi)


@mistake("clear_board")
def state_kept_after_clear_board(right: Command, session: GoSession, words: list[str]) -> str:
    """As if clear_board left the stones on the board."""
    return ""


@mistake("play")
def captured_stones_stay(right: Command, session: GoSession, words: list[str]) -> str:
    """As if captured stones stayed on the board."""
    before = session.game.position
    answer = right(session, words)
    color, point = arguments.color(words, 0), arguments.move(words, 1)
    if point is not None:
        session.game._states[-1].position = before.placed(point, color)
    return answer


@mistake("play")
def colors_must_alternate(right: Command, session: GoSession, words: list[str]) -> str:
    """As if a color could not play twice in a row."""
    moves = session.game.moves
    if moves and moves[-1][0] != opponent(arguments.color(words, 0)):
        raise GtpError("wrong color")
    return right(session, words)
