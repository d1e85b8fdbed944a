"""Counting the stones of a color."""

from __future__ import annotations

from harness.specifications.record import Specification
from harness.vocabulary.answers import EXACT, GTP
from oracle.command_properties import ASKS

SPECIFICATION = Specification(
    "count-stones",
    {**GTP, "stones": EXACT},
    signs=r"stones .*",
    command_properties={"stones": ASKS},
)
