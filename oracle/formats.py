"""Positions as text: every format the oracle reads, and :func:`read_position` to read any of them.

=============  ==============================================================  ====================
name           what it is                                                      module
=============  ==============================================================  ====================
``sgf``        a game record (FF 1 to 4), any game, move and variation         :mod:`oracle.sgf`
``text``       rows of 0, 1 and 2 (java-go.txt, "Sample game board file")      :mod:`oracle.boards`
``gosensei``   one stone on each line (gosensei.txt, "Go Board Configuration   :mod:`oracle.boards`
               File")
``picture``    the board as gosensei.txt displays it                           :mod:`oracle.boards`
``diagram``    the board as ``sgfmill.ascii_boards`` prints it                 :mod:`oracle.boards`
``drawing``    rows of ``.``, ``X`` and ``O``, as comments of case files       :mod:`oracle.boards`
               draw them, with or without ``#``
``gtp``        a case file's position before one of its lines or tests         :func:`read_case`
=============  ==============================================================  ====================
"""

import re
from importlib import import_module
from os import PathLike, fspath
from pathlib import PurePath

from oracle.boards import Lines, Snapshot, SnapshotChoice, decode, lines_of, quote, read_bytes
from oracle.command_properties import BOARD, SIZE, STANDARD
from oracle.errors import FormatError
from oracle.gtp.protocol import Engine

__all__ = ["FORMATS", "Snapshot", "SnapshotChoice", "read_position"]


# What each format lets choose (attributes of SnapshotChoice); the text boards are one position.
# Which game is played may be said of any: that matters only where there are moves.
FORMATS: dict[str, tuple[str, ...]] = {
    "sgf": ("number", "move", "variation", "keep_faults", "size"),
    "text": (),
    "gosensei": (),
    "picture": (),
    "diagram": (),
    "drawing": (),
    "gtp": ("line", "test"),
}

