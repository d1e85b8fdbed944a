"""What the assignments are: a folder each, and nowhere else.

``SPECIFICATION`` in ``<folder>/__init__.py`` is the record
(:class:`~harness.specifications.record.Specification`); ``features.py`` what generated tests are
about, ``conversations.py`` what fuzzing says. No other module of ``harness`` names an assignment.
"""

from __future__ import annotations

from importlib import import_module

from harness.specifications.record import Specification
from oracle.assignments import ASSIGNMENTS

NAMES = tuple(ASSIGNMENTS)


def specification(key: str) -> Specification:
    """Return the specification of this key, one of :data:`NAMES`."""
    assert key in NAMES, key
    module = import_module(f"{__name__}.{key.replace('-', '_')}")
    found: Specification = module.SPECIFICATION
    return found
