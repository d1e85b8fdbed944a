"""Mistakes in the three options of gosensei.txt."""

from __future__ import annotations

from oracle.answers import gosensei as answers
from oracle.boards.gosensei import parse_gosensei
from oracle.errors import FormatError
from oracle.mistakes.bank import Shelf
from oracle.mistakes.reference import gosensei as parts
from oracle.position import BLACK, WHITE, Grid, Position
from oracle.rules import go as rules
from oracle.rules.flood import flood_diagonally, neighbours, regions
from oracle.rules.go import reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.gtp.gosensei import GosenseiSession
    from oracle.gtp.protocol import Command

    EyeRule = Callable[[Grid, int, int], int]
    Number = Callable[[Position], int]
    Spaces = Callable[[Position], list[int]]

SHELF = Shelf("gosensei", parts.ROUTES)
mistake = SHELF.mistake

eye = SHELF.rule(parts.eyes)
number_of_eyes = SHELF.rule(parts.number_of_eyes)
two_eyes = SHELF.rule(parts.near)  # told the eyes, returns those that count
number_of_two_eyes = SHELF.rule(parts.number_of_two_eyes)
spaces = SHELF.rule(parts.spaces)
worth_of_space = SHELF.rule(parts.worth)
number_of_spaces = SHELF.rule(parts.number_of_spaces)


def surrounded(shape: Grid, mine: int, theirs: int) -> int:
    """Return the empty points all of whose neighbors are of one color."""
    foreign = shape.full & ~mine
    return foreign & ~theirs & ~neighbours(shape, foreign)


def corners_not_mine(shape: Grid, mine: int, board: int) -> list[int]:
    """Return for each diagonal the points that miss a stone there, if it lies on ``board``."""
    foreign, up = board & ~mine, shape.stride
    return [foreign >> up >> 1, foreign >> up << 1, foreign << up >> 1, foreign << up << 1]


# --- eyes --------------------------------------------------------------------------------------


@eye
def eyes_without_diagonals(shape: Grid, mine: int, theirs: int) -> int:
    """As if diagonal neighbors did not matter to an eye."""
    return surrounded(shape, mine, theirs)


@eye
def all_diagonals_needed(shape: Grid, mine: int, theirs: int) -> int:
    """As if no diagonal neighbor of an eye might be missing."""
    missing = corners_not_mine(shape, mine, shape.full)
    return surrounded(shape, mine, theirs) & ~(missing[0] | missing[1] | missing[2] | missing[3])


@eye
def two_diagonals_may_miss(shape: Grid, mine: int, theirs: int) -> int:
    """As if two diagonal neighbors of an eye might be missing."""
    one, two, three, four = corners_not_mine(shape, mine, shape.full)
    several = one & two & (three | four) | three & four & (one | two)
    return surrounded(shape, mine, theirs) & ~several


@eye
def edge_eyes_need_all_diagonals(right: EyeRule, shape: Grid, mine: int, theirs: int) -> int:
    """As if no diagonal neighbor might be missing at the edge of the board."""
    inner = shape.full & ~edge(shape)
    return right(shape, mine, theirs) & inner | all_diagonals_needed(shape, mine, theirs) & ~inner


@eye
def beyond_the_edge_is_missing(right: EyeRule, shape: Grid, mine: int, theirs: int) -> int:
    """As if diagonal points beyond the edge of the board were missing."""
    return right(shape, mine, theirs) & ~edge(shape)


@eye
def only_inner_neighbors(shape: Grid, mine: int, theirs: int) -> int:
    """As if a point at the edge were surrounded when all but one of its neighbors are."""
    foreign = shape.full & ~mine
    one, two = foreign << 1 | foreign >> 1, foreign << shape.stride | foreign >> shape.stride
    both = one & two | foreign << 1 & foreign >> 1
    both |= foreign << shape.stride & foreign >> shape.stride
    near = (one | two) & ~edge(shape) | both & edge(shape)
    return foreign & ~theirs & ~near & ~rules.false_corners(shape, mine)


