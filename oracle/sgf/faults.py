"""Faults of a record, with their places: refused, or kept with a note."""

from __future__ import annotations

from oracle.errors import SgfError
from oracle.sgf.tree import Node, shorten


class Faults:
    """The errors and notes of one reading.

    A record that cannot be understood is an *error*. What can be understood but is against SGF or
    the rules of the game is a *fault*: an error too, or only a note if faults are kept.

    Attribute ``notes``: the sentences so far.
    """

    __slots__ = ("_file", "_game", "_keep", "notes")

    def __init__(self, file: str | None, game: str, keep: bool) -> None:
        self._file = file
        self._game = game  # which game of a collection, or ""
        self._keep = keep
        self.notes: list[str] = []

    def error(self, where: str, reason: str) -> SgfError:
        """Return an error to raise."""
        return SgfError(f"{self._game}{where}: {reason}", self._file)

    def fault(self, where: str, reason: str) -> None:
        """Raise :class:`SgfError`, or keep the sentence as a note."""
        if not self._keep:
            raise self.error(where, reason)
        self.warn(where, reason)

    def warn(self, where: str, reason: str) -> None:
        """Tell what is not as it should be, although it is read."""
        self.note(f"{self._game}{where}: {reason}")

    def note(self, sentence: str) -> None:
        """Tell what was assumed or overlooked."""
        self.notes.append(sentence)


def where(node: Node, name: str = "", value: str = "", move: int = 0) -> str:
    """Return a place in a record, such as ``node 12, B[dd] (move 11)``."""
    prop = f", {name}[{shorten(value)}]" if name else ""
    return f"node {node.number}{prop}{f' (move {move})' if move else ''}"
