"""Boards as text, a module for each way of writing them, and the ``Snapshot`` that any reader
returns.

Which of these, a game record or a case file it is that a file has, :mod:`oracle.formats` tells.
"""

from __future__ import annotations

from oracle.errors import FormatError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from oracle.komi import Komi
    from oracle.position import Move, Point, Position


# --- A board file's lines with their numbers -----------------------------------------------------

Lines = list[tuple[int, str]]

_SHOWN = 40  # characters of a faulty text that an error quotes


def read_bytes(path: str, folder: str | None = None) -> bytes:
    """Return a file's content (``-`` is standard input); raises :class:`FormatError`.

    ``folder``: to which the path of a GTP command is relative, "" being the working directory.
    Such a path is refused if it leads to what may never end, as a pipe; None: it need not be one.
    """
    import sys
    from pathlib import Path

    try:
        place = Path(folder or "", path)
        if folder is not None and place.exists() and not (place.is_file() or place.is_dir()):
            raise FormatError("cannot read the file: it is a pipe or a device", path)
        return sys.stdin.buffer.read() if path == "-" else place.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FormatError(f"cannot read the file: {reason}", path) from None


def decode(data: bytes) -> str:
    """Return a file's text: UTF-8, with or without byte-order mark, or else Latin-1."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_text(path: str, folder: str | None = None) -> str:
    """Return a file's text; arguments and errors as of :func:`read_bytes`."""
    return decode(read_bytes(path, folder))


def lines_of(text: str) -> Lines:
    """Return the lines with their numbers from 1; they may end in LF, CRLF or CR."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return list(enumerate(unified.split("\n"), start=1))


def block(text: str, file: str | None, expected: str) -> Lines:
    """Return the lines of a drawing: blank lines around it are dropped.

    Raises :class:`FormatError` when nothing is left, or when a blank line divides the drawing.
    """
    lines = lines_of(text)
    filled = [index for index, (_, line) in enumerate(lines) if line.strip()]
    if not filled:
        raise FormatError(f"the file is empty; expected {expected}", file)
    lines = lines[filled[0] : filled[-1] + 1]
    for number, line in lines:
        if not line.strip():
            raise FormatError(
                f"found an empty line inside the board; expected {expected}", file, number
            )
    return lines


def quote(text: str) -> str:
    """Return found text as errors quote it: printable, and not longer than a line."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


# --- The result of reading a file: a position, and whatever else the file says -------------------


class Snapshot:
    """One moment of a game, as read from a file.

    Attributes: ``position``; ``kind``, the name of the file's format; ``game``, which game it
    is (``"go"``, ``"gomoku"``, ``"java-go"``, ``"gosensei"``) or None; ``to_play``, whose turn it
    is, or None; ``komi`` or None where the file states none; ``start`` and ``moves``, the last
    position that was set up and the moves since, which lead to ``position`` (where the format
    knows no moves, ``start`` is ``position``); ``ko``, the point that ``to_play`` may not take
    back, or None; ``handicap``, how many handicap stones the reader placed because the file lacks
    them; ``title``, what the file says about itself, or ``""``; ``notes``, what was assumed or
    overlooked while reading, one sentence each.
    """

    __slots__ = (
        *("game", "handicap", "kind", "ko", "komi", "moves", "notes", "position", "start"),
        *("title", "to_play"),
    )

    def __init__(  # noqa: PLR0913 - a record of independent facts
        self,
        position: Position,
        kind: str,
        *,
        game: str | None = None,
        to_play: int | None = None,
        komi: Komi | None = None,
        start: Position | None = None,
        moves: list[Move] | None = None,
        ko: Point | None = None,
        handicap: int = 0,
        title: str = "",
        notes: list[str] | None = None,
    ) -> None:
        self.position = position
        self.kind = kind
        self.game = game
        self.to_play = to_play
        self.komi = komi
        self.start = start or position
        self.moves = moves or []
        self.ko = ko
        self.handicap = handicap
        self.title = title
        self.notes = notes or []

    @property
    def last(self) -> Point | None:
        """The point of the last move, None after a pass or when no move is known."""
        return self.moves[-1][1] if self.moves else None


class SnapshotChoice:
    """Choice of a moment in a file; each format heeds what it can, and refuses the rest.

    Attributes: ``number``, the game of an SGF collection, from 1, or None; ``move``, how many
    moves are played (SGF), or None for all; ``variation``, which branch to take at each parting
    of the ways, from 1, then the first ones (SGF); ``keep_faults``, whether to continue, with a
    note, after what SGF or the rules forbid (SGF); ``size``, ``(rows, columns)`` of a game record
    without ``SZ``; ``game``, ``"go"`` or ``"gomoku"`` whatever the file says (SGF, GTP); ``line``,
    the line before which to stop (GTP, from 1); ``test``, the number of the test before which to
    stop (GTP).
    """

    def __init__(  # noqa: PLR0913 - a record of independent choices
        self,
        *,
        number: int | None = None,
        move: int | None = None,
        variation: tuple[int, ...] = (),
        keep_faults: bool = False,
        size: tuple[int, int] | None = None,
        game: str | None = None,
        line: int | None = None,
        test: int | None = None,
    ) -> None:
        self.number = number
        self.move = move
        self.variation = variation
        self.keep_faults = keep_faults
        self.size = size
        self.game = game
        self.line = line
        self.test = test
