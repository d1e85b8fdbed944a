"""The protocol: a line comes in, a reply goes out. Nothing here knows a game or a process.

Sections are those of the *Specification of the Go Text Protocol, version 2, draft 2*.
"""

from __future__ import annotations

from oracle.errors import GtpError, OracleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from oracle.explanation import Explanation, Readings

    Command = Callable[[Any, list[str]], str]
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
            return f"={number} {_drop_empty_lines(self._command(name)(self.session, words))}\n\n"
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

    def _command(self, name: str) -> Command:
        try:
            return self.commands[name]
        except KeyError:
            raise GtpError("unknown command") from None


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
