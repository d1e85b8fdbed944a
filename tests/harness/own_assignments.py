"""The declared games of ``tests/own_games`` as a teacher has them: folders to write into."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.harness.own_games import GAMES, OWN, wrong

__all__ = ["engines", "make"]


def make(folder: Path, name: str) -> Path:
    """Copy a game with its declaration as ``assignment.toml`` into a folder; return its own."""
    declaration = OWN / GAMES[name][0]
    place = folder / name
    shutil.copytree(declaration.parent, place, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(declaration, place / "assignment.toml")
    return place


def engines(place: Path, name: str) -> list[str]:
    """Return the options that name all wrong programs."""
    (program,) = place.glob("wrong_*.py")
    commands = (f"python3 -S -E {program} {one}" for one in wrong(name))
    return [word for command in commands for word in ("--engine", command)]
