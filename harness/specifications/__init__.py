"""The specifications of the assignments that ship, a folder each.

``SPECIFICATION`` in ``<folder>/__init__.py`` is the record
(:class:`~harness.specifications.record.Specification`); ``features.py`` what generated tests are
about. ``conversations.py``, what fuzzing says, is apart: it alone needs Hypothesis, which is
installed for fuzzing only. No other module of ``harness`` names an assignment.
"""

from __future__ import annotations

from importlib import import_module

from oracle.assignments import ASSIGNMENTS
from oracle.command_properties import STANDARD, CommandProperties, PropertyTable, guess_properties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.specifications.record import Specification

NAMES = tuple(ASSIGNMENTS)


def specification(key: str) -> Specification:
    """Return the specification of this key, one of :data:`NAMES`."""
    assert key in NAMES, key
    module = import_module(f"{__name__}.{key.replace('-', '_')}")
    found: Specification = module.SPECIFICATION
    return found


def _of_all() -> dict[str, CommandProperties]:
    """Return what all assignments' own commands do, by name.

    What two of them take for different things is known no better than by its name.
    """
    found: dict[str, CommandProperties] = {}
    for key in NAMES:
        for name, properties in specification(key).command_properties.items():
            known = found.setdefault(name, properties)
            if not properties.does_as(known):
                found[name] = guess_properties(name)
    return found


# What is known where nobody says whose a case file is. The assignments, which take their time, are
# asked only for a command that is not a standard one.
EVERYONES = PropertyTable(STANDARD, _of_all)
