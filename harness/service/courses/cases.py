"""The private case files of an assignment: added ones, in its folder on the server, and its own.

A teacher adds some one by one. Others come with an assignment that was uploaded, and a newer
upload of it changes them. A grading uses both.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import CaseError, UsageError
from harness.grading.taking_in.sources.pieces import safe
from harness.reading import casefile
from harness.records import CaseFile
from harness.service.courses import own_files
from harness.service.courses.making import private_folder
from harness.service.records import CourseAssignment
from harness.service.settings import Settings
from harness.text import number_of

LARGEST = 4 << 20  # bytes of a case file
_SUFFIX = ".gtp"
_EXPECTED = (
    "expected a command with a number before it, such as 1 score, or with the answer in the next"
    " line, such as #? [4]"
)


def added(made: Path) -> list[Path]:
    """Return the case files that were added, sorted; ``made``: the folder of the assignment."""
    return sorted(path for path in private_folder(made).glob(f"*{_SUFFIX}") if path.is_file())


def paths(settings: Settings, assigned: CourseAssignment) -> list[Path]:
    """Return all private case files, sorted by their names, which differ."""
    made = settings.assignment_folder(assigned.id)
    own = own_files.list_private(settings, assigned)
    return sorted([*added(made), *own], key=lambda path: path.name)


def find(settings: Settings, assigned: CourseAssignment, name: str) -> Path | None:
    """Return the private case file of that name, or None."""
    return next((path for path in paths(settings, assigned) if path.name == name), None)


def read(files: Sequence[Path]) -> list[CaseFile]:
    """Return case files as steps, called by their paths: others lie beside them."""
    return [casefile.parse(path.read_bytes(), str(path)) for path in files]


def digest(files: Sequence[Path]) -> str:
    """Return a digest of the names and bytes of files."""
    found = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        found.update(f"{path.name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()[:32]


def name_of(text: str) -> str:
    """Return what a case file is called that somebody calls so."""
    return f"{safe(Path(text).stem)}{_SUFFIX}"


def find_free_name(files: Sequence[Path]) -> str:
    """Return a name without suffix that no case file has: ``positions``, or with a number."""
    taken = {path.stem for path in files}
    names = itertools.chain(["positions"], (f"positions-{n}" for n in itertools.count(2)))
    return next(name for name in names if name not in taken)


def put(made: Path, name: str, data: bytes, beside: Mapping[str, bytes] | None = None) -> str:
    """Write a case file, in the place of one of the same name; return what it is called.

    ``beside``: files that its commands name, such as boards.

    Raises:
        UsageError: a line of it is wrong, or it has no test; nothing is written.
    """
    called = name_of(name)
    try:
        found = casefile.parse(data, called)
    except CaseError as error:
        raise UsageError(str(error)) from None
    if not any(step.is_test for step in found.steps):
        raise UsageError(f"{called}: found {_describe(data, found)}, {_EXPECTED}")
    folder = private_folder(made)
    for own, content in (beside or {}).items():
        _write(folder / own, content)
    _write(folder / called, data)
    return called


def _describe(data: bytes, case: CaseFile) -> str:
    """Return what a case file without a test has instead."""
    if not data:
        return "an empty file"
    count = len(case.steps)
    return f"{number_of(count, 'command')} and no test" if count else "no command"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_bytes(data)
    unfinished.replace(path)


def require(made: Path, name: str) -> Path:
    """Return the path of a case file that was added.

    Raises:
        UsageError: no such case file has that name.
    """
    found = {path.name: path for path in added(made)}
    if name not in found:
        raise UsageError(f"nobody has added a private case file {name!r} here")
    return found[name]


def remove(made: Path, name: str) -> None:
    """Remove a case file that was added.

    Raises:
        UsageError: as :func:`require`.
    """
    require(made, name).unlink()
