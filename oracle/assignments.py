"""The assignments: the game of each, and the engine that answers by its document."""

from __future__ import annotations

from oracle.errors import OracleError
from oracle.gtp import new_engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.gtp.protocol import Engine

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
