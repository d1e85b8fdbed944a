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
from harness.specifications.record import Specification

_KEY = "two engines"
_PLAY = STANDARD["play"]._replace(bad=("{turn} {stone}", "{turn} z99"))
_WORDS = (ANY_ORDER, CASELESS)  # how their answers are compared
# Sizes that all engines have; a refusal may be an answer, as the course has it.
_GAME = DeclaredGame(sizes=((5, 5), (6, 6), (7, 7)), refused="(?i)illegal move")
_RULES = ("legal_moves", "side_to_move", "final_result", "board_size")  # questions of GoGui's
# Commands that are said only if both engines know them.
SHARED = ("undo", *(f"gogui-rules_{name}" for name in _RULES))


def standard(known: frozenset[str]) -> Declaration:
    """Return what any two engines that speak GTP have in common; ``known``: to both, of SHARED.

    Stones are played in turn, for that is right in every game.
    """
    shared = [STANDARD.get(name, DeclaredCommand(name, ASKS, reply=_WORDS)) for name in SHARED]
    own = [one for one in shared if one.name in known]
    return Declaration(_GAME, with_standard((_PLAY, *own), _GAME))


def judged_by(
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
