"""Places where a case file can continue with a new engine after the one before broke. Pure.

It continues at a *place* from which nothing before matters. The file says so by the line
``#! restart``; or ``clear_board`` follows, with ``boardsize`` and settings before it as may be, or
``load_board`` of a good file. What outlives ``clear_board`` is sent again before: the last command
that gave the board its size, and every command that may have made a setting. A test whose command
is not known here may have done anything, so that the only places after it are those that the
file names.
"""

import re
from collections.abc import Collection, Iterator

from harness.core.records import CaseFile, RestartPoint, Step
from oracle.command_properties import SIZE, CommandProperties, PropertyTable

MOST = 5  # new engines for one file

_MARK = re.compile(r"\s*#!\s*restart\s*")


def next_place(
    case: CaseFile, index: int, start: int, command_properties: PropertyTable
) -> RestartPoint | None:
    """Return where to continue after an engine failed at a command, or None.

    ``index``: the command's index in ``case.steps``; ``start``: that of the engine's first one.
    A program that prints an error and then ends is found dead at the next command only. So where
    a new board begins with the very command, that is the place, unless it was the engine's first.
    A place does not count if no test comes after it, or if the command would have to be sent
    again before it.
    """
    before = command_properties[case.steps[index - 1].name]
    for place in _places(case, command_properties):
        is_same = place.step == index > start and not _prepares(before)
        if is_same or place.step > index:
            again = not is_same and case.steps[index].command in place.settings
            if not again and any(step.is_test for step in case.steps[place.step :]):
                return place
    return None


def _places(case: CaseFile, command_properties: PropertyTable) -> Iterator[RestartPoint]:
    marks = [number for number, text in enumerate(case.lines, 1) if _MARK.fullmatch(text)]
    numbers = [step.line for step in case.steps]
    after = ([i for i, number in enumerate(numbers) if number > mark][:1] for mark in marks)
    marked = {index for found in after for index in found}
    known = True  # what came before can be had again
    settings: dict[str, str] = {}
    for index, step in enumerate(case.steps):
        properties = command_properties[step.name]
        if index in marked:
            known = True
            settings.clear()
            yield RestartPoint(index, ())
        elif known and (made := _find_remade(case, index, command_properties)) is not None:
            kept = (command for key, command in settings.items() if key not in made)
            yield RestartPoint(index, tuple(kept))
        if properties.ends:
            return
        is_asked = step.is_test or step.id >= 0
        known = known and (_is_plain(properties) or not is_asked)
        _remember(settings, index, step, properties)


def _find_remade(case: CaseFile, index: int, command_properties: PropertyTable) -> set[str] | None:
    """Return the settings that are made from a step on before the board is cleared.

    None: something is asked or played before.
    """
    made: set[str] = set()
    for step in case.steps[index:]:
        properties = command_properties[step.name]
        if properties.clears:
            return made | properties.lasting
        if step.is_test or not _prepares(properties):
            return None
        made |= properties.lasting
    return None


def settings_before(
    case: CaseFile, place: int, candidates: Collection[int], command_properties: PropertyTable
) -> tuple[str, ...]:
    """Return those of ``candidates`` before a step that made settings.

    Of boards only the last size is left, if the step does not make a new one.
    """
    settings: dict[str, str] = {}
    for index, step in enumerate(case.steps[:place]):
        properties = command_properties[step.name]
        if index in candidates and SIZE in properties.sets:
            _note_setting(settings, SIZE, step)
        elif index in candidates:
            _remember(settings, index, step, properties)
    if SIZE in command_properties[case.steps[place].name].sets:
        settings.pop(SIZE, None)
    return tuple(settings.values())


def _prepares(properties: CommandProperties) -> bool:
    """Whether a command may stand between a place and its ``clear_board``."""
    return _is_plain(properties) and len(properties.lasting) == 1 and not properties.clears


def _is_plain(properties: CommandProperties) -> bool:
    """Whether it is known which setting a command makes, if any: one at most.

    A record may bring a size, a komi, both or neither.
    """
    return properties.is_known and len(properties.lasting) <= 1


def _remember(
    settings: dict[str, str], index: int, step: Step, properties: CommandProperties
) -> None:
    """Keep a command that may have made a setting, of those for the same part the last one."""
    if not _is_plain(properties):
        settings[f"{index}"] = step.command
    for part in properties.lasting if _is_plain(properties) else ():
        _note_setting(settings, part, step)


def _note_setting(settings: dict[str, str], part: str, step: Step) -> None:
    settings.pop(part, None)
    settings[part] = step.command
