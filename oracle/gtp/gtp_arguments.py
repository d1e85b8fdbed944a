"""Arguments as text; whatever cannot be read is GTP's ``syntax error``.

Source: GTP version 2, section 2.11. Further arguments are ignored, as the reference
implementation (GNU Go) does.
"""

from __future__ import annotations

from oracle.color import color_of
from oracle.errors import FormatError, GtpError, VertexError
from oracle.grid import MAX_SIZE
from oracle.gtp.protocol import is_number
from oracle.komi import parse_komi
from oracle.vertex import parse_vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.komi import Komi
    from oracle.vertex import Point

SYNTAX = "syntax error"


def word(words: list[str], index: int) -> str:
    """Return one argument as it stands."""
    try:
        return words[index]
    except IndexError:
        raise GtpError(SYNTAX) from None


def integer(words: list[str], index: int) -> int:
    """Return a whole number, not negative; more than 9 digits are not a number that GTP knows."""
    digits = word(words, index)
    if not is_number(digits) or len(digits) > 9:
        raise GtpError(SYNTAX)
    return int(digits)


def komi(words: list[str], index: int) -> Komi:
    """Return a komi, exact."""
    try:
        return parse_komi(word(words, index))
    except FormatError:
        raise GtpError(SYNTAX) from None


def color(words: list[str], index: int) -> int:
    """Return ``BLACK`` or ``WHITE``."""
    found = color_of(word(words, index))
    if found is None:
        raise GtpError(SYNTAX)
    return found


def move(words: list[str], index: int) -> Point | None:
    """Return the point of a vertex, None for a pass.

    It may lie off the board in play: the rules refuse that, not the syntax.
    """
    text = word(words, index)
    if text.lower() == "pass":
        return None
    try:
        return parse_vertex(text, MAX_SIZE, MAX_SIZE)
    except VertexError:
        raise GtpError(SYNTAX) from None


def point(words: list[str], index: int) -> Point:
    """Return the point of a vertex other than ``pass``; it may lie off the board in play."""
    found = move(words, index)
    if found is None:
        raise GtpError(SYNTAX)
    return found


def boolean(value: bool) -> str:
    """Return a result of GTP's type *boolean*."""
    return "true" if value else "false"