@eye
def missing_diagonal_must_be_empty(right: EyeRule, shape: Grid, mine: int, theirs: int) -> int:
    """As if a missing diagonal neighbor might be empty, but not white."""
    one, two, three, four = corners_not_mine(shape, ~theirs, theirs)
    return right(shape, mine, theirs) & ~(one | two | three | four)


def edge(shape: Grid) -> int:
    """Return the points at the edge of the board."""
    last = shape.rows - 1, shape.columns - 1
    return shape.mask(
        [p for p in shape.points(shape.full) if 0 in p or p[0] == last[0] or p[1] == last[1]]
    )


@number_of_eyes
def white_eyes_too(right: Number, position: Position) -> int:
    """As if White's eyes were counted too."""
    return right(position) + len(answers.eyes(position, WHITE))


@number_of_eyes
def stones_are_eyes(right: Number, position: Position) -> int:
    """As if a black point in the middle of black stones were an eye."""
    shape, black = position.grid, position.black
    foreign = shape.full & ~black
    full = black & ~neighbours(shape, foreign) & ~rules.false_corners(shape, black)
    return right(position) + full.bit_count()


# --- two eyes ----------------------------------------------------------------------------------


@two_eyes
def two_eyes_by_distance_1(shape: Grid, mask: int) -> int:
    """As if two eyes had to be within one row and column."""
    return mask & rules.company(shape, mask, 1, 1)


@two_eyes
def two_eyes_by_distance_3(shape: Grid, mask: int) -> int:
    """As if two eyes might be three rows and columns apart."""
    return mask & rules.company(shape, mask, 3, 3)


@two_eyes
def every_eye_is_two_eyes(shape: Grid, mask: int) -> int:
    """As if every eye were one of two eyes, wherever the others are."""
    return mask


@two_eyes
def all_eyes_when_two_exist(shape: Grid, mask: int) -> int:
    """As if all eyes were two eyes when there are at least two of them."""
    return mask if mask.bit_count() > 1 else 0


@number_of_two_eyes
def two_eyes_divided_by_two(right: Number, position: Position) -> int:
    """As if two eyes were counted in pairs: the number is divided by two."""
    return right(position) // 2


@two_eyes
def two_eyes_in_one_line(shape: Grid, mask: int) -> int:
    """As if two eyes had to be in one row or one column."""
    return mask & (rules.company(shape, mask, 2, 0) | rules.company(shape, mask, 0, 2))


# --- eye spaces --------------------------------------------------------------------------------


@spaces
def spaces_touching_white(position: Position) -> list[int]:
    """As if an eye space might touch white stones."""
    by_black, _ = reach(position.grid, position.black, position.white)
    return list(regions(position.grid, by_black & position.empty))


@spaces
def spaces_of_several_chains(position: Position) -> list[int]:
    """As if the stones around an eye space need not be connected."""
    by_black, by_white = reach(position.grid, position.black, position.white)
    return list(regions(position.grid, by_black & position.empty & ~by_white))


@number_of_spaces
def outside_is_a_space(right: Number, position: Position) -> int:
    """As if the empty points outside were an eye space."""
    return right(position) + bool(position.empty & edge(position.grid))


@number_of_spaces
def empty_board_is_a_space(right: Number, position: Position) -> int:
    """As if the empty board were an eye space."""
    return right(position) if position.black or position.white else 1


@worth_of_space
def points_of_spaces(space: int) -> int:
    """As if the points of eye spaces were counted, not the spaces."""
    return space.bit_count()


@spaces
def spaces_at_the_edge_missed(right: Spaces, position: Position) -> list[int]:
    """As if an eye space could not lie at the edge of the board."""
    return [space for space in right(position) if not space & edge(position.grid)]


@spaces
def spaces_joined_by_diagonals(position: Position) -> list[int]:
    """As if empty points were connected along diagonals too."""
    found, left = [], position.empty
    while left:
        region = flood_diagonally(position.grid, left & -left, left)
        left &= ~region
        beside = neighbours(position.grid, region)
        chains = [c for c in regions(position.grid, position.black) if c & beside]
        found += [region] if len(chains) == 1 and not beside & position.white else []
    return found


