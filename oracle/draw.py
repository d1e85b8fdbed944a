"""Boards as pictures: one :class:`Diagram`, drawn as ASCII, Unicode or SVG."""

from __future__ import annotations

from oracle.position import Position
from oracle.vertex import GTP_LETTERS, Point


class Diagram:
    """What a picture shows.

    Attributes: ``position``; ``last``, the point of the last move or None; ``marks``, short
    labels (one or two characters) by point, for what an explanation points at; ``caption``, a
    line of text below or ``""``; ``letters``, the columns' letters.
    """

    __slots__ = ("caption", "last", "letters", "marks", "position")

    def __init__(
        self,
        position: Position,
        last: Point | None = None,
        marks: dict[Point, str] | None = None,
        caption: str = "",
        letters: str = GTP_LETTERS,
    ) -> None:
        self.position = position
        self.last = last
        self.marks = marks or {}
        self.caption = caption
        self.letters = letters


def draw_text(diagram: Diagram, *, unicode: bool = True) -> str:
    """Return the board as lines of text with coordinates, without a final newline."""
    raise NotImplementedError


def draw_svg(diagram: Diagram) -> str:
    """Return the board as a self-contained ``<svg>`` element (no style sheet, script or font)."""
    raise NotImplementedError
