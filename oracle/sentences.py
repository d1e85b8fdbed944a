"""Numbers and lists in sentences."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as ``1 stone`` and ``2 stones``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listing(words: Sequence[str], last: str = "and") -> str:
    """Return words as a sentence lists them: ``A1``, ``A1 and B2``, ``A1, B2 and C3``.

    ``last``: the word before the last one.
    """
    *first, final = words or ["none"]
    return f"{', '.join(first)} {last} {final}" if first else final
