"""TEST arguments: case files, folders of them, and ``@suites``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from harness.errors import CaseError
from harness.file_system import join_path
from harness.reading import casefile
from harness.reading.casefile import ANSWERS_SUFFIX, split_lines
from harness.records import ANSWERS_FILE, CaseFile
from harness.text import BLANKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

SUFFIXES = (".gtp", ".tst")
_NO_CASES = "readme"  # what the name of a text begins with that explains case files

Refuse = Callable[[CaseError], object]
IsCase = Callable[[str], bool]  # of the path of a file


def _raise(error: CaseError) -> NoReturn:
    raise error


def is_named_as_case(path: str) -> bool:
    """Whether a file's name is that of a case file."""
    return path.lower().endswith(SUFFIXES)


def is_case_like(word: str) -> bool:
    """Whether a word of a command line can only mean case files: by its name, or as a folder."""
    return word.startswith("@") or is_named_as_case(word) or os.path.isdir(word)


def is_case_in_folder(path: str, *, has_answers: bool) -> bool:
    """Whether a file of a folder is a case file.

    ``has_answers``: those of answers with status lines are such. As other texts end in ``.txt``,
    too, it is the content that tells.
    """
    if is_named_as_case(path):
        return True
    name = os.path.basename(path).lower()
    if not has_answers or not name.endswith(ANSWERS_SUFFIX) or name.startswith(_NO_CASES):
        return False
    from harness.reading.answer_files import is_of_answers

    try:
        return is_of_answers(split_lines(casefile.content(path), path))
    except CaseError:
        return True  # anyone who reads it tells what is wrong


def refuse_answers(case: CaseFile) -> None:
    """Refuse a file of answers with status lines: replies of GTP cannot be held against it.

    Raises:
        CaseError: it is one.
    """
    if case.format == ANSWERS_FILE:
        line = case.steps[0].line if case.steps else None
        what = "found answers that end with a status line, and the engine speaks GTP"
        expected = "expected --protocol 'status last', or the file converted (gtp-harness convert)"
        raise CaseError(f"{what}; {expected}", case.path, line)


def expand(
    tests: Sequence[str], refuse: Refuse = _raise, *, has_answers: bool = False
) -> list[str]:
    """Return the paths of the case files that ``tests`` name, in their order.

    * ``@FILE`` is a suite: a name in each line, which may be another ``@FILE``; empty lines and
      those that begin with ``#`` are skipped. Names are looked up from here, as gogui-regress
      does, or else from the suite's own folder. Where there is no such file, it is a name of
      cases that ship: see :mod:`harness.shipped`.
    * A folder stands for its ``.gtp`` and ``.tst`` files (``.GTP`` and ``.TST``, too) and those of
      its subfolders, hidden ones left out, sorted by path. Symbolic links are followed; each
      folder is read once, by its own name if it has one there. With ``has_answers`` it stands for
      its ``.txt`` files of answers with status lines as well.
    * Anything else is a case file, whatever its name, and whether it exists or not.

    ``refuse``: called with the error of a suite or folder that cannot be read or has no case
    files; when it returns, the others are read.

    Raises:
        CaseError: a suite contains itself; or what ``refuse`` raises, by default its error.
    """
    is_case = partial(is_case_in_folder, has_answers=has_answers)
    return [path for test in tests for path in _expand(test, (), refuse, is_case)]


def _expand(test: str, outer: tuple[str, ...], refuse: Refuse, is_case: IsCase) -> Iterator[str]:
    if test.startswith("@"):
        yield from _find_shipped_files(test[1:]) or _suite(test[1:], outer, refuse, is_case)
    elif os.path.isdir(test):  # a name is kept as it was typed
        yield from _folder(test, refuse, is_case)
    else:
        yield test


def _find_shipped_files(name: str) -> list[str]:
    """Return the case files that ship under a name; none: a suite of that name is there."""
    if _is_suite(name):
        return []
    from harness import shipped

    return shipped.find_paths(name)


def _is_suite(name: str) -> bool:
    return os.path.exists(name) and not os.path.isdir(name)


def _suite(path: str, outer: tuple[str, ...], refuse: Refuse, is_case: IsCase) -> Iterator[str]:
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
            place = _locate(name, os.path.dirname(path))
            yield from _expand(place, (*outer, own), refuse, is_case)


def _without_file(path: str, message: str) -> CaseError:
    from harness import shipped
    from oracle.sentences import hint

    known = [f"@{name}" for name in shipped.every_name()]
    return CaseError(f"{message}{hint(f'@{path}', known, 0.8)}", path)


def _short(suite: str) -> str:
    return "@" + os.path.basename(suite)


def _locate(name: str, folder: str) -> str:
    mark = "@" if name.startswith("@") else ""
    path = name.removeprefix("@")
    beside = join_path(folder, path)
    # (Not pathlib's exists(), which raises for a name that is too long.)
    is_there = _is_suite if mark else os.path.exists
    return mark + (path if is_there(path) or not is_there(beside) else beside)


def _folder(path: str, refuse: Refuse, is_case: IsCase) -> list[str]:
    errors: list[CaseError] = []
    found = sorted(filter(is_case, _walk(path, errors)))
    if not found and not errors:
        expected = " or ".join("*" + suffix for suffix in SUFFIXES)
        errors = [CaseError(f"found no case files in this folder, expected {expected}", path)]
    for error in errors:
        refuse(error)
    return found


def _walk(path: str, errors: list[CaseError]) -> Iterator[str]:
    """Yield the files within a folder; links to folders come after all other folders."""

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
                yield from (os.path.join(folder, name) for name in filter(_is_shown, files))
            seen.add(own)


def _is_shown(name: str) -> bool:
    return not name.startswith(".")
