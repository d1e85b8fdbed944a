"""What a command line names: case files, folders of them, ``@suites``, and some of their tests."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from harness.core.errors import CaseError, HarnessError, UsageError
from harness.core.file_system import join_path
from harness.core.options import GTP
from harness.core.records import ANSWERS_FILE, CaseFile
from harness.core.text import BLANKS
from harness.core.typed import NamedTuple
from harness.reading import casefile
from harness.reading.casefile import ANSWERS_SUFFIX
from harness.reading.dialect import GOGUI, Dialect

SUFFIXES = (".gtp", ".tst")
_NO_CASES = "readme"  # what the name of a text begins with that explains case files

Refuse = Callable[[CaseError], object]
IsCase = Callable[[str], bool]  # of the path of a file


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
        return is_of_answers(casefile.read_lines(path))
    except CaseError:
        return True  # anyone who reads it tells what is wrong


def expand(
    tests: Sequence[str], refuse: Refuse | None = None, *, has_answers: bool = False
) -> list[str]:
    """Return the paths of the case files that ``tests`` name, in their order.

    * ``@FILE`` is a suite: a name in each line, which may be another ``@FILE``; empty lines and
      those that begin with ``#`` are skipped. Names are looked up from here, as gogui-regress
      does, or else from the suite's own folder. Where there is no such file, it is a name of
      cases that ship: see :mod:`harness.reading.shipped`.
    * A folder stands for its ``.gtp`` and ``.tst`` files (``.GTP`` and ``.TST``, too) and those of
      its subfolders, hidden ones left out, sorted by path. Symbolic links are followed; each
      folder is read once, by its own name if it has one there. With ``has_answers`` it stands for
      its ``.txt`` files of answers with status lines as well.
    * Anything else is a case file, whatever its name, and whether it exists or not.

    ``refuse``: called with the error of a suite or folder that cannot be read or has no case
    files; when it returns, the others are read. Without it the error is raised.

    Raises:
        CaseError: a suite contains itself; or what ``refuse`` raises.
    """

    def raise_(error: CaseError) -> None:
        raise error

    is_case = partial(is_case_in_folder, has_answers=has_answers)
    return [path for test in tests for path in _expand(test, (), refuse or raise_, is_case)]


def _expand(test: str, outer: tuple[str, ...], refuse: Refuse, is_case: IsCase) -> Iterable[str]:
    if not test.startswith("@"):  # a name is kept as it was typed
        return _folder(test, refuse, is_case) if os.path.isdir(test) else (test,)
    return _suite(test[1:], outer, refuse, is_case)


def _is_suite(name: str) -> bool:
    return os.path.exists(name) and not os.path.isdir(name)


def _suite(path: str, outer: tuple[str, ...], refuse: Refuse, is_case: IsCase) -> Iterator[str]:
    """Yield the case files that a suite names, or those that ship under this name."""
    if not _is_suite(path):
        from harness.reading import shipped

        if found := shipped.find_paths(path):
            yield from found
            return
    try:
        names = [line.strip(BLANKS) for line in casefile.read_lines(path, "suite")]
    except CaseError as error:
        if not os.path.exists(path):
            from harness.reading import shipped
            from oracle.sentences import hint

            known = [f"@{name}" for name in shipped.every_name()]
            error = CaseError(f"{error.message}{hint(f'@{path}', known, 0.8)}", path)
        refuse(error)
        return
    own = os.path.realpath(path)
    if own in outer:
        suites = (*outer[outer.index(own) :], own)
        circle = " → ".join(f"@{os.path.basename(suite)}" for suite in suites)
        raise CaseError(f"the suite contains itself: {circle}", path)
    for name in names:
        if name and not name.startswith("#"):
            mark = "@" if name.startswith("@") else ""
            here = name.removeprefix("@")
            beside = join_path(os.path.dirname(path), here)
            # (Not pathlib's exists(), which raises for a name that is too long.)
            is_there = _is_suite if mark else os.path.exists
            place = here if is_there(here) or not is_there(beside) else beside
            yield from _expand(f"{mark}{place}", (*outer, own), refuse, is_case)


def _folder(path: str, refuse: Refuse, is_case: IsCase) -> list[str]:
    """Return the case files within a folder; links to folders come after all other folders."""
    errors: list[CaseError] = []

    def note(error: OSError) -> None:
        errors.append(CaseError(f"the folder cannot be read: {error.strerror}", error.filename))

    waiting, seen, found = [path], set(), list[str]()
    while waiting:
        for folder, subfolders, files in os.walk(waiting.pop(0), onerror=note):
            status = os.stat(folder)
            own = status.st_dev, status.st_ino
            shown = [] if own in seen else sorted(filter(_is_shown, subfolders))
            links = [os.path.join(folder, name) for name in shown]
            waiting += filter(os.path.islink, links)
            subfolders[:] = shown
            if own not in seen:
                named = (os.path.join(folder, name) for name in filter(_is_shown, files))
                found += filter(is_case, named)
            seen.add(own)
    if not found and not errors:
        expected = " or ".join("*" + suffix for suffix in SUFFIXES)
        errors = [CaseError(f"found no case files in this folder, expected {expected}", path)]
    for error in errors:
        refuse(error)
    return sorted(found)


def _is_shown(name: str) -> bool:
    return not name.startswith(".")


# --- The selection of tests that a command line names --------------------------------------------

_RANGE = r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?"
_LONGEST = 60  # characters of a range: no id has so many digits


class Selection:
    """The tests wanted: ``only`` is a regular expression searched in their commands, ``ids`` and
    ``lines``, of their commands, are lists such as ``10,20-29``; None selects all.

    Raises:
        UsageError: one of them cannot be read.
    """

    def __init__(self, only: str | None, ids: str | None, lines: str | None) -> None:
        self._words = [f"--only '{only}'"] if only is not None else []
        self._words += [f"--ids {ids}"] if ids is not None else []
        self._words += [f"--lines {lines}"] if lines is not None else []
        try:
            self._only = re.compile(only or "")
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"--only {only!r} is not a regular expression: {error}") from None
        self._ids = None if ids is None else _ranges("--ids", ids)
        self._lines = None if lines is None else _ranges("--lines", lines)

    def __str__(self) -> str:
        return " with ".join(self._words)

    def of(self, case: CaseFile) -> CaseFile | None:
        """Return ``case`` with no other tests than those selected, None if it has none of them.

        The other tests are still sent, for what they do to the game, but not judged; and
        nothing is sent after the last one selected.
        """
        if not self._words:
            return case
        wanted = [
            step.is_test
            and _among(step.id, self._ids)
            and _among(step.line, self._lines)
            and self._only.search(step.command) is not None
            for step in case.steps
        ]
        return narrow(case, wanted) if True in wanted else None


def narrow(case: CaseFile, selection: Sequence[bool]) -> CaseFile:
    """Return ``case`` with no other tests than those of ``selection`` (one word for each step).

    The steps up to the last one wanted keep their indices; those after it are left out.
    """
    end = len(selection) - selection[::-1].index(True)
    steps = [
        step if chosen else step._replace(is_test=False, pattern=None)
        for step, chosen in zip(case.steps[:end], selection, strict=False)
    ]
    return case._replace(steps=tuple(steps))


def _among(number: int, ranges: list[range] | None) -> bool:
    return ranges is None or any(number in one for one in ranges)


def _ranges(option: str, text: str) -> list[range]:
    ranges = []
    for part in text.split(","):
        found = re.fullmatch(_RANGE, part)
        if found is None or len(part) > _LONGEST:
            what = f"found {part[:_LONGEST]!r}, expected {option.lstrip('-')} such as 10,20-29"
            raise UsageError(f"{option}: {what}")
        first = int(found[1])
        ranges.append(range(first, int(found[2] or first) + 1))
    return ranges


# --- The case files that a command line names ----------------------------------------------------
# A run in which nothing is tested is never a success: that is told like a bad case file.

_ALIKE = 0.85  # a file's name and its misspelling
_HINTS = 20  # errors with one; looking for more takes too long
_EXPECTED = "expected a command with a number before it, or with '#? [answer]' in the next line"

_EXPECTED_MARK = "expected a '?' before each command whose answer counts, such as '?play 0 0 1'"


class Gathered(NamedTuple):
    """Case files at the names given."""

    cases: tuple[CaseFile, ...]  # those with a test that is wanted
    refusals: tuple[HarnessError, ...] = ()  # a CaseError if one file is what is wrong
    named: int = 0  # how many files there are, bad ones among them
    dialect: Dialect = GOGUI  # in which they were read
    gtp_commands: tuple[str, ...] = ()  # of --gtpfile: sent before each file

    @property
    def errors(self) -> tuple[str, ...]:
        """Errors, one sentence each."""
        return tuple(map(str, self.refusals))


def gather(  # noqa: PLR0913 - what a command line says
    tests: Sequence[str],
    dialect: Dialect = GOGUI,
    only: str | None = None,
    ids: str | None = None,
    lines: str | None = None,
    *,
    protocol: str = GTP,
    gtpfile: str | None = None,
) -> Gathered:
    """Read the case files that ``tests`` name, and a ``gtpfile``, as on a command line.

    ``protocol``: that of the engine, or of the assignment; it tells what case files there may be.
    A folder or file that cannot be read becomes an error, and the others are read. So does a
    file without a test whose name is not that of a case file, and the lack of any test at all.

    Raises:
        CaseError: a suite contains itself; or the ``gtpfile`` cannot be read.
        UsageError: ``only``, ``ids`` or ``lines`` cannot be read.
    """
    gtp_commands = casefile.read_commands(gtpfile)
    needs_tests = dialect.needs_tests
    selection = Selection(only, ids, lines)
    errors: list[HarnessError] = []
    has_answers = protocol != GTP
    paths = expand(tests, errors.append, has_answers=has_answers)
    read: list[CaseFile] = []
    for path in paths:
        try:
            case = casefile.parse(casefile.content(path), path, dialect)
            if not has_answers:
                casefile.refuse_answers(case)
            if needs_tests and not is_named_as_case(path) and not has_tests(case):
                raise CaseError(f"found no test, {_expected([case])}", path)
        except CaseError as error:
            hint = _hint(path) if len(errors) < _HINTS else ""
            errors.append(CaseError(f"{error.message}{hint}", error.file, error.line))
        else:
            read.append(case)
    cases = [one for one in map(selection.of, read) if one is not None]
    is_enough = any(map(has_tests, cases)) or (cases and not needs_tests)
    if not is_enough and not errors:
        count = sum(step.is_test for case in read for step in case.steps)
        place = read[0].path if len(read) == 1 else f"these {len(read)} files"
        if count:
            chosen = "not the only test" if count == 1 else f"none of the {count:,} tests"
            errors.append(UsageError(f"{selection} selects {chosen} of {place}"))
        else:
            what = f"found no test, {_expected(read)}"
            is_one = len(read) == 1
            errors.append(CaseError(what, place) if is_one else UsageError(f"{place}: {what}"))
    return Gathered(tuple(cases), tuple(errors), len(paths), dialect, gtp_commands)


def has_tests(case: CaseFile) -> bool:
    """Whether a case file has a test."""
    return any(step.is_test for step in case.steps)


def _hint(path: str) -> str:
    """Return the end of a sentence about a name that was probably meant otherwise; or nothing."""
    from harness.reading import shipped
    from oracle.sentences import hint

    if os.path.isfile(path):
        # Its first line, after comments, may name a case file that is there.
        try:
            found = [] if is_named_as_case(path) else expand([f"@{path}"])[:1]
        except CaseError:
            found = []
        lists_cases = any(is_named_as_case(name) and os.path.isfile(name) for name in found)
        return f"; did you mean @{path}?" if lists_cases else ""
    if shipped.find_paths(path):
        return f"; did you mean @{path}?"
    parent = os.path.dirname(path)
    try:
        there = filter(is_named_as_case, os.listdir(parent or "."))
    except (OSError, ValueError):
        return ""
    return hint(path, (os.path.join(parent, name) for name in there), _ALIKE)


def _expected(cases: Sequence[CaseFile]) -> str:
    """Return what a test would be, in the words of the format of these files."""
    are_answers = bool(cases) and all(case.format == ANSWERS_FILE for case in cases)
    return _EXPECTED_MARK if are_answers else _EXPECTED
