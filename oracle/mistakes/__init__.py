"""Mistakes people make: each a small named change to the reference engine.

They measure test cases (a good set catches every one) and name what is wrong with a program (the
mistake that fails the same tests with the same replies). ``gtp-oracle gtp --mistake NAME`` is the
engine with one of them. Nothing here is imported by the reference engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from oracle.assignments import ASSIGNMENTS, engine_for, find_variant, list_variants
from oracle.gtp.protocol import Engine
from oracle.mistakes.bank import Breakdown, Crash, Hang, Mistake, can_meet, table_with

__all__ = [
    "ASSIGNMENTS",
    "MISTAKES",
    "Breakdown",
    "Crash",
    "Hang",
    "Mistake",
    "can_meet",
    "engine_with",
    "find_mistake",
    "listing",
    "mistaken_engine",
]

_SHELVES = [import_module(f"{__name__}.{key.replace('-', '_')}").SHELF for key in ASSIGNMENTS]
MISTAKES: dict[str, Mistake] = {found.name: found for one in _SHELVES for found in one.mistakes}
_PLACES = {mistake: place for place, mistake in enumerate(MISTAKES.values())}


OPEN = " (Open: the specification does not say.)"


def find_mistake(name: str) -> Mistake:
    """Return the mistake of this name; raises :class:`ValueError` when there is none."""
    return find_variant("mistake", name, MISTAKES)


def mistaken_engine(mistake: Mistake, seed: int = 0, playouts: int = 10) -> Engine:
    """Return an engine that makes a mistake; its other commands are right."""
    return engine_with([mistake], mistake.assignment, seed, playouts)


def engine_with(
    mistakes: Iterable[Mistake], assignment: str, seed: int = 0, playouts: int = 10
) -> Engine:
    """Return an engine for an assignment that makes all of some mistakes.

    They may be of another assignment with the same game. :func:`can_meet` tells whether one engine
    can make them all; of two that replace the same, it makes the later one of the bank.
    """
    engine = engine_for(assignment, seed, playouts)
    ordered = sorted(mistakes, key=_PLACES.__getitem__)
    engine.commands = engine.session.commands = table_with(engine.commands, ordered)
    return engine


def listing() -> str:
    """Return all mistakes by assignment, a line for each with its sentence.

    Those that show only where the specification leaves the answer open are marked.
    """
    sentences: dict[str, dict[str, str]] = {assignment: {} for assignment in ASSIGNMENTS}
    for one in MISTAKES.values():
        sentences[one.assignment][one.name] = one.sentence + OPEN * one.is_open
    return list_variants(sentences)
