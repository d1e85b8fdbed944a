"""The programs of ``tests/new_games``, right and wrong ones, as tests lay them into a folder.

``facts.toml`` beside each tells its command, its public tests, what a teacher corrects in the
draft (``edits``, texts and what replaces them), and its variants: ``right`` and ``wrong`` ones.
"""

from __future__ import annotations

import sys
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy

GAMES = Path(__file__).parents[1] / "new_games"
NAMES = sorted(path.parent.name for path in GAMES.glob("*/facts.toml"))


class Facts(NamedTuple):
    """What is known of a program."""

    name: str
    command: str
    needs: str  # from gtp-harness new: what is unlike other programs
    wrong: dict[str, list[str]]  # texts of the program, and what replaces them, in turn
    right: list[list[str]]
    public: Sequence[str] = ()
    edits: Sequence[list[str]] = ()
    numpy: bool = False  # it needs an environment with NumPy

    @property
    def program(self) -> str:
        """The name of its file."""
        return self.command.split()[-1].removeprefix("./")


def facts(name: str) -> Facts:
    """Return the facts of a program."""
    return Facts(name, **tomllib.loads((GAMES / name / "facts.toml").read_text()))


def lay(game: Facts, folder: Path, changes: list[str] | None = None) -> str:
    """Write a program, changed or not, and its tests; return its command there."""
    folder.mkdir(parents=True, exist_ok=True)
    text = (GAMES / game.name / game.program).read_text()
    changes = changes or []
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text, f"{game.name} has no {old!r}"
        text = text.replace(old, new)
    program = folder / game.program
    program.write_text(text)
    program.chmod(0o755)
    for one in game.public:
        (folder / one).write_bytes((GAMES / game.name / one).read_bytes())
    return game.command.replace(game.program, str(program)).replace("./", "")


def make_environment(folder: Path) -> str:
    """Make a virtual environment with NumPy; return its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    for found in Path(numpy.__file__).parents[1].glob("numpy*"):
        (packages / found.name).symlink_to(found)
    return str(folder / "bin" / Path(sys.executable).name)
