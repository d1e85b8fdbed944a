"""What is known of an attack before it is run: one row of a roster."""

from __future__ import annotations

from typing import NamedTuple


class Attack(NamedTuple):
    """One hostile program, or two where the second one profits from the first."""

    program: str  # a function of the file ``source``
    title: str  # follows "an engine that tries to"
    layer: dict[int, str]  # level → what stops it
    then: str = ""  # the program that runs in the next box
    leaks: frozenset[int] = frozenset()  # levels that cannot hold it, and say so
    patience: float = 8.0  # seconds until it is ended
    source: str = "attacks"  # the file beside this one, without its ending
    cpu: float = 20.0  # the limit of processor time, in seconds
