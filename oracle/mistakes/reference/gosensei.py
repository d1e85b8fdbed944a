"""The three options of gosensei.txt in parts: what an eye is, what counts, what a file says."""

from __future__ import annotations

from oracle.answers import gosensei as answers
from oracle.boards import Snapshot, SnapshotChoice, decode, read_bytes
from oracle.boards.gosensei import read_gosensei
from oracle.errors import FormatError
from oracle.gtp import common
from oracle.mistakes.bank import Route, part
from oracle.rules import go as rules
from oracle.rules.flood import regions

TYPE_CHECKING = False

if TYPE_CHECKING:
    from oracle.gtp.common import Reader
    from oracle.gtp.gosensei import GosenseiSession
    from oracle.gtp.protocol import Command
    from oracle.position import Grid, Position


# --- eyes and two eyes -------------------------------------------------------------------------


@part()
def eyes(session: GosenseiSession, shape: Grid, mine: int, theirs: int) -> int:
    """Return the eyes, which two eyes hang on as well."""
    return int(rules.eyes(shape, mine, theirs))


@part(eyes)
def number_of_eyes(session: GosenseiSession, position: Position) -> int:
    """Return how many eyes there are."""
    return _eyes_of(session, position).bit_count()


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


def _eyes_of(session: GosenseiSession, position: Position) -> int:
    return int(eyes(session, position.grid, position.black, position.white))


# --- eye spaces --------------------------------------------------------------------------------


@part()
def spaces(session: GosenseiSession, position: Position) -> list[int]:
    """Return the points of each eye space."""
    found = rules.eye_spaces(position.grid, position.black, position.white)
    return list(regions(position.grid, found))


@part()
def worth(session: GosenseiSession, space: int) -> int:
    """Return what an eye space counts."""
    return 1


@part(spaces, worth)
def number_of_spaces(session: GosenseiSession, position: Position) -> int:
    """Return how many eye spaces there are."""
    return sum(worth(session, space) for space in spaces(session, position))


# --- board files -------------------------------------------------------------------------------


@part()
def text(session: GosenseiSession, content: str) -> str:
    """Return the text that a board file is read as."""
    return content


def _reader(session: GosenseiSession) -> Reader:
    """Return how the session reads the bytes of a board file."""

    def read(data: bytes, file: str | None, choice: SnapshotChoice | None) -> Snapshot:
        return read_gosensei(text(session, decode(data)).encode(), file)

    return read


# --- commands ----------------------------------------------------------------------------------


def _eyes(right: Command, session: GosenseiSession, words: list[str]) -> str:
    return answers.eyes_sentence(number_of_eyes(session, session.game.position))


def _two_eyes(right: Command, session: GosenseiSession, words: list[str]) -> str:
    return answers.two_eyes_sentence(number_of_two_eyes(session, session.game.position))


def _eye_spaces(right: Command, session: GosenseiSession, words: list[str]) -> str:
    return answers.eye_spaces_sentence(number_of_spaces(session, session.game.position))


def _load_board(right: Command, session: GosenseiSession, words: list[str]) -> str:
    common.load_board(session, words, _reader(session))
    return ""


def _is_valid(right: Command, session: GosenseiSession, words: list[str]) -> str:
    path = common.filename(words)
    try:
        _reader(session)(read_bytes(path, session.folder), path, None)
    except FormatError:
        return "false"
    return "true"


ROUTES = {
    "eyes": Route(_eyes, (number_of_eyes,)),
    "twoeyes": Route(_two_eyes, (number_of_two_eyes,)),
    "eyespaces": Route(_eye_spaces, (number_of_spaces,)),
    "load_board": Route(_load_board, (text,)),
    "is_valid": Route(_is_valid, (text,)),
}
