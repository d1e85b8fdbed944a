"""The position at some place of a case file, by the oracle's own engine."""

from __future__ import annotations

from pathlib import PurePath

from oracle.errors import FormatError
from oracle.formats.snapshot import Choice, Snapshot
from oracle.formats.text import Lines, decode, lines_of, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Engine

# Commands that change the position as any engine would; all others are left out.
_KNOWN = (
    "boardsize",
    "clear_board",
    "komi",
    "play",
    "undo",
    "loadsgf",
    "fixed_handicap",
    "set_free_handicap",
    "gogui-setup",
    "gogui-setup_player",
)
# Parts of the names of commands that may change it in a way not known here …
_SUSPECT = ("genmove", "sgf", "setup", "position", "play", "undo", "handicap", "load")
# … and of some that do not: queries and settings.
_HARMLESS = (
    "reg_genmove",
    "printsgf",
    "setup_player",
    "side_to_move",
    "list_",
    "known_",
    "-rules_",
)
_GOMOKU = ("gogui-rules_", "policy")


def read_case(data: bytes, file: str | None = None, choice: Choice | None = None) -> Snapshot:
    """Replay the commands of a ``.gtp`` file that set up a position.

    Args:
        data: the file's content.
        file: its name, for errors and as the place that ``loadsgf`` starts from.
        choice: the line or the number of the test before which to stop, else the end of the
            file; and the game, else Gomoku if the file has such commands, and Go if not.

    Raises :class:`FormatError` at the line of a command that is refused, or whose effect depends
    on the engine (``genmove``), and for a line or test that the file does not have.
    """
    choice = choice or Choice()
    lines = [(number, line.strip()) for number, line in lines_of(decode(data))]
    game = choice.game or _game(lines)
    engine = _replay(lines[: _stop(lines, choice, file)], game, file)
    now = engine.session.game
    notes = [] if _has_size(lines) else [f"no boardsize: {now.position.grid.rows} lines assumed"]
    return Snapshot(
        now.position,
        "gtp",
        game=game,
        to_play=now.to_play,
        komi=getattr(now, "komi", None),
        start=now.start,
        moves=list(now.moves),
        ko=getattr(now, "ko", None),
        notes=notes,
    )


def _game(lines: Lines) -> str:
    return "gomoku" if any(_name(line).startswith(_GOMOKU) for _, line in lines) else "go"


def _words(line: str) -> list[str]:
    """Return a line's words without the id of a test; none for a comment or an expectation."""
    words = [] if line.startswith("#") else line.split()
    return words[1:] if words and words[0].isdigit() else words


def _name(line: str) -> str:
    return next(iter(_words(line)), "")


def _has_size(lines: Lines) -> bool:
    return any(_name(line) in ("boardsize", "loadsgf") for _, line in lines)


def _stop(lines: Lines, choice: Choice, file: str | None) -> int:
    """Return how many lines come before the chosen place."""
    if choice.test is not None:
        return _before_test(lines, choice.test, file)
    if choice.line is None:
        return len(lines)
    if not 1 <= choice.line <= len(lines):
        raise FormatError(f"there is no line {choice.line}: the file has {len(lines)}", file)
    return choice.line - 1


def _before_test(lines: Lines, test: int, file: str | None) -> int:
    """Return how many lines come before the test of a number, which may occur once only."""
    found = [
        number
        for number, line in lines
        if len(words := line.split()) > 1 and words[0].isdigit() and int(words[0]) == test
    ]
    if not found:
        raise FormatError(f"there is no test {test}", file)
    if len(found) > 1:
        places = ", ".join(str(number) for number in found)
        raise FormatError(
            f"{len(found)} tests have the number {test}; choose a line: {places}", file
        )
    return found[0] - 1


def _replay(lines: Lines, game: str, file: str | None) -> Engine:
    from oracle.gtp import new_engine

    engine = new_engine(game)
    for number, line in lines:
        words = _words(line)
        if not words:
            continue
        if words[0] in _KNOWN:
            reply = engine.handle(" ".join(_located(words, file)))
            if reply.startswith("?") and not line[0].isdigit():
                refusal = f"{quoted(line)} is refused: {reply[1:].strip()}"
                raise FormatError(refusal, file, number)
        elif _may_change(words[0]):
            message = f"what {quoted(words[0])} does to the board depends on the engine"
            raise FormatError(message, file, number)
    return engine


def _may_change(name: str) -> bool:
    suspect = any(part in name for part in _SUSPECT)
    return suspect and not any(part in name for part in _HARMLESS)


def _located(words: list[str], file: str | None) -> list[str]:
    """Return a command whose file, if it names one, is found from the case file's folder."""
    if words[0] != "loadsgf" or file is None:
        return words
    return ["loadsgf", str(PurePath(file).parent / " ".join(words[1:]).strip('"'))]
