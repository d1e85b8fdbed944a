"""Making a script small: Hypothesis draws the part to keep, and its shrinker keeps the least.

Nearly everything stays in most of what is drawn; the simplest of all choices leaves out a command,
a stone of a setup, a line of a file, a row without points, and takes the smallest board.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.vocabulary.script import BoardFile, Script, write_script
from oracle.vertex import GTP_LETTERS, Point, parse_vertex, vertex

_LARGEST = len(GTP_LETTERS)
_ALL = bytes([1]) * _LARGEST
_VERTEX = re.compile(rf"\b[{GTP_LETTERS}][1-9][0-9]?\b")


class _KeptCommands(NamedTuple):
    """A byte for each row or column without points, from the corner on: 0 is left out.

    Of ``both`` a row and a column go together, and the board gets smaller by them.
    """

    both: bytes
    rows: bytes
    columns: bytes


def prune_scripts(
    script: Script, grain: int = 1, *, moves: bool = False
) -> SearchStrategy[Script]:
    """Return scripts with less of one: commands, stones and lines of files left out.

    ``grain``: how many of them are left out together. ``moves``: leave out rows and columns that
    no point is on, too; where much else can still be left out, each of it moves the rest, and to
    leave it out seems to matter when only to move does.
    """
    parts = ceil(_count(script) / grain)
    kept = st.binary(min_size=parts, max_size=parts)  # a single choice; 0 is left out
    flags = kept.map(lambda parts: [bool(byte) for byte in parts for _ in range(grain)])
    sizes = st.tuples(*(_size(size) for size in _sizes(script)))
    lines = st.binary(min_size=_LARGEST, max_size=_LARGEST) if moves else st.just(_ALL)
    return st.builds(
        _less, st.just(script), flags, sizes, st.builds(_KeptCommands, lines, lines, lines)
    )


@cache
def _size(size: int) -> SearchStrategy[int]:
    """Return sizes of boards up to the one there is, which is the likeliest."""
    return st.sampled_from([*range(1, size), *[size] * 3 * size])


def _count(script: Script) -> int:
    """Return the number of things that can be left out."""
    return sum(map(len, map(_units, script.commands))) + len(_file_lines(script))


def _sizes(script: Script) -> list[int]:
    return [int(command.split()[1]) for command in script.commands if _is_size(command)]


def _is_size(command: str) -> bool:
    return command.startswith("boardsize ")


def _units(command: str) -> list[str]:
    """Return what can be left out of a command, the first being all of it."""
    name, *words = command.split()
    if name != "gogui-setup":
        return [command]
    return [name, *map(" ".join, zip(words[::2], words[1::2], strict=True))]


def _file_lines(script: Script) -> list[str]:
    return [line for _, text in script.files for line in text.splitlines()]


def _less(
    script: Script,
    kept: list[bool],
    sizes: tuple[int, ...],
    lines: _KeptCommands,
) -> Script:
    flags, smaller = iter(kept), iter(sizes)
    commands = list(_fewer(script, flags, smaller))
    files = {
        name: "".join(line for line in text.splitlines(keepends=True) if next(flags))
        for name, text in script.files
    }
    moved = _shrink_board(commands, lines)
    return write_script(_with_text(one, files) for one in moved)


def _fewer(script: Script, flags: Iterator[bool], sizes: Iterator[int]) -> Iterator[str]:
    for command in script.commands:
        first, *stones = [unit if next(flags) else "" for unit in _units(command)]
        text = f"boardsize {next(sizes)}" if _is_size(command) else " ".join([first, *stones])
        if first and text.split() != ["gogui-setup"]:
            yield " ".join(text.split())


def _shrink_board(commands: list[str], kept: _KeptCommands) -> Iterable[str]:
    """Return the commands with fewer of the rows and columns that no point is on."""
    points = [_point(word) for command in commands for word in _VERTEX.findall(command)]
    sizes = [int(command.split()[1]) for command in commands if _is_size(command)]
    extent = max(sizes, default=_LARGEST)
    up = _Renumbering({row for row, _ in points}, extent, kept.both, kept.rows)
    right = _Renumbering({column for _, column in points}, extent, kept.both, kept.columns)
    smaller = min(up.dropped, right.dropped)

    def nearer(word: re.Match[str]) -> str:
        row, column = _point(word[0])
        return vertex((up.numbers[row], right.numbers[column]))

    for command in commands:
        if _is_size(command):
            yield f"boardsize {max(1, int(command.split()[1]) - smaller)}"
        else:
            yield _VERTEX.sub(nearer, command)


class _Renumbering:
    """What happens to the numbers of rows, or columns."""

    def __init__(self, used: set[int], extent: int, both: bytes, own: bytes) -> None:
        free = [number for number in range(extent) if number not in used]
        gone = {number for number, byte in zip(free, both, strict=False) if not byte}
        self.dropped = len(gone)
        gone |= {number for number in free if not own[number]}
        self.numbers = list(accumulate((n not in gone for n in range(_LARGEST)), initial=0))


def _point(word: str) -> Point:
    return parse_vertex(word, _LARGEST, _LARGEST)


def _with_text(command: str, files: dict[str, str]) -> str | BoardFile:
    """Return a command with the text of the file that it names, if it does."""
    verb, _, name = command.partition(" ")
    return BoardFile(verb, files[name]) if name in files else command
