"""Two engines against each other: one of them stands in for a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.declared.declaration import (
    ANY_ORDER,
    ASKS,
    CASELESS,
    STANDARD,
    Declaration,
    DeclaredCommand,
    DeclaredGame,
    with_standard,
)
from harness.declared.program_process import ProgramStart
from harness.declared.reference import ReferenceProgram
from harness.declared.refusing import refuses
from harness.declared.specifying import specify
from harness.errors import UsageError
from harness.specifications.record import Specification

_KEY = "two engines"
_PLAY = STANDARD["play"]._replace(bad=("{turn} {stone}", "{turn} z99"))
_WORDS = (ANY_ORDER, CASELESS)  # how their answers are compared
# A refusal may be an answer, as the course has it.
_GAME = DeclaredGame(refused="(?i)illegal move")
SIZES = (5, 6, 7, 9, 13, 15, 19)  # that engines may take; small boards find more
_DRAWN = 3  # of them, the smallest that both take
_RULES = ("legal_moves", "side_to_move", "final_result", "board_size")  # questions of GoGui's
# Commands that are said only if both engines know them.
SHARED = ("undo", *(f"gogui-rules_{name}" for name in _RULES))


def common_sizes(taken: Sequence[int], by_other: Sequence[int]) -> list[int]:
    """Return the board sizes to draw, of those that each of two engines takes.

    Raises:
        UsageError: there are none.
    """
    both = [size for size in taken if size in by_other]
    if not both:
        raise UsageError(
            f"the engines take no board of the same size: PROGRAM takes {_list_sizes(taken)}, the"
            f" first engine of --against {_list_sizes(by_other)} (of {_list_sizes(SIZES)})"
        )
    return both[:_DRAWN]


def _list_sizes(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes)) or "none"


def standard(known: frozenset[str], sizes: Sequence[int] = SIZES[:_DRAWN]) -> Declaration:
    """Return what any two engines that speak GTP have in common.

    ``known``: to both, of SHARED. ``sizes``: of square boards, which both take. Stones are played
    in turn, for that is right in every game.
    """
    game = _GAME._replace(sizes=tuple((size, size) for size in sizes))
    shared = [STANDARD.get(name, DeclaredCommand(name, ASKS, reply=_WORDS)) for name in SHARED]
    own = [one for one in shared if one.name in known]
    return Declaration(game, with_standard((_PLAY, *own), game))


def specify_for(
    words: Sequence[str], declaration: Declaration, folder: Path, sandbox: str, timeout: float
) -> Specification:
    """Return the specification that has an engine for its reference.

    ``words``: of its command, which is started in a folder.
    """
    asked = specify(_KEY, declaration._replace(reference=None), folder, ())
    game = declaration.game
    program = ProgramStart(
        tuple(words),
        folder,
        asked.commands,
        sandbox,
        timeout,
        protocol=game.protocol,
        refuses=refuses(game),
    )
    return replace(asked, told=ReferenceProgram(program, declaration))
