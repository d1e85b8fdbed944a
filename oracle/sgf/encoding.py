"""The text of a game record, whatever its encoding, declared or not.

A file is decoded as a whole before it is split into tokens: in GBK, Big5 and Shift JIS the second
byte of a character may be that of ``]`` or a backslash.
"""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"CA\s*\[\s*([!-\\^-~]{1,40})\s*\]")
# Families of encodings in which ASCII text stands for itself. Python knows others by name:
# UTF-7, ``unicode_escape``, ``idna``, ``rot13``; and in the family cp there is EBCDIC.
_FAMILIES = ("utf-8", "ascii", "iso", "cp", "koi8", "mac", "gb", "big5", "shift_jis", "euc")
_SIGNS = b"(;AB[aa])"

# Four letters above ASCII in a row are two Chinese characters; European names have no such run.
# Shift JIS begins most characters with a byte that Western texts and GB 2312 do not have.
_CHINESE = re.compile(rb"[\x80-\xff]{4}")
_JAPANESE = re.compile(rb"(?:[\x81-\x9f][\x40-\x7e\x80-\xfc]){2}")
_VALUE = re.compile(r"\[[^\\\]]*(?:\\.[^\\\]]*)*(?:(\])|\\?\Z)", re.DOTALL)

_BETWEEN = re.compile(r"[A-Za-z0-9;()\s]*", re.ASCII)


def decode(data: bytes) -> tuple[str, str]:
    """Return a file's text, and the encoding if that is a mere guess (else ``""``).

    The encoding is what a byte-order mark or ``CA`` says, if the file bears it out, or else UTF-8.
    Where neither fits, GBK, Shift JIS, Big5 and Latin-1, which SGF has by default, are tried: in a
    wrong one values swallow their ``]`` or end too early. If several are equal in that, the one
    whose signs the text has is taken.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace"), ""
    for name in _find_stated_encodings(data):
        text = data.decode(name, "replace")
        if _fits(text):
            return text, ""
    texts = [(data.decode(name, "replace"), name) for name in _guesses(data)]
    return max((guess for guess in texts if _fits(guess[0])), key=lambda guess: _values(guess[0]))


def _find_stated_encodings(data: bytes) -> list[str]:
    declared = _DECLARED.search(data)
    codec = _codec(declared[1].decode("ascii")) if declared else None
    return [codec, "utf-8"] if codec else ["utf-8"]


def _guesses(data: bytes) -> list[str]:
    """Return the encodings that are tried, the likeliest first."""
    likely = []
    if _CHINESE.search(data) and _share(data, "gb18030", "gb2312") >= 0.5:
        likely.append("gb18030")  # contains GBK and GB 2312
    if _JAPANESE.search(data) and _share(data, "cp932", "shift_jis") >= 0.5:
        likely.append("cp932")
    rest = ("latin-1", "gb18030", "cp932", "big5")
    return likely + [name for name in rest if name not in likely]


def _share(data: bytes, name: str, usual: str) -> float:
    """Return which share of the characters above ASCII is in the usual part of an encoding.

    Half-width letters of Shift JIS are not: each byte of a Chinese character is one of them.
    """
    foreign = [char for char in data.decode(name, "replace") if not char.isascii()]
    known = [char for char in foreign if len(char.encode(usual, "ignore")) > 1]
    return len(known) / len(foreign) if foreign else 0.0


def _values(text: str) -> int:
    """Return how many values a text has; -1 if text between them cannot be from a game record."""
    rest, count = _VALUE.subn(lambda value: "" if value[1] else "[", text)
    game = rest[rest.find("(") : rest.rfind(")") + 1]
    return count if _BETWEEN.fullmatch(game) else -1


def _codec(name: str) -> str | None:
    """Return Python's name of an encoding in which ASCII stands for itself, None for others."""
    try:
        codec = codecs.lookup(name).name
        plain = codec.startswith(_FAMILIES) and _SIGNS.decode(codec) == _SIGNS.decode("ascii")
    except (LookupError, ValueError):
        return None
    return codec if plain else None


def _fits(text: str) -> bool:
    """Whether at most one in ten of the characters above ASCII could not be decoded."""
    foreign = sum(not character.isascii() for character in text)
    return text.count("\N{REPLACEMENT CHARACTER}") * 10 <= foreign
