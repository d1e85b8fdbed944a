"""The script that is sent to an engine, and a trace of what it did.

It is apart from what draws scripts, which needs Hypothesis: games of one's own ask their reference
by scripts, too.
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from harness.core import file_system
from harness.core.records import Failure, Reply
from harness.core.text import encode, read_number

# The folder of the files that scripts name, beneath the one in which engines start: in a sandbox
# they see it as it is, and the rest of theirs is their own to write into.
BOARDS = "boards"
_REMEMBERED = 4096  # commands


class BoardFile(NamedTuple):
    """A command that names a file, with the text of the file."""

    verb: str
    text: str


class Script(NamedTuple):
    """A conversation with an engine that has just been started."""

    commands: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()  # (name, text) of what the commands name

    def until(self, index: int) -> "Script":
        """Return the script up to the command at an index, with no more files than it needs."""
        commands = self.commands[: index + 1]
        named = {word for command in commands for word in command.split()[1:]}
        return Script(commands, tuple(file for file in self.files if file[0] in named))

    @property
    def weight(self) -> tuple[int, int, int]:
        """Measure of a script's length: its commands, the size of its board, its letters."""
        named = [c.split()[1] for c in self.commands if c.startswith("boardsize ")]
        sizes = [read_number(size) or 0 for size in named]  # a game of one's own may name sizes
        letters = sum(map(len, self.commands)) + sum(len(text) for _, text in self.files)
        return len(self.commands), max(sizes, default=0), letters


class Trace(NamedTuple):
    """Trace of a script's run."""

    script: Script
    replies: tuple[Reply, ...]  # to its commands, in order; fewer where the engine failed
    failure: Failure | None = None  # at the command after the last reply
    has_surplus: bool = False  # there were more replies than commands


@lru_cache(_REMEMBERED)
def name_of(command: str) -> str:
    """Return a command's first word; many come again."""
    return command.partition(" ")[0]


@lru_cache(_REMEMBERED)
def line_of(command: str) -> bytes:
    """Return a command as it is sent; many come again."""
    return encode(f"{command}\n")


def write_script(items: Iterable[str | BoardFile]) -> Script:
    """Return what was drawn as a script; a file's name tells its text."""
    commands: list[str] = []
    files: dict[str, str] = {}
    for one in items:
        if isinstance(one, BoardFile):
            name = f"{BOARDS}/{crc32(one.text.encode()):08x}.txt"
            files[name] = one.text
            commands.append(f"{one.verb} {name}")
        else:
            commands.append(one)
    return Script(tuple(commands), tuple(files.items()))


def join_scripts(scripts: Iterable[Script]) -> Script:
    """Return one conversation of several."""
    scripts = tuple(scripts)
    files = {name: text for script in scripts for name, text in script.files}
    commands = (command for script in scripts for command in script.commands)
    return Script(tuple(commands), tuple(files.items()))


def lay_files(script: Script, folder: Path) -> None:
    """Write the files that a script's commands name into a folder, unless they are there."""
    for name, text in script.files:
        if not (folder / name).exists():
            file_system.write_open(folder / name, text.encode())
