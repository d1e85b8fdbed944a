"""The position at some place of a case file, by the oracle's own engine."""

from __future__ import annotations

from pathlib import PurePath

from oracle.boards.snapshot import Lines, Snapshot, SnapshotChoice, decode, lines_of, quote
from oracle.command_properties import BOARD, SIZE, STANDARD, CommandProperties
from oracle.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Engine

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
    game = choice.game or _game(lines)
    replay = _FileReplay(new_engine(game), file)
    replay.run(lines[: _stop(lines, choice, file)])
    if replay.spoiled:
        raise replay.spoiled
    session = replay.engine.session
    now = session.game
    notes = [] if _has_size(lines) else [f"no boardsize: {now.position.grid.rows} lines assumed"]
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


def _game(lines: Lines) -> str:
    return "gomoku" if any(_name(line).startswith(_GOMOKU) for _, line in lines) else "go"


def _words(line: str) -> list[str]:
    """Return a line's words without the id of a test; none for a comment or an expectation."""
    words = [] if line.startswith("#") else line.split()
    return words[1:] if words and words[0].isdigit() else words


def _name(line: str) -> str:
    return next(iter(_words(line)), "")


def _has_size(lines: Lines) -> bool:
    return any(SIZE in STANDARD[_name(line)].sets for _, line in lines)


def _stop(lines: Lines, choice: SnapshotChoice, file: str | None) -> int:
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


class _FileReplay:
    """An engine that is given a file's commands.

    ``spoiled`` is why the position is not known: a command's effect depends on the engine. It is
    None again when a command sets the position anew.
    """

    def __init__(self, engine: Engine, file: str | None) -> None:
        self.engine = engine
        self.file = file
        self.spoiled: FormatError | None = None

    def run(self, lines: Lines) -> None:
        """Give the engine the commands that change the position."""
        for index, (number, line) in enumerate(lines):
            words = _words(line)
            if words[:1] == ["genmove"]:
                words = _find_expected_move(words, lines[index + 1 : index + 2])
            if not words:
                continue
            properties = STANDARD[words[0]]
            if self._does_as_any(words[0], properties):
                self._send(words, line, number)
            elif properties.touches & BOARD and not self.spoiled:
                message = f"what {quote(words[0])} does to the board depends on the engine"
                self.spoiled = FormatError(message, self.file, number)

    def _does_as_any(self, name: str, properties: CommandProperties) -> bool:
        """Whether the engine does what any engine would with a command that changes the game."""
        is_fixed = properties.is_known and properties.sets_up and not properties.chooses
        return is_fixed and name in self.engine.commands

    def _send(self, words: list[str], line: str, number: int) -> None:
        reply = self.engine.handle(" ".join(_locate(words, self.file)))
        if not reply.startswith("?"):
            self.spoiled = None if STANDARD[words[0]].begins_board else self.spoiled
        elif not (line[0].isdigit() or self.spoiled):  # a test may well try what is refused
            refusal = f"{quote(line)} is refused: {reply[1:].strip()}"
            raise FormatError(refusal, self.file, number)


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


def _locate(words: list[str], file: str | None) -> list[str]:
    """Return a command whose file, if it names one, is found from the case file's folder."""
    if not STANDARD[words[0]].loads or file is None:
        return words
    return [words[0], str(PurePath(file).parent / " ".join(words[1:]).strip('"'))]
