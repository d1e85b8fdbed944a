"""Words for sentences: numbers, lists, and guesses at what an unknown word was meant to be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as ``1 stone`` and ``2 stones``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listing(words: Sequence[str], last: str = "and") -> str:
    """Return words as a sentence lists them: ``A1``, ``A1 and B2``, ``A1, B2 and C3``.

    ``last``: the word before the last one.
    """
    *first, final = words or ["none"]
    return f"{', '.join(first)} {last} {final}" if first else final


# --- guesses at what an unknown word was meant to be -------------------------------------------


def nearest(word: str, candidates: Iterable[str], alike: float = 0.6) -> str | None:
    """Return the known word that is spelled most like ``word``; None if none is.

    ``alike``: how much of both has to be the same, from 0 to 1. Capitals do not matter.
    """
    from difflib import get_close_matches  # takes long to load; such a word is rare

    spelled = {one.lower(): one for one in candidates}
    found = get_close_matches(word.lower(), spelled, 1, alike)
    return spelled[found[0]] if found else None


def hint(word: str, candidates: Iterable[str], alike: float = 0.6) -> str:
    """Return the end of a sentence about an unknown word; empty: no known one is like it."""
    found = nearest(word, candidates, alike)
    return f"; did you mean {found}?" if found else ""