@spaces
def white_spaces_too(right: Spaces, position: Position) -> list[int]:
    """As if White's eye spaces were counted too."""
    white = rules.eye_spaces(position.grid, position.white, position.black)
    return [*right(position), *regions(position.grid, white)]


# --- sentences ---------------------------------------------------------------------------------


@mistake("eyes", "twoeyes", "eyespaces")
def no_plural(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if there were no plural: There is 2 eye."""
    answer = right(session, words)
    for many, one in (("There are", "There is"), (" eyes ", " eye "), ("spaces", "space")):
        answer = answer.replace(many, one)
    return answer


@mistake("eyes", "twoeyes", "eyespaces")
def always_plural(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if one were plural too: There are 1 eyes."""
    answer = right(session, words).replace("There is", "There are")
    return answer.replace("1 eye ", "1 eyes ").replace("eyespace ", "eyespaces ")


@mistake("eyes", "eyespaces")
def none_is_singular(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if none were singular: There is 0 eye."""
    answer = right(session, words)
    if "are 0" not in answer:
        return answer
    return answer.replace("are", "is").replace("eyes ", "eye ").replace("spaces", "space")


@mistake("twoeyes")
def two_eyes_in_good_english(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if the sentence on two eyes had no mistake: There are 2 two eyes for black."""
    return right(session, words).replace("eye for blacks", "eyes for black")


@mistake("eyes", "twoeyes", "eyespaces")
def no_full_stop(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if the sentences had no full stop."""
    return right(session, words).removesuffix(".")


# --- board files and pictures ------------------------------------------------------------------


def reading(function: Callable[[str], str]) -> None:
    """Register a program that reads a board file as if it were another text."""

    def text(right: Callable[..., str], session: GosenseiSession, content: str) -> str:
        return function(right(session, content))

    SHELF.add(function, {parts.text: text})


def _stones(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def _lines(stones: list[list[str]]) -> str:
    return "\n".join(map(" ".join, stones))


@reading
def capital_letters_refused(text: str) -> str:
    """As if capital letters were wrong in a board file."""
    return "".join("?" if letter.isupper() else letter for letter in text)


@reading
def columns_skip_i(text: str) -> str:
    """As if the ninth column of a board file were j, as in GTP."""
    return text.lower().replace("i", "?").replace("j", "i")


@reading
def row_before_column(text: str) -> str:
    """As if a row came before its column in a board file."""
    return _lines([[*s[:1], *reversed(s[1:])] for s in _stones(text)])


@reading
def second_stone_overwrites(text: str) -> str:
    """As if a second stone on a point replaced the first."""
    last = {tuple(s[1:]): s for s in _stones(text.lower())}
    return _lines(list(last.values()))


@reading
def second_stone_of_a_color_allowed(text: str) -> str:
    """As if two stones of one color might lie on one point."""
    return _lines(list({tuple(s): s for s in _stones(text.lower())}.values()))


@reading
def bad_lines_skipped(text: str) -> str:
    """As if lines with an error could be left out."""
    good = [line for line in text.splitlines() if _reads(line)]
    return "\n".join(good)


def _reads(line: str) -> bool:
    try:
        parse_gosensei(line)
    except FormatError:
        return False
    return True


@mistake("is_valid")
def checking_loads_the_board(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if checking a file changed the board, also when the file is wrong."""
    answer = right(session, words)
    if answer == "true":
        session.commands["load_board"](session, words)
    else:
        session.game = session.new_game(Position(session.game.position.grid), BLACK)
    return answer


@mistake("display")
def upside_down(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if row 1 were at the top."""
    position = session.game.position
    rows = position.to_rows()
    turned = session.new_game(Position.from_rows(rows[::-1]), BLACK)
    game, session.game = session.game, turned
    answer = right(session, words)
    session.game = game
    return answer


@mistake("display")
def picture_without_columns(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if the picture had no letters below it."""
    return right(session, words).partition("\n\n")[0]
