"""Going on with a position from a file: ``loadsgf`` and what other such commands need."""

from __future__ import annotations

from oracle.errors import FormatError, GtpError, IllegalMove
from oracle.gtp import arguments
from oracle.gtp.protocol import is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Session


def loadsgf(session: Session, words: list[str]) -> str:
    """FILE [MOVE]: load a game record, up to before a move.

    Source: GTP version 2, section 6.3.4 *loadsgf*. A name with blanks may stand in quotes.
    """
    move = None
    if len(words) > 1 and is_number(words[-1]):
        move = max(arguments.integer(words, len(words) - 1) - 1, 0)
        words = words[:-1]
    load(session, words, "sgf", move)
    return ""


def load(session: Session, words: list[str], form: str, move: int | None = None) -> None:
    """Go on with the position in a file; raises :class:`GtpError` and keeps the game if it can't.

    ``form`` is one of the names in :data:`oracle.formats.FORMATS`.
    """
    from oracle.formats import Choice, read_position

    choice = Choice(move=move, game=session.record)
    try:
        snapshot = read_position(filename(words), form, choice)
        if session.record is None and snapshot.game == "gomoku":
            raise FormatError("it is a game of Gomoku, GM[4]")
        session.resume(snapshot)
    except (FormatError, IllegalMove) as error:
        raise GtpError(f"cannot load file: {'; '.join(str(error).splitlines())}") from None


def filename(words: list[str]) -> str:
    """Return the name of a file from a command's arguments: it may have blanks."""
    name = " ".join(words)
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = name[1:-1]
    if not name:
        raise GtpError(arguments.SYNTAX)
    return f"./{name}" if name == "-" else name  # "-" would be the commands' own input


COMMANDS: Table = {"loadsgf": loadsgf}
