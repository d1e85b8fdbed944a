"""Mistakes in counting stones."""

from __future__ import annotations

from oracle.gtp import protocol
from oracle.mistakes.bank import Shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.go import GoSession
    from oracle.gtp.protocol import Command

SHELF = Shelf("count-stones", {})


@SHELF.mistake("stones")
def stones_of_both_colors(right: Command, session: GoSession, words: list[str]) -> str:
    """As if the stones of both colors counted."""
    return str(int(right(session, ["b"])) + int(right(session, ["w"])))


@SHELF.mistake("stones")
def captured_stones_counted(right: Command, session: GoSession, words: list[str]) -> str:
    """As if captured stones were still there."""
    color = protocol.color(words, 0)
    return str(sum(mover == color and bool(point) for mover, point in session.game.moves))
