"""The three options of gosensei.txt in parts, and mistakes in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from oracle.answers import gosensei as answers
from oracle.assignments import told_by
from oracle.boards import read_text
from oracle.boards.gosensei import parse_gosensei
from oracle.errors import FormatError
from oracle.gtp import common
from oracle.gtp.gosensei import GosenseiSession
from oracle.gtp.protocol import Command
from oracle.mistakes.bank import EnginePart, Route, Shelf, part
from oracle.position import BLACK, WHITE, Grid, Position
from oracle.rules import go as rules
from oracle.rules.flood import edge, flood_diagonally, neighbours, regions

EyeRule = Callable[[Grid, int, int], int]
Number = Callable[[Position], int]

# --- the right answers -------------------------------------------------------------------------

# The eyes, which two eyes hang on as well.
eyes = EnginePart(lambda _, shape, mine, theirs: rules.eyes(shape, mine, theirs))


def _eyes_of(session: GosenseiSession, position: Position) -> int:
    return int(eyes(session, position.grid, position.black, position.white))


number_of_eyes = EnginePart(
    lambda session, position: _eyes_of(session, position).bit_count(), (eyes,)
)


@part()
def near(session: GosenseiSession, shape: Grid, mask: int) -> int:
    """Return those of the eyes that have another near them."""
    by = rules.company(shape, mask, 2, shape.columns)
    by |= rules.company(shape, mask, shape.rows, 2)
    return mask & by


@part(eyes, near)
def number_of_two_eyes(session: GosenseiSession, position: Position) -> int:
    """Return how many two eyes there are."""
    return int(near(session, position.grid, _eyes_of(session, position)).bit_count())


@part()
def spaces(session: GosenseiSession, position: Position) -> list[int]:
    """Return the points of each eye space."""
    found = rules.eye_spaces(position.grid, position.black, position.white)
    return list(regions(position.grid, found))


worth = EnginePart(lambda _, space: 1)  # what an eye space counts


@part(spaces, worth)
def number_of_spaces(session: GosenseiSession, position: Position) -> int:
    """Return how many eye spaces there are."""
    return sum(worth(session, space) for space in spaces(session, position))


text = EnginePart(lambda _, content: content)  # what a board file is read as


def _parse(session: GosenseiSession, content: str, file: str) -> Position:
    """Return how the session reads a board file."""
    return parse_gosensei(text(session, content), file)


def _say(number: EnginePart, sentence: Callable[[int], str]) -> Route:
    """Return a command that answers with the sentence for a number."""
    return Route(
        lambda session, words: sentence(number(session, session.game.position)), (number,)
    )


def _is_valid(session: GosenseiSession, words: list[str]) -> str:
    path = common.filename(words)
    try:
        _parse(session, read_text(path, session.folder), path)
    except FormatError:
        return "false"
    return "true"


SHELF = Shelf(
    "gosensei",
    {
        "eyes": _say(number_of_eyes, answers.eyes_sentence),
        "twoeyes": _say(number_of_two_eyes, answers.two_eyes_sentence),
        "eyespaces": _say(number_of_spaces, answers.eye_spaces_sentence),
        "load_board": Route(
            lambda session, words: common.load_board(
                session, words, "gosensei", partial(_parse, session)
            ),
            (text,),
        ),
        "is_valid": Route(_is_valid, (text,)),
    },
)
mistake = SHELF.mistake


def surrounded(shape: Grid, mine: int, theirs: int) -> int:
    """Return the empty points all of whose neighbors are of one color."""
    foreign = shape.full & ~mine
    return foreign & ~theirs & ~neighbours(shape, foreign)


def corners_not_mine(shape: Grid, mine: int, board: int) -> list[int]:
    """Return for each diagonal the points that miss a stone there, if it lies on ``board``."""
    foreign, up = board & ~mine, shape.stride
    return [foreign >> up >> 1, foreign >> up << 1, foreign << up >> 1, foreign << up << 1]


# --- eyes --------------------------------------------------------------------------------------

SHELF.add_rows(
    (eyes, "eyes-without-diagonals", "As if diagonal neighbors did not matter to an eye.",
     surrounded),
)  # fmt: skip


@mistake(eyes)
def all_diagonals_needed(shape: Grid, mine: int, theirs: int) -> int:
    """As if no diagonal neighbor of an eye might be missing."""
    missing = corners_not_mine(shape, mine, shape.full)
    return surrounded(shape, mine, theirs) & ~(missing[0] | missing[1] | missing[2] | missing[3])


@mistake(eyes)
def two_diagonals_may_miss(shape: Grid, mine: int, theirs: int) -> int:
    """As if two diagonal neighbors of an eye might be missing."""
    one, two, three, four = corners_not_mine(shape, mine, shape.full)
    several = one & two & (three | four) | three & four & (one | two)
    return surrounded(shape, mine, theirs) & ~several


@mistake(eyes)
def edge_eyes_need_all_diagonals(right: EyeRule, shape: Grid, mine: int, theirs: int) -> int:
    """As if no diagonal neighbor might be missing at the edge of the board."""
    inner = shape.full & ~edge(shape)
    return right(shape, mine, theirs) & inner | all_diagonals_needed(shape, mine, theirs) & ~inner


@mistake(eyes)
def beyond_the_edge_is_missing(right: EyeRule, shape: Grid, mine: int, theirs: int) -> int:
    """As if diagonal points beyond the edge of the board were missing."""
    return right(shape, mine, theirs) & ~edge(shape)


@mistake(eyes)
def only_inner_neighbors(shape: Grid, mine: int, theirs: int) -> int:
    """As if a point at the edge were surrounded when all but one of its neighbors are."""
    foreign = shape.full & ~mine
    one, two = foreign << 1 | foreign >> 1, foreign << shape.stride | foreign >> shape.stride
    both = one & two | foreign << 1 & foreign >> 1
    both |= foreign << shape.stride & foreign >> shape.stride
    near = (one | two) & ~edge(shape) | both & edge(shape)
    return foreign & ~theirs & ~near & ~rules.false_corners(shape, mine)


@mistake(eyes)
def missing_diagonal_must_be_empty(right: EyeRule, shape: Grid, mine: int, theirs: int) -> int:
    """As if a missing diagonal neighbor might be empty, but not white."""
    one, two, three, four = corners_not_mine(shape, ~theirs, theirs)
    return right(shape, mine, theirs) & ~(one | two | three | four)


SHELF.add_rows(
    (number_of_eyes, "white-eyes-too", "As if White's eyes were counted too.",
     lambda right, position: right(position) + len(answers.eyes(position, WHITE))),
)  # fmt: skip


@mistake(number_of_eyes)
def stones_are_eyes(right: Number, position: Position) -> int:
    """As if a black point in the middle of black stones were an eye."""
    shape, black = position.grid, position.black
    foreign = shape.full & ~black
    full = black & ~neighbours(shape, foreign) & ~rules.false_corners(shape, black)
    return right(position) + full.bit_count()


# --- two eyes ----------------------------------------------------------------------------------

SHELF.add_rows(
    (near, "two-eyes-by-distance-1", "As if two eyes had to be within one row and column.",
     lambda shape, mask: mask & rules.company(shape, mask, 1, 1)),
    (near, "two-eyes-by-distance-3", "As if two eyes might be three rows and columns apart.",
     lambda shape, mask: mask & rules.company(shape, mask, 3, 3)),
    (near, "every-eye-is-two-eyes",
     "As if every eye were one of two eyes, wherever the others are.",
     lambda shape, mask: mask),
    (near, "all-eyes-when-two-exist",
     "As if all eyes were two eyes when there are at least two of them.",
     lambda shape, mask: mask if mask.bit_count() > 1 else 0),
    (number_of_two_eyes, "two-eyes-divided-by-two",
     "As if two eyes were counted in pairs: the number is divided by two.",
     lambda right, position: right(position) // 2),
    (near, "two-eyes-in-one-line", "As if two eyes had to be in one row or one column.",
     lambda shape, mask: (
         mask & (rules.company(shape, mask, 2, 0) | rules.company(shape, mask, 0, 2)))),
)  # fmt: skip

# --- eye spaces --------------------------------------------------------------------------------


@mistake(spaces)
def spaces_touching_white(position: Position) -> list[int]:
    """As if an eye space might touch white stones."""
    by_black, _ = rules.reach(position.grid, position.black, position.white)
    return list(regions(position.grid, by_black & position.empty))


@mistake(spaces)
def spaces_of_several_chains(position: Position) -> list[int]:
    """As if the stones around an eye space need not be connected."""
    by_black, by_white = rules.reach(position.grid, position.black, position.white)
    return list(regions(position.grid, by_black & position.empty & ~by_white))


SHELF.add_rows(
    (number_of_spaces, "outside-is-a-space", "As if the empty points outside were an eye space.",
     lambda right, position: right(position) + bool(position.empty & edge(position.grid))),
    (number_of_spaces, "empty-board-is-a-space", "As if the empty board were an eye space.",
     lambda right, position: right(position) if position.black or position.white else 1),
    (worth, "points-of-spaces", "As if the points of eye spaces were counted, not the spaces.",
     lambda space: space.bit_count()),
    (spaces, "spaces-at-the-edge-missed",
     "As if an eye space could not lie at the edge of the board.",
     lambda right, position: [
         space for space in right(position) if not space & edge(position.grid)]),
)  # fmt: skip


@mistake(spaces)
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


@mistake(spaces)
def white_spaces_too(right: Callable[[Position], list[int]], position: Position) -> list[int]:
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
    SHELF.add(*told_by(function), {text: lambda right, content: function(right(content))})


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

    def is_good(line: str) -> bool:
        try:
            parse_gosensei(line)
        except FormatError:
            return False
        return True

    return "\n".join(filter(is_good, text.splitlines()))


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
    rows = session.game.position.to_rows()
    turned = session.new_game(Position.from_rows(rows[::-1]), BLACK)
    game, session.game = session.game, turned
    answer = right(session, words)
    session.game = game
    return answer


@mistake("display")
def picture_without_columns(right: Command, session: GosenseiSession, words: list[str]) -> str:
    """As if the picture had no letters below it."""
    return right(session, words).partition("\n\n")[0]
