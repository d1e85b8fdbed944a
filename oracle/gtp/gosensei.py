"""``--game gosensei``: eyes, two eyes and eye spaces on a 9 by 9 board.

The document's program reads a file and prints a sentence; here ``load_board`` reads the file and
each option is a command that answers with its sentence. Columns in board files go from a to i,
with i; in GTP's vertices they skip it.
"""

from __future__ import annotations

from oracle.answers import gosensei as answers
from oracle.errors import FormatError
from oracle.games.go import GoGame
from oracle.gtp import common, protocol
from oracle.position import BLACK, Position


class GosenseiSession(common.Session):
    """A board to analyze; moves follow the rules of Go."""

    __slots__ = ()

    game: GoGame
    sizes = range(9, 10)  # gosensei.txt: "enum { GO_BOARD_SIZE = 9 };"
    size = 9

    def new_game(self, position: Position, to_play: int) -> GoGame:
        """Return a game of Go."""
        return GoGame(position, to_play)


def load_board(session: common.Session, words: list[str]) -> str:
    """FILE: load a go board configuration file."""
    from oracle.boards.gosensei import parse_gosensei

    return common.load_board(session, words, "gosensei", parse_gosensei)


def is_valid(session: common.Session, words: list[str]) -> str:
    """FILE: whether it is such a file without errors: true or false."""
    from oracle.boards import read_text
    from oracle.boards.gosensei import parse_gosensei

    try:
        path = common.filename(words)
        parse_gosensei(read_text(path, session.folder), path)
    except FormatError:
        return "false"
    return "true"


def option(name: str) -> protocol.Command:
    """Return the command that answers as an option of the document's program."""
    find, sentence, _, _ = answers.OPTIONS[name]

    def command(session: GosenseiSession, words: list[str]) -> str:
        return sentence(len(find(session.game.position, BLACK)))

    command.__doc__ = f": the sentence of -{name}."
    return command


def display(session: GosenseiSession, words: list[str]) -> str:
    """: the board as the document displays it."""
    from oracle.boards.gosensei import draw_gosensei

    return draw_gosensei(session.game.position)


def analyze_commands(session: GosenseiSession, words: list[str]) -> str:
    """: what GoGui's analyze menu offers."""
    names = (("Eyes", "eyes"), ("Two eyes", "twoeyes"), ("Eye spaces", "eyespaces"))
    return "\n".join(
        f"string/{label}/{name}\ngfx/Explain {label.lower()}/oracle-explain {name}"
        for label, name in names
    )


QUESTIONS: common.Questions = {
    name: (common.position, explain, readings, sentence)
    for name, (_, sentence, explain, readings) in answers.OPTIONS.items()
}

COMMANDS: protocol.Table = {
    **common.COMMANDS,
    "load_board": load_board,
    "is_valid": is_valid,
    **{name: option(name) for name in answers.OPTIONS},
    "display": display,
    "gogui-analyze_commands": analyze_commands,
}


def new_engine(seed: int, _playouts: int) -> protocol.Engine:
    """Return an engine for gosensei."""
    return protocol.Engine(GosenseiSession(COMMANDS, QUESTIONS, seed))
