"""What TEST arguments name: case files, folders of them, and ``@suites``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.engine.replies import BLANKS
from harness.errors import CaseError
from harness.reading.casefile import split_lines

SUFFIXES = (".gtp", ".tst")


def expand(tests: Sequence[str]) -> list[str]:
    """Return the paths of the case files that ``tests`` name, in their order.

    * ``@FILE`` is a suite: a name in each line, which may be another ``@FILE``; empty lines and
      those that begin with ``#`` are skipped. Names are looked up from here, as gogui-regress
      does, or else from the suite's own folder.
    * A folder stands for its ``.gtp`` and ``.tst`` files and those of its subfolders, hidden ones
      left out, sorted by path.
    * Anything else is a case file, whatever its name, and whether it exists or not.

    Raises:
        CaseError: a suite cannot be read or contains itself; a folder has no case files.
    """
    return [path for test in tests for path in _expand(test, ())]


def _expand(test: str, outer: tuple[str, ...]) -> Iterator[str]:
    if test.startswith("@"):
        yield from _suite(test[1:], outer)
    elif os.path.isdir(test):  # noqa: PTH112 - a name is kept as it was typed
        yield from _folder(test)
    else:
        yield test


def _suite(path: str, outer: tuple[str, ...]) -> Iterator[str]:
    file = Path(path)
    own = str(file.resolve())
    if own in outer:
        circle = " → ".join(["@" + Path(name).name for name in (*outer[outer.index(own) :], own)])
        raise CaseError(f"the suite contains itself: {circle}", path)
    for name in _names(file):
        yield from _expand(_located(name, file.parent), (*outer, own))


def _names(file: Path) -> list[str]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise CaseError(f"the suite cannot be read: {error.strerror}", str(file)) from None
    names = [line.strip(BLANKS) for line in split_lines(data, str(file))]
    return [name for name in names if name and not name.startswith("#")]


def _located(name: str, folder: Path) -> str:
    mark = "@" if name.startswith("@") else ""
    path = name.removeprefix("@")
    beside = folder / path
    return mark + (str(beside) if not Path(path).exists() and beside.exists() else path)


def _folder(path: str) -> list[str]:
    found = []
    for folder, subfolders, files in os.walk(path):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        found += [
            os.path.join(folder, name)  # noqa: PTH118
            for name in files
            if name.endswith(SUFFIXES) and not name.startswith(".")
        ]
    if not found:
        expected = " or ".join("*" + suffix for suffix in SUFFIXES)
        raise CaseError(f"found no case files in this folder, expected {expected}", path)
    return sorted(found)
