"""What the readers of Java's and of awk's expressions share: a text, read from left to right."""

from __future__ import annotations

from harness.errors import PatternError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class RegexReader:
    """A text and a place in it. Subclasses have a method for each part of their grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def _refuse(self, why: str) -> NoReturn:
        raise PatternError(why)

    def _raw(self, ahead: int = 0) -> str:
        """Return a character as it stands there, "" behind the end."""
        return self._text[self._place + ahead : self._place + ahead + 1]

    def _peek(self) -> str:
        """Return the character that counts next, "" behind the end."""
        return self._raw()

    def _next(self, count: int = 1) -> str:
        """Go past so many characters and return them; "" if there are fewer."""
        found = self._text[self._place : self._place + count]
        self._place += count
        return found if len(found) == count else ""

    def _takes(self, text: str) -> bool:
        """Go past ``text`` if that comes next."""
        if not self._text.startswith(text, self._place):
            return False
        self._place += len(text)
        return True

    def _alternatives(self) -> str:
        """Read what stands between ``|``; return it in Python's notation."""
        found = [self._sequence()]
        while self._peek() == "|":
            self._place += 1
            found.append(self._sequence())
        return "|".join(found)

    def _sequence(self) -> str:
        """Read up to the next ``|`` or the end of the group."""
        raise NotImplementedError
