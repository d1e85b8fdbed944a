"""The setup of a test: where it begins, what it loads, and the comment above it. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from harness.records import CaseFile
from harness.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.natures import Natures

_LOOK_BACK = 500  # lines: more than the setup of a full board of 19 by 19


class SetUp(NamedTuple):
    """What leads to a test."""

    first: int = 0  # index into CaseFile.steps of the command that begins a new board
    loaded: str = ""  # the file that it loads, as its command has it; "": none


def setups(case: CaseFile, tests: Collection[int], natures: Natures) -> dict[int, SetUp]:
    """Return what leads to some steps of a case file."""
    found: dict[int, SetUp] = {}
    now, is_preparing, last = SetUp(), False, max(tests, default=-1)
    for index, step in enumerate(case.steps[: last + 1]):
        if index in tests:
            found[index] = now
        name, _, argument = step.command.partition(" ")
        nature = natures[name]
        if nature.loads:
            now = SetUp(index, _file_name(argument))
        elif nature.begins_board:
            now = SetUp(now.first if is_preparing else index)
        # Settings may stand between the first command of a board and the last.
        is_preparing = nature.begins_board or (is_preparing and nature.is_setting)
    return found


def _file_name(argument: str) -> str:
    """Return the file's name of a loading command, without the number of a move."""
    return re.sub(r"(?<=\S)\s+\d+$", "", argument.strip())


def comments(case: CaseFile, test: int, setup: SetUp | None = None) -> str:
    """Return the comment above a test's setup and that of the test alone; both may be "".

    The latter is the last comment after the test before it.
    """
    own = _last_comment(case.lines, case.steps[test].line)
    above = range(0)
    if setup and case.steps:
        above = _comment_above(case.lines, case.steps[setup.first].line)
    return "\n".join(_text(case.lines, lines) for lines in dict.fromkeys((above, own)) if lines)


def _last_comment(lines: Sequence[str], line: int) -> range:
    """Return the places of the last comment before a line, and after the last expectation."""
    for place in range(line - 2, max(-1, line - 2 - _LOOK_BACK), -1):
        text = lines[place].strip()
        if text.startswith("#?"):
            break
        if text.startswith("#"):
            return _comment_up_to(lines, place)
    return range(0)


def _comment_above(lines: Sequence[str], line: int) -> range:
    """Return the places of the comment above a line, with no command between."""
    place = line - 2
    while place >= 0 and not lines[place].strip():
        place -= 1
    return _comment_up_to(lines, place)


def _comment_up_to(lines: Sequence[str], last: int) -> range:
    first = last + 1
    while first > 0 and (text := lines[first - 1].strip()).startswith("#"):
        if text.startswith("#?"):
            break
        first -= 1
    return range(first, last + 1)


def _text(lines: Sequence[str], places: range) -> str:
    return "\n".join(lines[place].strip().lstrip("# ") for place in places).strip()
