"""Colors as the text boards of the java-go document number them: 0 empty, 1 black, 2 white."""

from __future__ import annotations

EMPTY, BLACK, WHITE = 0, 1, 2

NAMES = ("empty", "black", "white")
LETTERS = (".", "B", "W")
_COLORS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


def opponent(color: int) -> int:
    """Return the other color: ``WHITE`` for ``BLACK`` and the reverse."""
    return 3 - color


def color_of(text: str) -> int | None:
    """Return the color that GTP's ``b w black white`` (any case) name, None for anything else.

    Source: GTP version 2, section 2.11 *color*.
    """
    return _COLORS.get(text.lower())
