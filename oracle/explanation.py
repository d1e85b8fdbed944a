"""What goes with an answer: why it is so, and whether the document leaves it open."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.vertex import Point


class Explanation:
    """The reason of an answer, for a student.

    Attributes: ``text``, a few short sentences; ``marks``, labels of one or two characters by
    point, which :class:`oracle.draw.Diagram` shows on the board.
    """

    __slots__ = ("marks", "text")

    def __init__(self, text: str, marks: dict[Point, str] | None = None) -> None:
        self.text = text
        self.marks = marks or {}

    def __repr__(self) -> str:
        return f"Explanation({self.text!r}, {self.marks!r})"


def is_underspecified(readings: Mapping[str, object]) -> bool:
    """Whether the readings of a document (name to answer) give different answers."""
    first, *others = readings.values()
    return any(other != first for other in others)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as ``1 stone`` and ``2 stones``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listing(words: list[str]) -> str:
    """Return words as a sentence lists them: ``A1``, ``A1 and B2``, ``A1, B2 and C3``."""
    *first, last = words or ["none"]
    return f"{', '.join(first)} and {last}" if first else last
