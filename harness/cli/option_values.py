"""Readers of the values of options, which say what is wrong as argparse wants it.

Without :mod:`argparse`, which a run does not load if its command line is plain.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from harness.options import PROTOCOLS


def _refusal(what: str) -> Exception:
    from argparse import ArgumentTypeError

    return ArgumentTypeError(what)


def number(least: float, what: str) -> Callable[[str], float]:
    """Return a reader of numbers of at least ``least``."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value < float("inf"):
            raise _refusal(f"found {text!r}, expected {what}")
        return value

    return read


def whole(least: int, what: str, most: float = math.inf) -> Callable[[str], int]:
    """Return a reader of whole numbers from ``least`` to ``most``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise _refusal(f"found {text!r}, expected {what}")
        return int(text)

    return read


MOST_PORT = 65535
port = whole(0, f"a whole number from 0 to {MOST_PORT}", MOST_PORT)  # 0 is any free one
_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def size(text: str) -> int:
    """Read a number of bytes, such as 65536, 64k, 4M or 1G."""
    digits = text.rstrip("kKmMgG")
    unit = _SUFFIXES.get(text[len(digits) :].lower())
    if not (digits.isascii() and digits.isdigit()) or unit is None:
        raise _refusal(f"found {text!r}, expected bytes such as 65536 or 64k")
    return int(digits) * unit


def figure(count: int) -> str:
    """Write a number of bytes as :func:`size` reads it, such as ``64k``."""
    powers = [(factor, suffix.upper()) for suffix, factor in _SUFFIXES.items()]
    factor, suffix = max(pair for pair in powers if count % pair[0] == 0)
    return f"{count // factor}{suffix.replace('K', 'k')}"


def protocol(text: str) -> str:
    """Read the name of a protocol; for shells, a blank in it may be a hyphen."""
    name = text.replace("-", " ")
    if name not in PROTOCOLS:
        expected = " or ".join(map(repr, PROTOCOLS))
        raise _refusal(f"found {text!r}, expected {expected}")
    return name
