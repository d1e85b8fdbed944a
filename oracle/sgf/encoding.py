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
# Four letters above ASCII in a row are two Chinese characters; European names have no such run.
_FOREIGN_RUN = re.compile(rb"[\x80-\xff]{4}")
# Families of encodings in which ASCII text stands for itself. Python knows others by name:
# UTF-7, ``unicode_escape``, ``idna``, ``rot13``; and in the family cp there is EBCDIC.
_FAMILIES = ("utf-8", "ascii", "iso", "cp", "koi8", "mac", "gb", "big5", "shift_jis", "euc")
_SIGNS = b"(;AB[aa])"


def decode(data: bytes) -> str:
    """Return a file's text.

    Its encoding is what a byte-order mark or ``CA`` says, if the file bears it out, or else UTF-8,
    GBK or, where neither fits, Latin-1, which SGF has by default.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace")
    for name in _candidates(data):
        text = data.decode(name, "replace")
        if _fits(text):
            return text
    return data.decode("latin-1")


def _candidates(data: bytes) -> list[str]:
    names = ["utf-8"]
    declared = _DECLARED.search(data)
    if declared and (codec := _codec(declared[1].decode("ascii"))):
        names.insert(0, codec)
    if _FOREIGN_RUN.search(data):
        names.append("gb18030")  # contains GBK and GB 2312
    return names


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