# Of each text board: the module, its function that parses one, and the game that is played on it.
_BOARDS = {
    "text": ("diagram", "parse_digits", "java-go"),
    "gosensei": ("gosensei", "parse_gosensei", "gosensei"),
    "picture": ("gosensei", "parse_picture", "gosensei"),
    "diagram": ("diagram", "parse_diagram", None),
    "drawing": ("diagram", "parse_drawing", None),
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
    path: str | PathLike[str], kind: str | None = None, choice: SnapshotChoice | None = None
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
    for attribute, default in sorted(vars(SnapshotChoice()).items()):
        is_heeded = attribute in FORMATS[name] or attribute == "game"
        if not is_heeded and getattr(choice, attribute) != default:
            others = " and ".join(other for other in FORMATS if attribute in FORMATS[other])
            message = f"a file of format {name} has no choice of {attribute} (only {others})"
            raise FormatError(message, file)
    return read_as(name, data, file, choice)


def read_as(
    name: str, data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read a position in the format of this name; arguments and errors as of :func:`read_case`."""
    if name == "gtp":
        return read_case(data, file, choice)
    if name == "sgf":
        from oracle.sgf import read_sgf

        return read_sgf(data, file, choice)
    module, function, game = _BOARDS[name]  # only the one that is needed is imported
    parse = getattr(import_module(f"oracle.boards.{module}"), function)
    return Snapshot(parse(decode(data), file), name, game=game)


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
    if _ROW.match(first):
        from oracle.boards.diagram import is_drawing

        if is_drawing(text):  # else it is a comment of a case file
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


# --- The position at some place of a case file, by the oracle's own engine -----------------------

_GOMOKU = ("gogui-rules_", "policy")


def read_case(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Replay the commands of a ``.gtp`` file that set up a position.

    Args:
        data: the file's content.
        file: its name, for errors and as the place that ``loadsgf`` starts from.
        choice: the line or the number of the test before which to stop, else the end of the
            file; and the game, else Gomoku if the file has such commands, and Go if not.

    Raises :class:`FormatError` at the line of a command that is refused, or whose effect on this
    position depends on the engine (``genmove``), and for a line or test that is not there.
    """
    from oracle.gtp import new_engine

    choice = choice or SnapshotChoice()
    lines = [(number, line.strip()) for number, line in lines_of(decode(data))]
    names = [next(iter(_words(line)), "") for _, line in lines]
    game = choice.game or ("gomoku" if any(name.startswith(_GOMOKU) for name in names) else "go")
    engine = new_engine(game)
    _replay(lines[: _stop(lines, choice, file)], engine, file)
    session = engine.session
    now = session.game
    has_size = any(SIZE in STANDARD[name].sets for name in names)
    notes = [] if has_size else [f"no boardsize: {now.position.grid.rows} lines assumed"]
    return Snapshot(
        now.position,
        "gtp",
        game=game,
        to_play=now.to_play,
        komi=getattr(session, "komi", None),  # Gomoku has none
        start=now.start,
        moves=list(now.moves),
        ko=getattr(now, "ko", None),
        notes=notes,
    )


def _words(line: str) -> list[str]:
    """Return a line's words without the id of a test; none for a comment or an expectation."""
    words = [] if line.startswith("#") else line.split()
    return words[1:] if words and words[0].isdigit() else words


def _stop(lines: Lines, choice: SnapshotChoice, file: str | None) -> int:
    """Return how many lines come before the chosen place; a test's number must occur once."""
    if choice.test is not None:
        found = [
            number
            for number, line in lines
            if len(words := line.split()) > 1
            and words[0].isdigit()
            and int(words[0]) == choice.test
        ]
        if not found:
            raise FormatError(f"there is no test {choice.test}", file)
        if len(found) > 1:
            places = ", ".join(str(number) for number in found)
            message = f"{len(found)} tests have the number {choice.test}; choose a line: {places}"
            raise FormatError(message, file)
        return found[0] - 1
    if choice.line is None:
        return len(lines)
    if not 1 <= choice.line <= len(lines):
        raise FormatError(f"there is no line {choice.line}: the file has {len(lines)}", file)
    return choice.line - 1


def _replay(lines: Lines, engine: Engine, file: str | None) -> None:
    """Give an engine the commands that change the position.

    Raises :class:`FormatError` where one is refused, or where its effect depends on the engine and
    no later command sets the position anew.
    """
    spoiled: FormatError | None = None
    for index, (number, line) in enumerate(lines):
        words = _words(line)
        if words[:1] == ["genmove"]:
            words = _find_expected_move(words, lines[index + 1 : index + 2])
        if not words:
            continue
        properties = STANDARD[words[0]]
        is_fixed = properties.is_known and properties.sets_up and not properties.chooses
        if is_fixed and words[0] in engine.commands:
            if properties.loads and file is not None:  # a name is relative to the case file
                words[1:] = [str(PurePath(file).parent / " ".join(words[1:]).strip('"'))]
            reply = engine.handle(" ".join(words))
            if not reply.startswith("?"):
                spoiled = None if properties.begins_board else spoiled
            elif not (line[0].isdigit() or spoiled):  # a test may well try what is refused
                refusal = f"{quote(line)} is refused: {reply[1:].strip()}"
                raise FormatError(refusal, file, number)
        elif properties.touches & BOARD and not spoiled:
            message = f"what {quote(words[0])} does to the board depends on the engine"
            spoiled = FormatError(message, file, number)
    if spoiled:
        raise spoiled


def _find_expected_move(words: list[str], following: Lines) -> list[str]:
    """Return the ``play`` command that a ``genmove`` amounts to, if its test allows one answer.

    ``[b5|B5]`` does; after ``[resign]`` nothing is played. Otherwise the words stay as they are.
    """
    pattern = following[0][1] if following else ""
    if not (pattern.startswith("#?") and pattern.endswith("]")) or len(words) < 2:
        return words
    answers = {answer.lower() for answer in pattern.partition("[")[2][:-1].split("|")}
    answer = answers.pop()
    if answers or not answer.isalnum():
        return words
    return [] if answer == "resign" else ["play", words[1], answer]
