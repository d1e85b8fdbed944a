"""Limits of cases for a declared game that are not a fault of its declaration. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declared.declaration import Declaration
from harness.declared.observed import Observed
from harness.declared.turning import unfit
from harness.options import GTP
from harness.vocabulary.transformations import COLORS, SYMMETRY

_TURNED = {SYMMETRY: "with the board turned", COLORS: "with colors exchanged"}


def bounds(seen: Observed, declaration: Declaration) -> list[str]:
    """Return sentences for a teacher."""
    images = [] if declaration.extends else [_images(declaration)]
    return [*_errors(seen, declaration), *images]


def _errors(seen: Observed, declaration: Declaration) -> Iterator[str]:
    names = [name for name, tally in seen.tallies.items() if tally.errors]
    if names and declaration.game.protocol == GTP:
        yield (
            f"No case file for GTP can expect an error (a reply that begins with ?), as to wrong"
            f" arguments of {', '.join(names)}: tests ask what holds after one, and fuzz compares"
            " errors themselves."
        )


def _images(declaration: Declaration) -> str:
    none = unfit(declaration)
    fit = [told for kind, told in _TURNED.items() if kind not in none]
    if not fit:
        return (
            "grade asks no variants of public tests: no argument is a vertex, and none a color"
            " that may play at any time."
        )
    return (
        f"grade asks public tests {' or '.join(fit)} as well, up to a move that an engine chooses."
    )
