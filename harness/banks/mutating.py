"""Mutants of a reference as engines: each in a copy of the reference's folder with one change."""

from __future__ import annotations

import ast
import contextlib
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from harness import open_folders
from harness.banks.mutants import Mutant, mutants
from harness.banks.records import WrongEngine
from harness.engine.launch import as_typed, split_program
from harness.errors import UsageError

_NOT_COPIED = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "*.gtp", "*.tst")


def mutant_engines(command: str, count: int, seed: int, room: Path) -> list[WrongEngine]:
    """Return mutants of a program, each in a folder of its own in ``room``.

    ``command``: as typed in a shell; it names a file of Python.

    Raises:
        UsageError: it names none.
    """
    words = as_typed(split_program(command))
    place = next((n for n, word in enumerate(words) if _is_program(word)), None)
    if place is None:
        raise UsageError(f"mutants are made of a program in Python, and {command!r} names none")
    program = Path(words[place])
    found = mutants(_own_files(program), count, seed)
    return [_engine(one, words, place, room) for one in found]


def _is_program(word: str) -> bool:
    return word.endswith(".py") and Path(word).is_file()


def _own_files(program: Path) -> dict[str, str]:
    """Return a program and what it imports of its own folder, by name."""
    found: dict[str, str] = {}
    waiting = [program.name]
    while waiting:
        name = waiting.pop()
        path = program.parent / name
        if name not in found and path.is_file():
            found[name] = path.read_text(encoding="utf-8", errors="surrogateescape")
            waiting += [f"{one}.py" for one in _find_imported_modules(found[name])]
    return found


def _find_imported_modules(text: str) -> Iterator[str]:
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from (alias.name.replace(".", "/") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.replace(".", "/")


def _engine(one: Mutant, words: list[str], place: int, room: Path) -> WrongEngine:
    program = Path(words[place])
    folder = room / one.name
    shutil.copytree(program.parent, folder, ignore=_NOT_COPIED)
    (folder / one.file).write_text(one.source, encoding="utf-8", errors="surrogateescape")
    open_folders.open_all(folder)  # an engine of root is another user
    changed = [*words[:place], str(folder / program.name), *words[place + 1 :]]
    return WrongEngine(one.name, one.sentence, shlex.join(changed), str(folder))
