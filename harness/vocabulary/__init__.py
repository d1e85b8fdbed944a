"""The building blocks of specifications, independent of any assignment.

:mod:`~harness.vocabulary.answers`; :mod:`~harness.vocabulary.transformations` that leave them
known; what tests are made about (:mod:`~harness.vocabulary.scenes`,
:mod:`~harness.vocabulary.made_positions`), and what is said to an engine
(:mod:`~harness.vocabulary.conversations`). Nothing is started.
"""

from harness.core.typed import NamedTuple
from oracle.position import GTP_LETTERS


class BoardKind(NamedTuple):
    """Board of a game."""

    captures: bool = True  # as in Go, and not in Gomoku
    size: int = 0  # before any command; 0: the engine's own choice
    is_fixed: bool = False  # there is no other size
    format: str = ""  # that load_board reads, of oracle.formats; "": its name or content tells
    letters: str = GTP_LETTERS  # of the columns


GO, GOMOKU = BoardKind(), BoardKind(captures=False)
