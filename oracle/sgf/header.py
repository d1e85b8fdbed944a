"""The header of a game: what the first node says of the whole game."""

from __future__ import annotations

from oracle.grid import Grid, grid
from oracle.sgf import values
from oracle.sgf.tree import Faults, Node, shorten, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from oracle.boards.snapshot import SnapshotChoice
    from oracle.komi import Komi

    Value = TypeVar("Value")

# Fox writes hundredths: 50 for half a point, 375 for 3.75 stones, 650 for 6.5 points.
ABSURD_KOMI = 50


class Header:
    """The first node's properties.

    Attributes: ``game``, ``"go"`` or ``"gomoku"``; ``board``; ``komi`` or None; ``handicap``, the
    number that ``HA`` states, or 0; ``title``, players, event, date and result, or ``""``.
    """

    __slots__ = ("board", "game", "handicap", "komi", "title")

    def __init__(
        self, game: str, board: Grid, komi: Komi | None, handicap: int, title: str
    ) -> None:
        self.game = game
        self.board = board
        self.komi = komi
        self.handicap = handicap
        self.title = title


def read_header(root: Node, choice: SnapshotChoice, faults: Faults) -> Header:
    """Return what the first node says.

    A game and a size that cannot be understood are errors; a komi and a handicap, faults.
    """
    game = _game(root, choice, faults)
    board = _value(root, "SZ", values.shape, faults.error) or _assume_grid(game, choice, faults)
    komi = _value(root, "KM", values.komi, faults.fault)
    if komi is not None and not -ABSURD_KOMI < komi < ABSURD_KOMI:
        reason = "no game has such a komi; some servers write 375 for 3.75 stones, 7.5 points"
        faults.warn(where(root, "KM", root.properties["KM"][0]), reason)
    handicap = _value(root, "HA", values.number, faults.fault) or 0
    return Header(game, board, komi, handicap, title(root))


def _value(
    root: Node,
    name: str,
    interpret: Callable[[str], Value],
    refuse: Callable[[str, str], Exception | None],
) -> Value | None:
    """Return what a property means, None if it is not there or its fault is kept."""
    found = root.properties.get(name, [])
    try:
        if len(found) > 1:
            raise ValueError(f"expected one value, found {len(found)}")
        return interpret(found[0]) if found else None
    except ValueError as error:
        refused = refuse(where(root, name, found[0]), str(error))
        if refused:
            raise refused from None
        return None


def _game(root: Node, choice: SnapshotChoice, faults: Faults) -> str:
    """Return the chosen game, else the stated one."""
    if choice.game is None:
        return _value(root, "GM", values.game, faults.error) or "go"
    stated = root.properties.get("GM", [])
    if any(values.GAMES.get(value.strip()) != choice.game for value in stated):
        faults.note(f"GM[{shorten(stated[0])}] is overruled: played as {choice.game}")
    return choice.game


def _assume_grid(game: str, choice: SnapshotChoice, faults: Faults) -> Grid:
    """Return the board where none is stated."""
    if choice.size:
        return grid(*choice.size)
    usual = values.USUAL_SIZE[game]
    faults.note(f"SZ is missing: a board of {usual} by {usual} is assumed")
    return grid(usual)


def title(root: Node) -> str:
    """Return the players, and whatever else tells a game from others; ``""`` if nothing does."""
    black, white = (_text(root, name) for name in ("PB", "PW"))
    players = f"{black or '?'} (Black) – {white or '?'} (White)" if black or white else ""
    parts = [players, *(_text(root, name) for name in ("GN", "EV", "DT", "RE"))]
    return ", ".join(part for part in parts if part)


def _text(root: Node, name: str) -> str:
    from sgfmill.sgf_grammar import simpletext_value

    raw = root.properties.get(name, [""])[0]
    text: str = simpletext_value(raw.encode()).decode()
    return shorten(text, 60)
