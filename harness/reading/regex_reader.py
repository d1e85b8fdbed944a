"""Sets of characters, and the base of the readers of Java's and of awk's expressions."""

import re
from collections.abc import Iterable

from harness.core.errors import PatternError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

Ranges = tuple[tuple[int, int], ...]  # sorted, apart, both ends included

LAST = 0x10FFFF
EVERYTHING: Ranges = ((0, LAST),)


def of(characters: Iterable[str | tuple[int, int]]) -> Ranges:
    """Return the set of the given characters, two-character ranges (``"az"``) and pairs."""
    pairs = ((ord(one[0]), ord(one[-1])) if isinstance(one, str) else one for one in characters)
    found: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def complement(ranges: Ranges) -> Ranges:
    """Return every character that is not in a set."""
    found, start = [], 0
    for first, last in ranges:
        if start < first:
            found.append((start, first - 1))
        start = last + 1
    return (*found, (start, LAST)) if start <= LAST else tuple(found)


def intersection(ranges: Ranges, other: Ranges) -> Ranges:
    """Return what is in both sets."""
    return complement(of([*complement(ranges), *complement(other)]))


def of_either_case(ranges: Ranges) -> Ranges:
    """Return the set with the other case of each ASCII letter in it."""
    small, large = intersection(ranges, of(["az"])), intersection(ranges, of(["AZ"]))
    moved = [(first - 32, last - 32) for first, last in small]
    moved += [(first + 32, last + 32) for first, last in large]
    return of([*ranges, *moved])


def in_python(ranges: Ranges) -> str:
    """Return a regular expression of Python's :mod:`re` for one character of the set."""
    if ranges == EVERYTHING:
        return "(?s:.)"
    if not ranges:
        return r"[^\s\S]"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return escape_character(ranges[0][0])
    # Up to the last character there is, it is said by what is not in it: to compile a range of a
    # million characters takes re some milliseconds.
    is_open = ranges[-1][1] == LAST
    parts = (
        escape_character(first) + (f"-{escape_character(last)}" if last > first else "")
        for first, last in (complement(ranges) if is_open else ranges)
    )
    return f"[{'^' if is_open else ''}{''.join(parts)}]"


def escape_character(code: int) -> str:
    """Return one character so that it stands for itself, in a set or outside."""
    character = chr(code)
    if character.isascii() and character.isalnum():
        return character
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


WORD = of(["az", "AZ", "09", "_"])
# The classes of POSIX, as Java calls them: of ASCII only.
POSIX = {
    "Lower": of(["az"]),
    "Upper": of(["AZ"]),
    "ASCII": of(["\0\x7f"]),
    "Alpha": of(["az", "AZ"]),
    "Digit": of(["09"]),
    "Alnum": of(["az", "AZ", "09"]),
    "Punct": of(["!/", ":@", "[`", "{~"]),
    "Graph": of(["!~"]),
    "Print": of([" ~"]),
    "Blank": of([" ", "\t"]),
    "Cntrl": of(["\0\x1f", "\x7f"]),
    "XDigit": of(["09", "af", "AF"]),
    "Space": of([" ", "\t\r"]),
}


class RegexReader:
    """A text and a place in it. Subclasses have a method for each part of their grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def _refuse(self, message: str) -> "NoReturn":
        raise PatternError(message)

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

    def _run(self, pattern: str) -> str:
        """Go past what an expression of Python's matches here, and return it."""
        found = re.compile(pattern).match(self._text, self._place)
        self._place = found.end() if found else self._place
        return found[0] if found else ""

    def alternatives(self) -> str:
        """Read what stands between ``|``; return it in Python's notation."""
        found = [self._sequence()]
        while self._peek() == "|":
            self._place += 1
            found.append(self._sequence())
        return "|".join(found)

    def _sequence(self) -> str:
        """Read up to the next ``|`` or the end of the group."""
        raise NotImplementedError
