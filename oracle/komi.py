"""Komi and results as text, exact: what was typed as 0.1 counts as one tenth.

Binary floats cannot hold 0.1, and 0.1 + 0.2 is not a komi of 0.3 in them; :mod:`decimal` can, and
is imported only when a komi is set.
"""

from __future__ import annotations

from oracle.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Context, Decimal

    Komi = Decimal | int
    AnyKomi = Komi | float  # as callers of the library write it

MAX_LENGTH = 40  # characters, more than any score needs: huge exponents would fill the memory


def parse_komi(text: str) -> Komi:
    """Return a komi exactly as written, such as ``Decimal("6.5")``.

    Any decimal number of at most 40 characters will do (GTP version 2, section 6.3.2 *komi*:
    "The engine must accept the komi even if it should be ridiculous").

    Raises :class:`FormatError` for any other text.
    """
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    digits = unsigned.replace(".", "", 1)
    if len(text) > MAX_LENGTH or not (digits.isascii() and digits.isdigit()):
        raise FormatError(f"not a komi: {text!r}; expected a number such as 6.5")
    from decimal import Decimal

    return Decimal(text)


def as_komi(komi: AnyKomi) -> Komi:
    """Return a komi exactly: 0.1 is one tenth, and not the fraction that is nearest to it.

    Raises :class:`FormatError` for infinity and what is not a number.
    """
    return parse_komi(repr(komi)) if isinstance(komi, float) else komi


def exact() -> Context:
    """Return the arithmetic that loses no digit of a komi (the usual one rounds to 28)."""
    from decimal import Context

    return Context(prec=2 * MAX_LENGTH)


def plain_text(number: Komi) -> str:
    """Return a number as one writes it, such as ``7.5`` or ``4``; no digit is lost or added."""
    digits = format(number, "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def result_text(area: int, komi: Komi) -> str:
    """Return ``B+4``, ``W+0.5`` or ``0`` for Black's points minus White's and the komi.

    A whole number has no fraction.

    Source: go-scoring.txt, "GTP Command for Scoring".
    """
    lead = exact().subtract(area, komi)
    if not lead:
        return "0"
    return ("B+" if lead > 0 else "W+") + plain_text(lead.copy_abs())
