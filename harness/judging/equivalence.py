"""Answers that count as the same, and tests that are equal up to a symmetry."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from harness.judging import in_process
from harness.records import CaseFile, Reply, Step
from harness.vocabulary.answer_forms import EXACT, MOVE, SETTING, UNDEFINED, AnswerForm, is_a_move
from oracle.errors import OracleError, VertexError
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Breakdown
from oracle.position import color_of, parse_vertex
from oracle.symmetry import ALL, image, transform

TYPE_CHECKING = False

if TYPE_CHECKING:
    from harness.specifications.record import Specification


def same(command: str, right: Reply, got: Reply, specification: Specification) -> bool:
    """Return whether the specification accepts ``got`` where the oracle answers ``right``."""
    form = _form(command, right.text, specification)
    if form is UNDEFINED:
        return True
    if not (right.ok and got.ok):
        return right.ok is got.ok
    return form.normal(right.text) == form.normal(got.text)


def expression(command: str, right: Reply, specification: Specification) -> str:
    """Return the expression for a ``#? [...]`` line that accepts what the specification accepts.

    Raises :class:`ValueError` where the right answer is an error: no expectation accepts one.
    """
    if not right.ok:
        raise ValueError(f"the right answer to {command!r} is an error: {right.text}")
    return _form(command, right.text, specification).expression(right.text)


def forms(command: str, right: Reply, specification: Specification) -> tuple[str, ...]:
    """Return sample texts that the specification accepts, the oracle's own first."""
    samples = _form(command, right.text, specification).samples(right.text)
    return tuple(dict.fromkeys(samples))


def is_exact(command: str, specification: Specification) -> bool:
    """Return whether the position determines the answer.

    It does not for ``genmove``, whose choice is free (though ``pass`` and ``resign`` are not), for
    settings, whose answer nobody reads, and for what the assignment does not define.
    """
    return _find_form(command, specification).is_exact


def is_judged(command: str, specification: Specification) -> bool:
    """Return whether the assignment calls some answers right and some wrong, errors aside.

    It does not for settings, nor for commands that it does not define.
    """
    return _find_form(command, specification) not in (SETTING, UNDEFINED)


def is_underspecified(engine: Engine, command: str) -> bool:
    """Return whether the document leaves open what an oracle's engine answers to a command now."""
    with suppress(OracleError):
        return engine.readings(command).is_open
    return False


def _form(command: str, text: str, specification: Specification) -> AnswerForm:
    form = _find_form(command, specification)
    return EXACT if form is MOVE and not is_a_move(text) else form


def _find_form(command: str, specification: Specification) -> AnswerForm:
    words = command.split()
    table = specification.forms
    if words[:1] == ["known_command"]:  # nobody can tell what else an engine knows
        return EXACT if words[1:] and words[1] in table else UNDEFINED
    return table.get(words[0], UNDEFINED) if words else UNDEFINED


# --- A test for equal tests: equal up to a symmetry of the board and an exchange of colors -------
# A test is its command, the position that it is about, and whatever else its answer depends on:
# side to move, ko, komi, policy, prisoners, the last passes.


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
    engine = specification.reference_engine(in_process.folder_of(case))
    for step in case.steps:
        if step.is_test:
            yield step, identity(engine, step.command, specification)
        for _, raw in in_process.replay((step,), engine):
            if isinstance(raw, Breakdown):
                return
