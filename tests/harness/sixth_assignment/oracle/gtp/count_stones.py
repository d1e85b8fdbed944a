"""``--game count-stones``: Go, and how many stones a color has on the board."""

from __future__ import annotations

from oracle.gtp import common, go, protocol
from oracle.gtp.protocol import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Table


def stones(session: go.GoSession, words: list[str]) -> str:
    """COLOR: how many stones it has on the board."""
    color = protocol.color(words, 0)
    return str(session.game.position.stones(color).bit_count())


COMMANDS: Table = {**common.COMMANDS, "stones": stones}


def new_engine(seed: int, _playouts: int) -> Engine:
    """Return an engine that counts stones."""
    return Engine(go.GoSession(COMMANDS, {}, seed))
