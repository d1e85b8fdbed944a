"""The assignments that cases can be generated for."""

from __future__ import annotations

from importlib import import_module

from harness.generating.features import Kind
from oracle.mistakes import ASSIGNMENTS


def kind(assignment: str) -> Kind:
    """Return what generating cases for one of ``ASSIGNMENTS`` needs to know of it."""
    assert assignment in ASSIGNMENTS
    module = import_module(f"harness.generating.{assignment.replace('-', '_')}")
    found: Kind = module.KIND
    return found
