"""The declared games of ``tests/own_games`` as assignments that a teacher has."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

GAMES = Path(__file__).parents[1] / "own_games"

HANDED_IN = """\
title = "A game of one's own"

[archive]
name = "a1.tgz"
folder = "assignment1"

[files]
required = ["engine.py"]
allowed = ["*.py"]

[engine]
command = "python3 {folder}/engine.py"

[cases]
public = ["public/*"]

[limits]
timeout = 20
startup = 20
cpu = 10

[[marks]]
name = "public"
points = 4
judged_by = "public"
rule = "share"

[late]
deduction = 20

"""


class Own(NamedTuple):
    """A game with programs that are wrong."""

    folder: str  # in tests/own_games
    declaration: str = "assignment.toml"
    wrong: str = "WRONG"  # in its module: the wrong ones, by name or as classes


ALL = {
    "nogo": Own("nogo", wrong="PLAYERS"),
    "solver": Own("nogo", "solver.toml", "SOLVERS"),
    "takuzu": Own("takuzu"),
    "hex": Own("hex"),
    "othello": Own("othello"),
}


def make(folder: Path, name: str) -> Path:
    """Write an assignment of that name into a folder; return its own."""
    own = ALL[name]
    place = folder / name
    place.mkdir()
    for path in (GAMES / own.folder).glob("*.py"):
        shutil.copy(path, place)
    (place / "public").mkdir()
    (place / "public" / "start.gtp").write_text("1 name\n")
    (place / "assignment.toml").write_text(
        HANDED_IN + (GAMES / own.folder / own.declaration).read_text()
    )
    return place


def wrong(name: str) -> list[str]:
    """Return the names of the wrong programs of a game."""
    own = ALL[name]
    sys.path.insert(0, str(GAMES / own.folder))
    try:
        found = getattr(import_module(f"wrong_{own.folder}"), own.wrong)
    finally:
        sys.path.pop(0)
    return sorted(found) if isinstance(found, dict) else [one.__name__ for one in found]


def engines(place: Path, name: str) -> list[str]:
    """Return the options that name all wrong programs."""
    program = place / f"wrong_{ALL[name].folder}.py"
    commands = (f"python3 -S -E {program} {one}" for one in wrong(name))
    return [word for command in commands for word in ("--engine", command)]
