"""Small words: bytes as text and back, numbers of things, and lists cut short.

It imports next to nothing, since every run loads it.
"""

from __future__ import annotations

from collections.abc import Iterable

# What Java's String.trim() takes off: everything up to the blank.
BLANKS = "".join(map(chr, range(33)))


def decode(data: bytes) -> str:
    """Return ``data`` as text: UTF-8, with any other byte as a lone surrogate.

    So bytes match the same bytes only, whatever the encoding, and :func:`encode` restores them.
    """
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes that :func:`decode` turned into ``text``."""
    return text.encode("utf-8", "surrogateescape")


def plural(count: int, word: str) -> str:
    """Return the word, with an s unless there is one."""
    return word if count == 1 else f"{word}s"


def number_of(count: int, word: str) -> str:
    """Return a number with its noun, such as ``1 test`` and ``2 tests``."""
    return f"{count} {plural(count, word)}"


def count_rest(count: int, words: str = "and {} more") -> str:
    """Return how many others there are, in the place of ``{}``; "" if there are none."""
    return words.format(count) if count > 0 else ""


def at_most(texts: Iterable[str], most: int, words: str = "and {} more") -> list[str]:
    """Return the first texts and, if there are others, how many: see :func:`count_rest`."""
    found = list(texts)
    rest = count_rest(len(found) - most, words)
    return [*found[:most], rest] if rest else found


def some(texts: Iterable[str], most: int, between: str = ", ") -> str:
    """Return the first texts in one, such as ``A1, B2 and 3 more``."""
    found = list(texts)
    return between.join(found[:most]) + count_rest(len(found) - most, " and {} more")


def read_number(typed: str) -> int | None:
    """Return a whole number that somebody typed; None if it is not one, or beyond nine digits."""
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 10 else None


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NUMBERS = tuple(f"{place:02}" for place in range(1, 13))


def show_utc(stamp: str) -> str:
    """Return ``2026-11-27T09:05:00Z`` as ``27 Nov 2026, 09:05 UTC``; any other text as it is."""
    year, _, rest = stamp.partition("-")
    month, _, day = rest[:5].partition("-")
    if len(stamp) != 20 or not stamp.endswith("Z") or month not in _NUMBERS:
        return stamp
    return f"{day.lstrip('0')} {_MONTHS[_NUMBERS.index(month)]} {year}, {stamp[11:16]} UTC"


def natural_order(text: str) -> tuple[object, ...]:
    """Return a key that sorts texts as people count: ``s2`` before ``s10``."""
    import re

    parts = re.split("([0-9]+)", text)
    numbers = [(len(one.lstrip("0")), one.lstrip("0")) for one in parts[1::2]]
    words = [one.casefold() for one in parts[::2]]
    return (*[part for pair in zip(words, [*numbers, ()], strict=True) for part in pair], text)


def begin_sentence(text: str) -> str:
    """Return a phrase with a large first letter; a file's name at its beginning stays as it is."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[:1].upper() + text[1:] if first.rstrip(",:;").isalpha() else text
