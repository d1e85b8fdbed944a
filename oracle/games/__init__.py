"""Games: turn, history, ko and winners, which a position alone does not know.

Here is what they share: the moments of a game, from the beginning to now.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generic, TypeVar

    from oracle.position import Move, Position

    Kind = TypeVar("Kind", bound="Moment")
else:
    # Importing typing would cost an engine more than the rest of its start.
    Kind = None

    class Generic:
        """Stands in for the one of typing."""

        __slots__ = ()

        def __class_getitem__(cls, kind):
            return cls


class Moment:
    """One moment of a game; moves make a new one, so that undo is taking the last away.

    Attributes: ``position``; ``to_play``; ``move``, what led here, or None for a setup.
    """

    __slots__ = ("move", "position", "to_play")

    def __init__(self, position: Position, to_play: int, move: Move | None) -> None:
        self.position = position
        self.to_play = to_play
        self.move = move

    def turn_to(self, color: int) -> Any:
        """Return the same moment with another color to play."""
        raise NotImplementedError


class History(Generic[Kind]):
    """The moments of a game, all of one kind; the first does not come from a move."""

    __slots__ = ("_states",)

    def __init__(self, first: Kind) -> None:
        self._states = [first]

    @property
    def position(self) -> Position:
        """The stones on the board now."""
        return self._states[-1].position

    @property
    def start(self) -> Position:
        """The stones that the game began with."""
        return self._states[0].position

    @property
    def to_play(self) -> int:
        """The color whose turn it is: the other than the last move's."""
        return self._states[-1].to_play

    @property
    def moves(self) -> list[Move]:
        """All moves since the beginning, passes (point None) included."""
        return [state.move for state in self._states if state.move is not None]

    def set_turn(self, color: int) -> None:
        """Say whose turn it is, as a record does that leaves passes out."""
        if color != self.to_play:
            self._states[-1] = self._states[-1].turn_to(color)

    def undo(self) -> Move:
        """Take the last move back and return it.

        Raises :class:`IndexError` when there is none; a position set up cannot be undone.
        """
        move = self._states[-1].move
        if move is None:
            raise IndexError("no move to take back")
        self._states.pop()
        return move
