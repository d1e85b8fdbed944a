"""Every error the oracle raises, in one tree::

    OracleError
    ├── VertexError      text that names no point of the board
    ├── IllegalMove      a move the rules refuse, with the reason
    ├── GtpError         a GTP command that fails; its text is the reply
    └── FormatError      a text that cannot be read: where, what was found, what was expected
        ├── FormatErrors several of them, found in one reading
        └── SgfError     the same for game records: property and node

A user of the library catches :class:`OracleError`; a command prints its text and exits with 2.
"""

from __future__ import annotations


class OracleError(Exception):
    """Base of every error the oracle raises on purpose."""


class VertexError(OracleError):
    """Text that does not name a point of the board."""


class IllegalMove(OracleError):  # noqa: N818 - the field's name for it
    """A move the rules refuse.

    ``reason``: of a game of :mod:`oracle.games` one of ``"off board"``, ``"occupied"``, ``"ko"``,
    ``"suicide"``; of a reader of game records, or a referee, a phrase.
    """

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(message or reason)
        self.reason = reason


class GtpError(OracleError):
    """A GTP command that fails; its text is the error message of the reply."""


class FormatError(OracleError):
    """A text that cannot be read.

    Prints as ``file:line: message``; either part is left out where it is not known.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line) if part is not None]
        return ":".join([*place, " " + self.message]) if place else self.message


class FormatErrors(FormatError):  # noqa: N818 - several of them
    """Several errors found in one reading; prints each on a line of its own.

    ``errors`` has them in the order of the text; the other attributes are those of the first.
    """

    def __init__(self, errors: list[FormatError]) -> None:
        first = errors[0]
        super().__init__(first.message, first.file, first.line)
        self.errors = errors

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


class SgfError(FormatError):
    """A game record that gives no position; names property, node and reason."""
