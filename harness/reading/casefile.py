"""Case files: commands with expectations, read into a :class:`~harness.core.records.CaseFile`.

The grammar is in ``cases/README.md``: that of files for GTP is read here, that of answers with
status lines in :mod:`harness.reading.answer_files`. :func:`parse` touches no files: bytes in,
steps or an error with its line out.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Sequence
from sys import intern

from harness.core.errors import CaseError, PatternError
from harness.core.records import ANSWERS_FILE, GTP_FILE, CaseFile, Step
from harness.core.text import BLANKS, decode
from harness.core.typed import NamedTuple
from harness.reading.dialect import GOGUI, Dialect, find_dialect

TYPE_CHECKING = False

if TYPE_CHECKING:
    from oracle.command_properties import PropertyTable

# A command's id, as gogui-regress reads it: Java's Integer.parseInt() of all before the blank.
_ID = r"([+-]?[0-9]+) +"
_SHORT = 10  # digits: an id of less needs no further care
_MAX_ID = 2**31 - 1
_MOST_DIGITS = 1_000  # of a number that is read; Python refuses those of some thousand

# Where str.strip() and Java's String.trim() differ: control characters and Unicode's blanks.
_UNUSUAL = bytes([*range(9), *range(14, 28), *range(128, 256)])
_NOT_PLAIN = "#0123456789+-"  # a line that begins with another is a command without an id
_new = tuple.__new__  # a step for each of 100,000 lines: three times as fast as Step(...)

ANSWERS_SUFFIX = f".{ANSWERS_FILE}"  # of files that may be of answers with status lines
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read(path: str | os.PathLike[str], dialect: str = "gogui") -> CaseFile:
    """Read the case file at ``path``.

    Raises:
        CaseError: it cannot be read, or a line of it is wrong.
    """
    path = os.fspath(path)
    return parse(content(path), path, find_dialect(dialect))


def read_commands(path: str | None) -> tuple[str, ...]:
    """Return the commands of a ``--gtpfile``: all lines but comments, patterns among them.

    Without a file there are none.

    Raises:
        CaseError: it cannot be read.
    """
    if not path:
        return ()
    lines = [line.strip(BLANKS) for line in read_lines(path)]
    return tuple(line.replace("\t", " ") for line in lines if line and line[0] != "#")


def parse(data: bytes, path: str, dialect: Dialect = GOGUI) -> CaseFile:
    """Read the text ``data`` of the case file named ``path``.

    Its name and a status line tell which format it has. Bytes that are not UTF-8 go to the engine
    as they came.

    Raises:
        CaseError: a line of it is wrong.
    """
    lines = split_lines(data, path)
    if path.lower().endswith(ANSWERS_SUFFIX):
        from harness.reading import answer_files

        if answer_files.is_of_answers(lines):
            answers = tuple(answer_files.steps(lines, path))
            return CaseFile(path, answers, tuple(lines), ANSWERS_FILE)
    # For nearly all files str.strip(), three times as fast, takes off what Java's trim() does.
    is_usual = data.translate(None, _UNUSUAL) == data
    texts = [*map(str.strip, lines)] if is_usual else [line.strip(BLANKS) for line in lines]
    steps = _steps(lines, texts, path, dialect, b"\t" in data)
    return CaseFile(path, tuple(steps), tuple(lines))


def dialect_of(case: CaseFile, dialect: Dialect) -> Dialect:
    """Return how a case file is judged in a run of that dialect: other formats all alike."""
    if case.format == GTP_FILE:
        return dialect
    from harness.reading.answer_files import ANSWERS

    return ANSWERS


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


def read_lines(path: str, role: str = "") -> list[str]:
    """Return the lines of a file; raises as :func:`content` and :func:`split_lines`."""
    data = content(path, role)
    return split_lines(data, path)


def content(path: str, role: str = "") -> bytes:
    """Return all of a file, of a suite for instance, which ``role`` names.

    Raises:
        CaseError: it cannot be read, or reading it might never end: it is a FIFO or a device.
    """
    who = f"the {role} " if role else ""
    try:
        if (kind := _endless(path)) is not None:
            raise CaseError(f"{who}cannot be read: found {kind}, expected a file", path)
        with open(path, "rb", 0) as file:  # all is read at once
            return file.read()
    except OSError as error:
        raise CaseError(f"{who}cannot be read: {error.strerror}", path) from None
    except ValueError as error:  # a name that no file has
        raise CaseError(f"{who}cannot be read: {error}", path) from None


def _endless(path: str) -> str | None:
    """Return what a path leads to, if that is not made to be read to its end; None if it is."""
    status = os.stat(path)
    if stat.S_ISFIFO(status.st_mode):
        # A pipe without a name was given to us, with somebody at its other end: run … <(command).
        return "a FIFO" if os.path.exists(os.path.realpath(path)) else None
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    return "a device" if is_device and not os.path.samestat(status, os.stat(os.devnull)) else None


def split_lines(data: bytes, path: str) -> list[str]:
    """Return the lines of a text file that end in LF, CR or CRLF, without their ends.

    Raises:
        CaseError: it is UTF-16, whose bytes no engine would understand.
    """
    if data.startswith(_UTF16_MARKS):
        raise CaseError("found UTF-16 text, expected UTF-8", path)
    text = decode(data.removeprefix(_UTF8_MARK))
    # str.splitlines() would also cut at form feeds, U+0085, U+2028 …
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _steps(
    lines: list[str], texts: list[str], path: str, dialect: Dialect, has_tabs: bool
) -> list[Step]:
    steps: list[Step] = []
    add = steps.append
    patterns: int | None = None  # of the command in the line before; None if there is no command
    for number, text in enumerate(texts, 1):
        if not text:
            patterns = None
        elif text[0] not in _NOT_PLAIN and not (has_tabs and "\t" in text):
            add(_new(Step, (number, text, -1, text, False, None)))
            patterns = 0
        elif text[0] != "#":
            add(_command(number, text, path))
            patterns = 0
        elif text[:2] != "#?" or (wanted := dialect.pattern_part(lines[number - 1])) is None:
            patterns = None
        else:
            try:
                patterns = _take_pattern(steps, patterns, wanted, dialect)
            except PatternError as error:
                raise CaseError(str(error), path, number) from None
    return dialect.settle(steps)


def _take_pattern(
    steps: list[Step], patterns: int | None, expression: str, dialect: Dialect
) -> int | None:
    """Give the last step a pattern, and return how many it has had now."""
    if patterns != 0:
        dialect.refuse_pattern(second=patterns is not None)
    if patterns is None:
        return None
    pattern = dialect.read_pattern(expression)
    # As under gogui-regress, "#?" alone makes no test of a command without an id.
    line, text, id_, command, is_test, _ = steps[-1]
    is_test = is_test or pattern is not None
    steps[-1] = _new(Step, (line, text, id_, command, is_test, pattern))
    return patterns + 1


def _command(number: int, text: str, path: str) -> Step:
    text = text.replace("\t", " ")
    if text[0] in "0123456789+-":
        digits, _, rest = text.partition(" ")
        if rest and len(digits) < _SHORT and digits.isdecimal() and digits.isascii():
            # Many tests are the same except for their id.
            return _new(Step, (number, text, int(digits), intern(rest.lstrip(" ")), True, None))
        found = re.match(_ID, text)
        if found and len(found[1]) > _MOST_DIGITS:
            what = f"found a number of {len(found[1]):,} digits, expected an id up to {_MAX_ID}"
            raise CaseError(what, path, number)
        if found and 0 <= (id_ := int(found[1])) <= _MAX_ID:
            command = intern(text[found.end() :])
            return _new(Step, (number, text, id_, command, True, None))
    return _new(Step, (number, text, -1, text, False, None))


# --- The setup of a test: where it begins, what it loads, and the comment above it. Pure ---------

_LOOK_BACK = 500  # lines: more than the setup of a full board of 19 by 19


class SetUp(NamedTuple):
    """Setup of a test."""

    first: int = 0  # index into CaseFile.steps of the command that begins a new board
    loaded: str = ""  # the file that it loads, as its command has it; "": none


def setups(
    case: CaseFile, tests: Collection[int], command_properties: PropertyTable
) -> dict[int, SetUp]:
    """Return what leads to some steps of a case file."""
    found: dict[int, SetUp] = {}
    now, is_preparing, last = SetUp(), False, max(tests, default=-1)
    for index, step in enumerate(case.steps[: last + 1]):
        if index in tests:
            found[index] = now
        name, _, argument = step.command.partition(" ")
        properties = command_properties[name]
        if properties.loads:
            now = SetUp(index, re.sub(r"(?<=\S)\s+\d+$", "", argument.strip()))  # no move number
        elif properties.begins_board:
            now = SetUp(now.first if is_preparing else index)
        # Settings may stand between the first command of a board and the last.
        is_preparing = properties.begins_board or (is_preparing and properties.is_setting)
    return found


def comments(case: CaseFile, test: int, setup: SetUp | None = None) -> str:
    """Return the comment above a test's setup and that of the test alone; both may be "".

    The latter is the last comment after the test before it.
    """
    own, above, line = range(0), range(0), case.steps[test].line
    for place in range(line - 2, max(-1, line - 2 - _LOOK_BACK), -1):
        text = case.lines[place].strip()
        if text.startswith("#"):
            own = range(0) if text.startswith("#?") else _comment_up_to(case.lines, place)
            break
    if setup and case.steps:
        # The places of the comment above a line, with no command between.
        place = case.steps[setup.first].line - 2
        while place >= 0 and not case.lines[place].strip():
            place -= 1
        above = _comment_up_to(case.lines, place)
    texts = (
        "\n".join(case.lines[place].strip().lstrip("# ") for place in places).strip()
        for places in dict.fromkeys((above, own))
        if places
    )
    return "\n".join(texts)


def _comment_up_to(lines: Sequence[str], last: int) -> range:
    first = last + 1
    while first > 0 and (text := lines[first - 1].strip()).startswith("#"):
        if text.startswith("#?"):
            break
        first -= 1
    return range(first, last + 1)
