"""Turns a declaration into a specification, the record that everything else works with."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.declared import engine, reply_forms, symmetry, teacher_commands
from harness.declared.commands import refuses
from harness.declared.declaration import (
    CHOOSES,
    COLUMN_COUNT,
    MOVES,
    ROW_COUNT,
    SETS,
    SIZE,
    STANDARD,
    STARTS,
    Declaration,
    DeclaredCommand,
    DeclaredGame,
)
from harness.declared.engine import ReferenceEngine
from harness.declared.program_process import ProgramStart
from harness.declared.reference import ReferenceProgram
from harness.declared.teacher_commands import beside
from harness.specifications import specification
from harness.specifications.record import Specification, Truth
from harness.vocabulary.answer_forms import AnswerForm
from harness.vocabulary.board_kinds import BoardKind
from oracle import natures
from oracle.gtp.protocol import Engine
from oracle.natures import BOARD, MOVED, Nature

# The signs of a case file that is recognized by nothing but its folder: no command matches.
_NO_SIGNS = r"(?!)"


def specify(
    key: str, declaration: Declaration, place: Path, words: tuple[str, ...]
) -> Specification:
    """Return the specification of a declared assignment.

    ``key``: its name. ``place``: the folder of its file, in which the reference is started.
    ``words``: the reference's command as this machine has it; empty without a reference.
    """
    game = declaration.game
    own = Specification(
        key,
        _standard_forms()
        | {one.name: reply_forms.form_of(one, game) for one in declaration.commands},
        signs=_NO_SIGNS,
        natures=natures_of(declaration),
        board=BoardKind(captures=False, letters=game.letters),
        smallest=min(min(size) for size in game.sizes),
        swaps=False,
        is_alike=list_commands_on_board,
        choices=engine.choices,
        unfit=symmetry.unfit(declaration),
        begun=partial(symmetry.BegunBoard, allowed=symmetry.Allowed(declaration)),
        own_mistakes=(),
    )
    truth = _reference(own, declaration, place, words) if words else None
    if not declaration.extends:
        return replace(own, told=truth)
    return _beside(specification(declaration.extends), own, declaration, truth, place)


def _reference(
    own: Specification, declaration: Declaration, place: Path, words: tuple[str, ...]
) -> ReferenceProgram:
    told = declaration.reference
    assert told is not None
    game = declaration.game
    program = ProgramStart(
        words,
        place,
        own.commands,
        told.sandbox,
        told.timeout,
        told.fresh,
        game.protocol,
        refuses(game),
        str(place / told.translate) if told.translate else "",
    )
    return ReferenceProgram(program, declaration, told.files)


def _beside(
    shipped: Specification,
    own: Specification,
    declaration: Declaration,
    truth: Truth | None,
    place: Path,
) -> Specification:
    """Return a specification that ships with commands of the teacher's own beside it."""
    names = {one.name for one in declaration.commands}
    return replace(
        shipped,
        forms={**shipped.forms, **{name: own.forms[name] for name in names}},
        natures={**shipped.natures, **{name: own.natures[name] for name in names}},
        told=truth and beside(shipped.truth, truth, declaration),
        own_commands=frozenset(names),
        about=partial(teacher_commands.with_declared, declaration=declaration, folder=place),
    )


def list_commands_on_board(engine: Engine, command: str) -> tuple[str, ...]:
    """Return what was said since the board was begun: nobody knows the symmetries of a game."""
    if not isinstance(engine, ReferenceEngine):
        return (command,)
    starts = {one.name for one in engine.declaration.of_kind(STARTS) if one.arguments}
    said = engine.said
    begun = [place for place, one in enumerate(said) if one.partition(" ")[0] in starts]
    return (*said[begun[-1] if begun else 0 :], command)


def _standard_forms() -> dict[str, AnswerForm]:
    """Return how replies to commands are compared that every program has and nobody declares."""
    return {
        name: reply_forms.form_of(STANDARD[name], DeclaredGame())
        for name in ("name", "version", "list_commands", "known_command", "showboard", "quit")
        if name in STANDARD
    }


# --- natures -----------------------------------------------------------------------------------


def natures_of(declaration: Declaration) -> dict[str, Nature]:
    """Return what the declared commands do, by name."""
    settings = [one.name for one in declaration.of_kind(SETS)]
    return {one.name: _nature(one, settings) for one in declaration.commands}


def _nature(command: DeclaredCommand, settings: list[str]) -> Nature:
    usual = STANDARD.get(command.name)
    if usual and usual.kind == command.kind and usual.plays == command.plays:
        parts = BOARD.union(settings)  # final_score, say, needs no komi where there is none
        return natures.STANDARD[command.name].among(parts).needing(*settings)
    names_file = bool(command.arguments and command.arguments[0].files)
    if command.kind == STARTS:
        sized = {one.drawn for one in command.arguments} & {SIZE, COLUMN_COUNT, ROW_COUNT}
        parts = BOARD if sized or names_file else MOVED
        return Nature(sets=parts, names_file=names_file, lays=names_file)
    if command.kind == SETS:
        return Nature(sets=frozenset({command.name}), names_file=names_file)
    if command.kind == MOVES:
        return Nature(changes=MOVED, moves=bool(command.arguments)).needing(*settings)
    if command.kind == CHOOSES:
        return Nature(
            changes=MOVED if command.plays else natures.NOTHING,
            moves=command.plays,
            chooses=True,
            thinks=True,
            tells=command.plays,
        ).needing(*settings)
    return Nature(names_file=names_file).needing(*settings)
