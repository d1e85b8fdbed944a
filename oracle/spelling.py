"""Guesses at what an unknown word was meant to be. Imported when there is such a word."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """Return the known word that is spelled most like ``word``; None if none is.

    ``alike``: how much of both has to be the same, from 0 to 1. Capitals do not matter.
    """
    spelled = {one.lower(): one for one in known}
    found = get_close_matches(word.lower(), spelled, 1, alike)
    return spelled[found[0]] if found else None


def hint(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """Return the end of a sentence about an unknown word; empty: no known one is like it."""
    found = nearest(word, known, alike)
    return f"; did you mean {found}?" if found else ""
