"""One reader for all formats: which one a file has, told by its content."""

from __future__ import annotations

import re
from importlib import import_module
from os import PathLike, fspath

from oracle.boards.snapshot import Snapshot, SnapshotChoice, decode, lines_of, quote, read_bytes
from oracle.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[bytes, str | None, SnapshotChoice | None], Snapshot]

# What each format lets choose (attributes of Choice); the text boards are one position. Which game
# is played may be said of any: that matters only where there are moves.
FORMATS: dict[str, tuple[str, ...]] = {
    "sgf": ("number", "move", "variation", "keep_faults", "size"),
    "text": (),
    "gosensei": (),
    "picture": (),
    "diagram": (),
    "drawing": (),
    "gtp": ("line", "test"),
}

# The function that reads each; only the one that is needed is imported.
_READERS = {
    "sgf": ("oracle.sgf", "read_sgf"),
    "text": ("oracle.boards.diagram", "read_digits"),
    "gosensei": ("oracle.boards.gosensei", "read_gosensei"),
    "picture": ("oracle.boards.gosensei", "read_picture"),
    "diagram": ("oracle.boards.diagram", "read_diagram"),
    "drawing": ("oracle.boards.drawing", "read_drawing"),
    "gtp": ("oracle.formats.case_positions", "read_case"),
}

# How the first line that is not blank looks in each format. SGF comes last, because a game record
# may have other text before it (old ones came by mail).
_FIRST_LINES = (
    ("text", re.compile(r"[012](\s+[012])*\s*$")),
    ("picture", re.compile(r"9\s+[+bw]-")),
    ("diagram", re.compile(r"\d+\s+[.#o](\s+[.#o])*\s*$")),
    ("gosensei", re.compile(r"[bw]\s+[a-i]\s+[1-9]\s*$", re.IGNORECASE)),
    ("gtp", re.compile(r"#|(\d+\s+)?(boardsize|clear_board|komi|play|loadsgf|name|version)\b")),
)
# Of a drawing: a row, or the letters of the columns, or the sign of a comment alone.
_ROW = re.compile(
    r"(#\s*)?((\d+\s+)?\(?[.XOBW●○┌](\W+[.XOBW●○┬┐]\)?)*(\s+\d+)?|A(\s+[A-Z])*)\s*$|#\s*$",
    re.IGNORECASE,
)
_GAME_RECORD = re.compile(r"\(\s*;")


def read_position(
    path: str | PathLike[str],
    kind: str | None = None,
    choice: SnapshotChoice | None = None,
) -> Snapshot:
    """Read a position from a file of any format (``-`` is standard input), or from a text.

    >>> read_position('''
    ... . X O
    ... X . .
    ... ''').position
    <Position .BW/B..>

    Args:
        path: the file; or, if there is a line break in it, the text itself.
        kind: one of :data:`FORMATS`; None to tell it by the file's content.
        choice: which moment of the file is meant.

    Raises :class:`FormatError`: the file cannot be opened, has no known format, is faulty, or has
    no such moment.
    """
    place = path if isinstance(path, str) else fspath(path)
    is_text = "\n" in place
    data = place.encode() if is_text else read_bytes(place)
    file = None if is_text else place
    name = kind or detect(data, file or "")
    choice = choice or SnapshotChoice()
    _refuse_unheeded(name, choice, file)
    module, function = _READERS[name]
    reader: Reader = getattr(import_module(module), function)
    return reader(data, file, choice)


def detect(data: bytes, path: str = "") -> str:
    """Return the name of the format of a file's content.

    The name of the file decides only where it ends in ``.gtp`` or ``.tst``: any line may be a
    command. Raises :class:`FormatError` when the content looks like none.
    """
    if path.endswith((".gtp", ".tst")):
        return "gtp"
    text = decode(data)
    number, first = next(
        ((n, line.strip()) for n, line in lines_of(text) if line.strip()), (1, "")
    )
    if _ROW.match(first) and _is_drawing(text):  # else it is a comment of a case file
        return "drawing"
    for name, pattern in _FIRST_LINES:
        if pattern.match(first):
            return name
    if _GAME_RECORD.search(text):
        return "sgf"
    known = (
        "a game record (SGF), a board (rows such as '0 1 2' or '. X O', gosensei, picture or"
        " diagram) or a .gtp file"
    )
    raise FormatError(f"found {quote(first)}; expected {known}", path or None, number)


def _is_drawing(text: str) -> bool:
    from oracle.boards.drawing import is_drawing

    return is_drawing(text)


def _refuse_unheeded(name: str, choice: SnapshotChoice, path: str | None) -> None:
    """Raise :class:`FormatError` for a choice that this format cannot heed."""
    default = SnapshotChoice()
    for attribute in SnapshotChoice.__slots__:
        heeded = attribute in FORMATS[name] or attribute == "game"
        if not heeded and getattr(choice, attribute) != getattr(default, attribute):
            others = " and ".join(other for other in FORMATS if attribute in FORMATS[other])
            message = f"a file of format {name} has no choice of {attribute} (only {others})"
            raise FormatError(message, path)
