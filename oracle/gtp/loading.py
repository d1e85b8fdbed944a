"""Load a position from a file: ``loadsgf`` and what other such commands need."""

from __future__ import annotations

from oracle.errors import FormatError, GtpError, IllegalMove
from oracle.gtp import gtp_arguments
from oracle.gtp.protocol import is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.boards.snapshot import Snapshot, SnapshotChoice
    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Session

    Reader = Callable[[bytes, str | None, SnapshotChoice | None], Snapshot]


def loadsgf(session: Session, words: list[str]) -> str:
    """FILE [MOVE]: load a game record, up to before a move (without KM: komi 0).

    Source: GTP version 2, section 6.3.4 *loadsgf*. A name with blanks may stand in quotes. What is
    read and what refused: :mod:`oracle.sgf.load`; of a strict engine: :mod:`oracle.sgf.read`. The
    session's ``warn`` is told what is not as it should be.
    """
    move = None
    if len(words) > 1 and is_number(words[-1]):
        move = max(gtp_arguments.integer(words, len(words) - 1) - 1, 0)
        words = words[:-1]
    load(session, words, lambda path: _record(session, path, move))
    return ""


def _record(session: Session, path: str, move: int | None) -> Snapshot:
    """Return the moment of a game record: as engines read it, or to the letter if strict."""
    from oracle.boards.board_lines import read_bytes
    from oracle.boards.snapshot import SnapshotChoice

    if session.strict:
        from oracle.sgf import read_sgf as read
    else:
        from oracle.sgf.load import load_sgf as read
    snapshot = read(
        read_bytes(path, session.folder), path, SnapshotChoice(move=move, game=session.record)
    )
    if session.record is None and snapshot.game == "gomoku":
        raise FormatError("it is a game of Gomoku, GM[4]")
    return snapshot


def load_board(session: Session, words: list[str], read: Reader) -> None:
    """Load the position in a file, by the reader of its format."""
    from oracle.boards.board_lines import read_bytes

    load(session, words, lambda path: read(read_bytes(path, session.folder), path, None))


def load(session: Session, words: list[str], read: Callable[[str], Snapshot]) -> None:
    """Load what a file has; raises :class:`GtpError` and keeps the game if it can't."""
    try:
        snapshot = read(path := filename(words))
        session.resume(snapshot)
    except (FormatError, IllegalMove) as error:
        raise GtpError(f"cannot load file: {'; '.join(str(error).splitlines())}") from None
    for note in snapshot.notes:
        session.warn(f"{path}: {note}")


def filename(words: list[str]) -> str:
    """Return the name of a file from a command's arguments: it may have blanks."""
    name = " ".join(words)
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = name[1:-1]
    if not name:
        raise GtpError(gtp_arguments.SYNTAX)
    return f"./{name}" if name == "-" else name  # "-" would be the commands' own input


COMMANDS: Table = {"loadsgf": loadsgf}
