"""The commands that every game has: administration, the board, and loading a game record.

A command's docstring begins with its arguments; ``gtp-oracle gtp --help`` prints its first line.
Sections are those of GTP version 2.
"""

from __future__ import annotations

import time

import oracle
from oracle.color import NAMES
from oracle.errors import GtpError, IllegalMove
from oracle.grid import grid
from oracle.gtp import gtp_arguments
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Session
    from oracle.vertex import Point


# --- administration, section 6.3.1 -------------------------------------------------------------


def protocol_version(session: Session, words: list[str]) -> str:
    """: the protocol's version, 2."""
    return "2"


def name(session: Session, words: list[str]) -> str:
    """: the program's name."""
    return "gtp-oracle"


def version(session: Session, words: list[str]) -> str:
    """: the program's version."""
    return oracle.__version__


def known_command(session: Session, words: list[str]) -> str:
    """COMMAND: whether there is such a command, true or false."""
    return "true" if gtp_arguments.word(words, 0) in session.commands else "false"


def list_commands(session: Session, words: list[str]) -> str:
    """: the names of all commands, one on each line."""
    return "\n".join(sorted(session.commands))


def quit_(session: Session, words: list[str]) -> str:
    """: end the program."""
    session.running = False
    return ""


def cputime(session: Session, words: list[str]) -> str:
    """: the processor seconds used so far (as in GNU Go)."""
    return f"{time.process_time():.3f}"


# --- the board, sections 6.3.2 and 6.3.3 -------------------------------------------------------


def boardsize(session: Session, words: list[str]) -> str:
    """SIZE: set the size of the board, and empty it."""
    size = gtp_arguments.integer(words, 0)
    if size not in session.sizes:
        raise GtpError("unacceptable size")
    session.clear(grid(size))
    return ""


def clear_board(session: Session, words: list[str]) -> str:
    """: empty the board; komi and other settings stay."""
    session.clear(session.game.position.grid)
    return ""


def play(session: Session, words: list[str]) -> str:
    """COLOR VERTEX: play a stone, or pass."""
    color, point = gtp_arguments.color(words, 0), gtp_arguments.move(words, 1)
    try:
        session.game.play(color, point)
    except IllegalMove:
        raise GtpError("illegal move") from None
    return ""


def play_sequence(session: Session, words: list[str]) -> str:
    """MOVES: move after move, up to one that is refused (as in GoGui)."""
    for index in range(0, len(words), 2):
        if refused := session.commands["play"](session, words[index : index + 2]):
            return refused
    return ""


def undo(session: Session, words: list[str]) -> str:
    """: take the last move back."""
    try:
        session.game.undo()
    except IndexError:
        raise GtpError("cannot undo") from None
    return ""


def setup(session: Session, words: list[str]) -> str:
    """COLOR VERTEX ...: put stones as they are, without rules (as in GoGui)."""
    position = session.game.position
    for index in range(0, len(words), 2):
        point = on_board(session, words, index + 1)
        position = position.place(point, gtp_arguments.color(words, index))
    session.game = session.new_game(position, session.game.to_play)
    return ""


def setup_player(session: Session, words: list[str]) -> str:
    """COLOR: say whose turn it is (as in GoGui)."""
    session.game = session.new_game(session.game.position, gtp_arguments.color(words, 0))
    return ""


def showboard(session: Session, words: list[str]) -> str:
    """: the board as a picture."""
    from oracle.draw import Diagram, draw_text

    game = session.game
    last = game.moves[-1][1] if game.moves else None
    picture = draw_text(Diagram(game.position, last=last), unicode=False)
    return f"\n{picture}\n{NAMES[game.to_play]} to play"


def on_board(session: Session, words: list[str], index: int) -> Point:
    """Return the point of a vertex argument that must lie on the board in play."""
    point = gtp_arguments.point(words, index)
    shape = session.game.position.grid
    if point not in shape:
        size = f"{shape.columns} columns and {shape.rows} rows"
        raise GtpError(f"{vertex(point)} is not on the board of {size}")
    return point


COMMANDS: Table = {
    "protocol_version": protocol_version,
    "name": name,
    "version": version,
    "known_command": known_command,
    "list_commands": list_commands,
    "quit": quit_,
    "cputime": cputime,
    "boardsize": boardsize,
    "clear_board": clear_board,
    "play": play,
    "gogui-play_sequence": play_sequence,
    "undo": undo,
    "showboard": showboard,
    "gogui-setup": setup,
    "gogui-setup_player": setup_player,
}
