"""The assignments: the game of each, the engine that answers by its document, and its variants.

A *variant* is the reference engine with one thing done differently: a mistake, or a reading.
"""

from __future__ import annotations

from oracle.errors import OracleError
from oracle.gtp import new_engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from oracle.gtp.protocol import Engine

    Variant = TypeVar("Variant")

# The game of each assignment's engine.
ASSIGNMENTS = {
    "go-scoring": "go",
    "gomoku-rules": "gomoku",
    "gomoku-policy": "gomoku",
    "gosensei": "gosensei",
    "java-go": "java-go",
}


def engine_for(assignment: str, seed: int = 0, playouts: int = 10) -> Engine:
    """Return the engine of an assignment's game that knows what this assignment leaves open.

    Two assignments may share a game and settle different things about it: a stone out of turn is
    a legal move in gomoku-rules and left open in gomoku-policy.

    Raises :class:`OracleError`: there is no such assignment.
    """
    if assignment not in ASSIGNMENTS:
        raise OracleError(
            f"there is no assignment {assignment!r}; there are {', '.join(ASSIGNMENTS)}"
        )
    engine = new_engine(ASSIGNMENTS[assignment], seed, playouts)
    engine.session.assignment = assignment
    return engine


def told_by(function: Callable[..., Any]) -> tuple[str, str]:
    """Return the name that a function has as a variant, and its sentence."""
    sentence = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
    return function.__name__.replace("_", "-"), sentence


def find_variant(kind: str, name: str, known: Mapping[str, Variant]) -> Variant:
    """Return the variant of this name; ``kind``: what it is, and its option of ``gtp-oracle gtp``.

    Raises :class:`ValueError` when there is none.
    """
    if name in known:
        return known[name]
    from oracle.sentences import hint

    raise ValueError(f"no {kind} {name!r}; --{kind} list shows all{hint(name, known)}")


def list_variants(sentences: Mapping[str, Mapping[str, str]]) -> str:
    """Return variants as lines; ``sentences``: of each, by assignment and name."""
    width = max(len(name) for own in sentences.values() for name in own)
    lines = []
    for assignment, own in sentences.items():
        lines += [f"{assignment} ({len(own)})"]
        lines += [f"  {name:{width}}  {sentence}" for name, sentence in own.items()]
    return "\n".join(lines) + "\n"
