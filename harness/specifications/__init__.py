"""The specifications of the assignments that ship, a folder each.

``SPECIFICATION`` in ``<folder>/__init__.py`` is the record
(:class:`~harness.specifications.record.Specification`); ``features.py`` what generated tests are
about. ``conversations.py``, what fuzzing says, is apart: it alone needs Hypothesis, which is
installed for fuzzing only. No other module of ``harness`` names an assignment.
"""

from __future__ import annotations

from harness.postponed import load
from oracle.assignments import ASSIGNMENTS
from oracle.natures import STANDARD, Nature, Natures, guess_nature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.specifications.record import Specification

NAMES = tuple(ASSIGNMENTS)


def specification(key: str) -> Specification:
    """Return the specification of this key, one of :data:`NAMES`."""
    assert key in NAMES, key
    module = load(f"{__name__}.{key.replace('-', '_')}")
    found: Specification = module.SPECIFICATION
    return found


def _of_all() -> dict[str, Nature]:
    """Return what all assignments' own commands do, by name.

    What two of them take for different things is known no better than by its name.
    """
    found: dict[str, Nature] = {}
    for key in NAMES:
        for name, nature in specification(key).natures.items():
            known = found.setdefault(name, nature)
            if not nature.does_as(known):
                found[name] = guess_nature(name)
    return found


# What is known where nobody says whose a case file is. The assignments, which take their time, are
# asked only for a command that is not a standard one.
EVERYONES = Natures(STANDARD, _of_all)
