"""What TEST arguments name: case files, folders of them, and ``@suites``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from harness.errors import CaseError
from harness.paths import joined
from harness.reading import casefile
from harness.reading.casefile import split_lines
from harness.text import BLANKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

SUFFIXES = (".gtp", ".tst")


Refuse = Callable[[CaseError], object]


def _raise(error: CaseError) -> NoReturn:
    raise error


def is_named_as_case(path: str) -> bool:
    """Whether a file's name is that of a case file."""
    return path.lower().endswith(SUFFIXES)


def is_case_like(word: str) -> bool:
    """Whether a word of a command line can only mean case files: by its name, or as a folder."""
    return word.startswith("@") or is_named_as_case(word) or os.path.isdir(word)


def expand(tests: Sequence[str], refuse: Refuse = _raise) -> list[str]:
    """Return the paths of the case files that ``tests`` name, in their order.

    * ``@FILE`` is a suite: a name in each line, which may be another ``@FILE``; empty lines and
      those that begin with ``#`` are skipped. Names are looked up from here, as gogui-regress
      does, or else from the suite's own folder. Where there is no such file, it is a name of
      cases that ship: see :mod:`harness.shipped`.
    * A folder stands for its ``.gtp`` and ``.tst`` files (``.GTP`` and ``.TST``, too) and those of
      its subfolders, hidden ones left out, sorted by path. Symbolic links are followed; each
      folder is read once, by its own name if it has one there.
    * Anything else is a case file, whatever its name, and whether it exists or not.

    ``refuse``: called with the error of a suite or folder that cannot be read or has no case
    files; when it returns, the others are read.

    Raises:
        CaseError: a suite contains itself; or what ``refuse`` raises, by default its error.
    """
    return [path for test in tests for path in _expand(test, (), refuse)]


def _expand(test: str, outer: tuple[str, ...], refuse: Refuse) -> Iterator[str]:
    if test.startswith("@"):
        yield from _shipped(test[1:]) or _suite(test[1:], outer, refuse)
    elif os.path.isdir(test):  # a name is kept as it was typed
        yield from _folder(test, refuse)
    else:
        yield test


def _shipped(name: str) -> list[str]:
    """Return the case files that ship under a name; none: a suite of that name is there."""
    if _is_suite(name):
        return []
    from harness import shipped

    return shipped.named(name)


def _is_suite(name: str) -> bool:
    return os.path.exists(name) and not os.path.isdir(name)


def _suite(path: str, outer: tuple[str, ...], refuse: Refuse) -> Iterator[str]:
    try:
        names = [line.strip(BLANKS) for line in split_lines(casefile.content(path, "suite"), path)]
    except CaseError as error:
        refuse(error if os.path.exists(path) else _without_file(path, error.message))
        return
    own = os.path.realpath(path)
    if own in outer:
        circle = " → ".join(map(_short, (*outer[outer.index(own) :], own)))
        raise CaseError(f"the suite contains itself: {circle}", path)
    for name in names:
        if name and not name.startswith("#"):
            yield from _expand(_located(name, os.path.dirname(path)), (*outer, own), refuse)


def _without_file(path: str, message: str) -> CaseError:
    from harness import shipped
    from oracle.spelling import hint

    known = [f"@{name}" for name in shipped.every_name()]
    return CaseError(f"{message}{hint(f'@{path}', known, 0.8)}", path)


def _short(suite: str) -> str:
    return "@" + os.path.basename(suite)


def _located(name: str, folder: str) -> str:
    mark = "@" if name.startswith("@") else ""
    path = name.removeprefix("@")
    beside = joined(folder, path)
    # (Not pathlib's exists(), which raises for a name that is too long.)
    is_there = _is_suite if mark else os.path.exists
    return mark + (path if is_there(path) or not is_there(beside) else beside)


def _folder(path: str, refuse: Refuse) -> list[str]:
    errors: list[CaseError] = []
    found = sorted(_walk(path, errors))
    if not found and not errors:
        expected = " or ".join("*" + suffix for suffix in SUFFIXES)
        errors = [CaseError(f"found no case files in this folder, expected {expected}", path)]
    for error in errors:
        refuse(error)
    return found


def _walk(path: str, errors: list[CaseError]) -> Iterator[str]:
    """Yield the case files within a folder; links to folders come after all other folders."""

    def note(error: OSError) -> None:
        errors.append(CaseError(f"the folder cannot be read: {error.strerror}", error.filename))

    waiting, seen = [path], set()
    while waiting:
        for folder, subfolders, files in os.walk(waiting.pop(0), onerror=note):
            status = os.stat(folder)
            own = status.st_dev, status.st_ino
            shown = [] if own in seen else sorted(filter(_is_shown, subfolders))
            links = [os.path.join(folder, name) for name in shown]
            waiting += filter(os.path.islink, links)
            subfolders[:] = shown
            if own not in seen:
                named = filter(is_named_as_case, filter(_is_shown, files))
                yield from (os.path.join(folder, name) for name in named)
            seen.add(own)


def _is_shown(name: str) -> bool:
    return not name.startswith(".")
