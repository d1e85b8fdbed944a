"""A test for equal tests: equal up to a symmetry of the board and an exchange of colors.

A test is its command, the position that it is about, and whatever else its answer depends on:
side to move, ko, komi, policy, prisoners, the last passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.judging import mistaken
from harness.records import CaseFile, Step
from oracle.color import color_of
from oracle.errors import VertexError
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Breakdown
from oracle.symmetry import ALL, image, transform
from oracle.vertex import parse_vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.specifications.record import Specification

Identity = tuple[Any, ...]


def identity(engine: Engine, command: str, specification: Specification) -> Identity:
    """Return what is equal for two tests if they are the same.

    ``engine``: the oracle's, before the command.
    """
    if specification.is_alike:
        return specification.is_alike(engine, command)
    game = engine.session.game
    words = split(command)
    read = specification.depends.get(words[0]) if words else None
    colors, rest = read(engine.session, words) if read else ((), ())
    swaps = (False, True) if specification.swaps else (False,)
    images = []
    for symmetry in ALL:
        turned = transform(game.position, symmetry)
        for swap in swaps:
            board = turned.swap_colors() if swap else turned
            named = tuple(_word(word, game.position, symmetry, swap) for word in words)
            shape = board.grid
            sided = tuple(_swap_color(color) for color in colors) if swap else colors
            images.append((shape.rows, shape.columns, board.black, board.white, named, sided))
    return (specification.key, *min(images), rest)


def _swap_color(value: int) -> int:
    """Return the other color; codes above those of colors come in pairs, too."""
    return value ^ 3 if value else value


def _word(word: str, position: Any, symmetry: int, swap: bool) -> tuple[Any, ...]:
    """Return a word of a command as it reads after a symmetry: vertices and colors change."""
    shape = position.grid
    color = color_of(word)
    if color is not None:
        return ("color", _swap_color(color) if swap else color)
    try:
        point = parse_vertex(word, shape.rows, shape.columns)
    except VertexError:
        return ("word", word.lower())
    return ("point", *image(point, shape, symmetry))


def identities(case: CaseFile, specification: Specification) -> Iterator[tuple[Step, Identity]]:
    """Yield the tests of a case file with their identities."""
    engine = specification.reference_engine(mistaken.folder_of(case))
    for step in case.steps:
        if step.is_test:
            yield step, identity(engine, step.command, specification)
        for _, raw in mistaken.replay((step,), engine):
            if isinstance(raw, Breakdown):
                return
