"""The protocol: a line comes in, a reply goes out. Nothing here knows a game."""

from __future__ import annotations

from oracle.errors import FormatError, GtpError, OracleError, VertexError
from oracle.komi import parse_komi
from oracle.position import MAX_SIZE, Point, color_of, parse_vertex

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self, TypeAlias

    from oracle.explanation import Explanation, Readings
    from oracle.komi import Komi

Command: TypeAlias = "Callable[[Any, list[str]], str]"
Table = dict[str, Command]
# Section 3.1: control characters other than HT and LF are removed, HT becomes a blank. A line's
# own LF may come along and is a blank too.
_CLEAN: dict[int, str | None] = dict.fromkeys([*range(32), 127])
_CLEAN.update({9: " ", 10: " "})


class Engine:
    """A GTP engine: a session and the table of commands that act on it.

    A command is a function of the session and its arguments. It returns the result, which may
    have several lines, or raises an :class:`OracleError` whose text becomes the error message.
    """

    __slots__ = ("commands", "session")

    def __init__(self, session: Any) -> None:
        self.session = session
        self.commands: Table = session.commands

    def in_folder(self, folder: str) -> Self:
        """Read the files that commands name from a folder from now on; return this engine.

        ``folder``: "" is the working directory, as for a new engine.
        """
        self.session.folder = folder
        return self

    def handle(self, line: str) -> str:
        """Return the reply to a line with its empty line; ``""`` to a blank or comment line."""
        words = split(line)
        if not words:
            return ""
        number = words.pop(0) if is_number(words[0]) else ""
        name = words.pop(0) if words else ""
        try:
            if name not in self.commands:
                raise GtpError("unknown command")
            return f"={number} {_drop_empty_lines(self.commands[name](self.session, words))}\n\n"
        except OracleError as error:
            return f"?{number} {_drop_empty_lines(str(error))}\n\n"

    def explain(self, command: str) -> Explanation:
        """Return the reason for the present answer to a command; ``command``: without its id.

        Raises :class:`OracleError` where nothing explains it, or the command itself is refused.
        """
        found: Explanation = self.session.explain(split(command))
        return found

    def readings(self, command: str) -> Readings:
        """Return what a command answers now under each reading that its document leaves open.

        ``command``: without its id. Raises :class:`OracleError` as :meth:`explain` does.
        """
        found: Readings = self.session.readings(split(command))
        return found


def split(line: str) -> list[str]:
    """Return a line's words after preprocessing, none for a blank line or a comment.

    Source: section 3.1 (control characters, ``#`` to the end of the line, tabs).
    """
    if line.isprintable():  # nearly every line is: it has no other blanks, nothing to remove
        return line.partition("#")[0].split()
    return [word for word in line.translate(_CLEAN).partition("#")[0].split(" ") if word]


def is_number(word: str) -> bool:
    """Whether a word is an id or another whole number (section 2.11 *int*: not negative)."""
    return word.isascii() and word.isdigit()


def _drop_empty_lines(text: str) -> str:
    """Return a result without empty lines: the first one would end the reply (section 2.6)."""
    if "\n" not in text:
        return text
    first, *others = text.rstrip("\n").split("\n")
    return "\n".join([first, *(line or " " for line in others)])


# --- Arguments as text; whatever cannot be read is GTP's ``syntax error`` ------------------------
# Source: GTP version 2, section 2.11. Further arguments are ignored, as the reference
# implementation (GNU Go) does.


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
