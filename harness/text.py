"""Text on its way: bytes that engines and case files are made of, and back."""

from __future__ import annotations

# What Java's String.trim() takes off: everything up to the blank.
BLANKS = "".join(map(chr, range(33)))


def decode(data: bytes) -> str:
    """Return ``data`` as text: UTF-8, with any other byte as a lone surrogate.

    So bytes match the same bytes only, whatever the encoding, and :func:`encode` restores them.
    """
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of which :func:`decode` made ``text``."""
    return text.encode("utf-8", "surrogateescape")
