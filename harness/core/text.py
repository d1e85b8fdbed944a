"""Text: bytes and back, numbers of things, lists cut short, and words of engines made fit to show.

It imports next to nothing, since every run loads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

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


def some(texts: Iterable[str], most: int) -> str:
    """Return the first texts in one, such as ``A1, B2 and 3 more``."""
    found = list(texts)
    return ", ".join(found[:most]) + count_rest(len(found) - most, " and {} more")


def read_number(text: str) -> int | None:
    """Return a whole number that somebody typed; None if it is not one, or beyond nine digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


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
    parts = re.split("([0-9]+)", text)
    numbers = [(len(one.lstrip("0")), one.lstrip("0")) for one in parts[1::2]]
    words = [one.casefold() for one in parts[::2]]
    return (*[part for pair in zip(words, [*numbers, ()], strict=True) for part in pair], text)


def begin_sentence(text: str) -> str:
    """Return a phrase with a large first letter; a file's name at its beginning stays as it is."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[:1].upper() + text[1:] if first.rstrip(",:;").isalpha() else text


def sentence(text: str) -> str:
    """Return a phrase as a sentence, begun by :func:`begin_sentence`."""
    return begin_sentence(text) + ("" if text.endswith((".", "!", "?")) else ".")


# An engine may send anything: NUL, escape sequences, bytes that are not UTF-8 (which arrive as
# lone surrogates), marks that turn the direction of writing. XML and TAP cannot hold some of
# these, a terminal would obey others. Each is shown as programmers write it, a byte as ``\x1b``.
_CONTROLS = [code for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"]
_PLAIN = bytes(code for code in range(0x80) if code not in _CONTROLS)
_INVISIBLE = [0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069]
_NO_CHARACTERS = [0xFFFE, 0xFFFF]
_UNDECODED = range(0xDC80, 0xDD00)  # bytes that were not UTF-8: "surrogateescape"
_SURROGATES = range(0xD800, 0xE000)
_SIGNS = "✓✗✕·–×…‹›"  # of the harness's own reports


@cache
def _table() -> dict[int, str]:
    return (
        {code: f"\\u{code:04x}" for code in (*_INVISIBLE, *_NO_CHARACTERS, *_SURROGATES)}
        | {code: f"\\x{code:02x}" for code in _CONTROLS}
        | {code: f"\\x{code - 0xDC00:02x}" for code in _UNDECODED}
    )


@cache
def _unfit() -> re.Pattern[str]:
    """Looking is much cheaper than translating; but to compile this takes as long as eighty
    commands, and a plain text needs none of it.
    """
    return re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
    )


def escape_controls(text: str) -> str:
    r"""Return the text with all that cannot be shown as ``\x1b``; CR LF becomes LF."""
    if text.isprintable():
        return text
    return _translate(text) if _fit(text) is None else text


def encode_visible(text: str) -> bytes:
    """Escape as :func:`escape_controls` does, and encode as UTF-8; often that is one step."""
    data = _fit(text)
    return _translate(text).encode() if data is None else data


def _translate(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_table())


def _fit(text: str) -> bytes | None:
    """Return a text as UTF-8 if it can be shown: of a long one hardly more than signs is looked at
    closely.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return None
    rest = data.translate(None, _PLAIN).decode().strip(_SIGNS)
    return data if not rest or not _unfit().search(rest) else None


def encode_without_surrogates(text: str) -> bytes:
    """Return what :func:`without_surrogates` does, as UTF-8."""
    return without_surrogates(text).encode()


def without_surrogates(text: str) -> str:
    """Return the text with lone surrogates as U+FFFD, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def one_line(text: str, limit: int = 0) -> str:
    """Return the text fit to be shown on one line, with ``⏎`` for line ends; cut at ``limit``."""
    line = escape_controls(text).replace("\n", " ⏎ ").replace("\t", " ")
    return line if not limit or len(line) <= limit else line[: limit - 1].rstrip() + "…"
