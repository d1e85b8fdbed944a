"""Where a case file can go on with a new engine after the one before broke. Pure.

It goes on at a *place* from which nothing before matters. The file says so by the line
``#! restart``; or ``clear_board`` follows, with ``boardsize`` and settings before it as may be, or
``load_board`` of a good file. What outlives ``clear_board`` is sent again before: the last command
that gave the board its size, and every command that may have made a setting. A test whose command
is not known here may have done anything, so that there is no place after it but those that the
file names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from harness.records import CaseFile, Place, Step

MOST = 5  # new engines for one file

_MARK = re.compile(r"\s*#!\s*restart\s*")
_CLEARS = ("clear_board", "load_board")
_SIZES = ("boardsize", "load_board")  # the last of them counts
_SIZE = "size"  # what they set
_LOADS = "loadsgf"  # sets the size, too, but nobody knows here to which
# Settings of which the last one alone counts.
_MODES = ("komi", "policy")
_PREPARES = ("boardsize", *_MODES)  # may stand between a place and its clear_board
# What clear_board undoes.
_MOVES = re.compile(
    r"boardsize|clear_board|load_board|play|black|white|(reg_)?genmove|kgs-genmove_cleanup|undo"
    r"|gg-undo|gogui-play_sequence|gogui-setup|gogui-setup_player|(set|place)_free_handicap"
    r"|fixed_handicap"
)
# What changes nothing.
_QUESTIONS = re.compile(
    r"gogui-rules_\w+|oracle-\w+|gogui-analyze_commands|name|version|protocol_version|cputime"
    r"|known_command|list_commands|showboard|get_komi|score|final_score|final_status_list"
    r"|all_legal|is_legal|captures|policy_moves|legal_moves|is_valid|display|eyes|twoeyes|eyespaces"
    r"|is_captured|can_play|is_over"
)


def next_place(case: CaseFile, broken: int, begun: int) -> Place | None:
    """Return where to go on after an engine broke at a command, None if there is no such place.

    ``broken``: the command's index in ``case.steps``; ``begun``: that of the engine's first one.
    A program that prints an error and then ends is found dead at the next command only. So where
    a new board begins with the very command, that is the place, unless it was the engine's first.
    A place does not count if no test comes after it, or if the command would have to be sent
    again before it.
    """
    for place in _places(case):
        is_same = place.step == broken > begun and _begins(case, broken)
        if is_same or place.step > broken:
            again = not is_same and case.steps[broken].command in place.settings
            if not again and any(step.is_test for step in case.steps[place.step :]):
                return place
    return None


def _begins(case: CaseFile, index: int) -> bool:
    """Whether the commands that make a new board begin here."""
    return index == 0 or _name(case.steps[index - 1]) not in _PREPARES


def _places(case: CaseFile) -> Iterator[Place]:
    marked = _marked(case)
    known = True  # what came before can be had again
    settings: dict[str, str] = {}
    for index, step in enumerate(case.steps):
        name = _name(step)
        if index in marked:
            known = True
            settings.clear()
            yield Place(index, ())
        elif known and (made := _made_anew(case, index)) is not None:
            kept = (command for key, command in settings.items() if key not in made)
            yield Place(index, tuple(kept))
        if name == "quit":
            return
        known = known and not _is_unknown(step)
        _remember(settings, index, step)


def settings_before(case: CaseFile, place: int, among: Collection[int]) -> tuple[str, ...]:
    """Return the commands before a step that made settings, of those ``among`` which they may be.

    Of boards only the last size is left, if the step does not make a new one.
    """
    settings: dict[str, str] = {}
    for index, step in enumerate(case.steps[:place]):
        if index in among and _name(step) == _LOADS:
            settings.pop(_SIZE, None)
            settings[_SIZE] = step.command
        elif index in among:
            _remember(settings, index, step)
    if _name(case.steps[place]) in (*_SIZES, _LOADS):
        settings.pop(_SIZE, None)
    return tuple(settings.values())


def _marked(case: CaseFile) -> set[int]:
    """Return the steps before which the file says that nothing before matters."""
    lines = [number for number, text in enumerate(case.lines, 1) if _MARK.fullmatch(text)]
    numbers = [step.line for step in case.steps]
    after = ([i for i, number in enumerate(numbers) if number > line][:1] for line in lines)
    return {index for found in after for index in found}


def _made_anew(case: CaseFile, index: int) -> set[str] | None:
    """Return the settings that are made from a step on before the board is cleared.

    None: something is asked or played before.
    """
    made: set[str] = set()
    for step in case.steps[index:]:
        name = _name(step)
        if name in _CLEARS:
            return made | ({_SIZE} if name in _SIZES else set())
        if step.is_test or name not in _PREPARES:
            return None
        made.add(_SIZE if name in _SIZES else name)
    return None


def _is_unknown(step: Step) -> bool:
    """Whether nobody knows what a test does: it is neither a move nor a setting nor a question."""
    name = _name(step)
    known = _MOVES.fullmatch(name) or name in _MODES or _QUESTIONS.fullmatch(name)
    return not known and (step.is_test or step.id >= 0)


def _remember(settings: dict[str, str], index: int, step: Step) -> None:
    """Keep a command that may have made a setting: all set-up that is known for nothing else."""
    name = _name(step)
    if name in _SIZES or name in _MODES:
        key = _SIZE if name in _SIZES else name
        settings.pop(key, None)
        settings[key] = step.command
    elif not _MOVES.fullmatch(name) and not _QUESTIONS.fullmatch(name):
        settings[f"{index}"] = step.command


def _name(step: Step) -> str:
    return step.command.partition(" ")[0]
