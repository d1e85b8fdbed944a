"""The reason why a program died, in its own words: the end of its standard error. Pure.

Of a chain of exceptions the first one counts: those raised while it was handled hide it. Beside it
stands the innermost line that is the program's own, not a library's: below the folder of the
outermost file, which is the program itself. (The course folder's packages lie beside it.)
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile
from posixpath import normpath

from harness.core.text import one_line
from harness.core.typed import NamedTuple

_ERROR = 160  # characters of an error
_CODE = 60  # characters of a line of a program

_TRACEBACK = "Traceback (most recent call last):"
_CHAINS = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
_PYTHON = re.compile(r'  File "(?P<path>.+)", line (?P<line>\d{1,9})\b')
_MARKS = re.compile(r"[\s~^]+")  # under a line of code
_JAVA = re.compile(r"\s+at (?P<owner>[\w.$<>/]+)\((?P<path>[\w$]+\.java):(?P<line>\d{1,9})\)")
_THREAD = re.compile(r'Exception in thread "[^"]*" ')
_SANITIZER = re.compile(r"==\d+==\s*ERROR: (?P<error>.*)")
_C = re.compile(r"\s+#\d+ 0x[0-9a-f]+ in .*? (?P<path>/\S+?):(?P<line>\d{1,9})(?::\d+)?$")
_LIBRARY = re.compile(
    r"^<|^/usr/|/lib\d*/python[\d.]+/|/(?:site|dist)-packages/|^(?:java|javax|jdk|sun|com\.sun)[./]"
)

# What differs between two programs that die of the same: places, addresses, figures.
_FOLDERS = re.compile(r"(?:[\w.~-]*/)+(?=[\w.~-])")
_NUMBER = re.compile(r"\b(?:0x[0-9a-fA-F]+|\d+)\b")


class LastWords(NamedTuple):
    """Error a program died of; empty if it did not say."""

    error: str = ""  # such as "KeyError: 'x'", on one line
    path: str = ""  # of the program's own file in which it happened, in its folder; or empty
    line: int = 0  # 1-based
    code: str = ""  # that line of the program, where it is shown

    def __str__(self) -> str:
        """Such as ``KeyError: 'x' (line 12 of board.py: return found[name])``."""
        code = f": {self.code}" if self.code else ""
        return f"{self.error} (line {self.line} of {self.path}{code})" if self.path else self.error

    @property
    def reason(self) -> str:
        """Error in a form that is the same wherever the program lies."""
        return normalize(self.error)


class _TraceFrame(NamedTuple):
    path: str
    line: int
    code: str = ""
    owner: str = ""  # a Java method: it tells whether the frame is a library's


def last_words(stderr: str) -> LastWords:
    """Return why a program died, of all that it wrote on standard error."""
    lines = stderr.splitlines()
    found = (read(lines) for read in _READERS)
    return next((one for one in found if one.error), LastWords())


def first_words(stderr: str) -> str:
    """Return how a message of several lines begins, of a program that died at its start.

    What comes last is often advice: ``Try --help``. Empty where :func:`last_words` tells all:
    there is one line, or a traceback.
    """
    lines = stderr.splitlines()
    if any(read(lines).error for read in _READERS if read is not _plain):
        return ""
    told = [one_line(line.strip(), _ERROR) for line in lines if line.strip()]
    return told[0] if told and told[0] != _plain(lines).error else ""


def normalize(text: str) -> str:
    """Return a text without what differs between programs that die of the same."""
    return _NUMBER.sub("N", _FOLDERS.sub("", text)).strip()


def _make(error: str, folder: str = "", frame: _TraceFrame | None = None) -> LastWords:
    error = one_line(error.strip(), _ERROR)
    if frame is None:
        return LastWords(error)
    path = frame.path.removeprefix(f"{folder}/") if folder else frame.path.rpartition("/")[2]
    return LastWords(error, one_line(path), frame.line, one_line(frame.code.strip(), _CODE))


def _is_library(frame: _TraceFrame) -> bool:
    return bool(_LIBRARY.search(frame.owner or frame.path))


# --- Python ------------------------------------------------------------------------------------


def _python(lines: Sequence[str]) -> LastWords:
    blocks = _blocks(lines)
    first = len(blocks) - 1
    while first > 0 and any(line in _CHAINS for line in blocks[first - 1]):
        first -= 1
    if first < 0:
        return LastWords()
    chain: list[list[_TraceFrame]] = []
    for block in blocks[first:]:
        chain.append([])
        for index, line in enumerate(block):
            if found := _PYTHON.match(line):
                code = "".join(block[index + 1 : index + 2])
                shown = code if code.startswith("    ") and not _MARKS.fullmatch(code) else ""
                chain[-1].append(_TraceFrame(normpath(found["path"]), int(found["line"]), shown))
            elif index and line[:1].strip():  # the error
                break
    folder, own = _innermost(chain)
    return _make(_error(blocks[first]), folder, own)


def _blocks(lines: Sequence[str]) -> list[Sequence[str]]:
    """Return the tracebacks, each with what is written after it."""
    starts = [index for index, line in enumerate(lines) if line == _TRACEBACK]
    if not starts:  # a syntax error of the program itself has no heading
        starts = [index for index, line in enumerate(lines) if _PYTHON.match(line)][-1:]
    return [lines[start:end] for start, end in pairwise([*starts, len(lines)])]


def _innermost(chain: Sequence[Sequence[_TraceFrame]]) -> tuple[str, _TraceFrame | None]:
    """Return the program's folder, and the innermost frame below it, of the first that has one.

    An exception that was caught shows only what was called below; the last one shows all.
    """
    own = [[frame for frame in frames if not _is_library(frame)] for frames in chain]
    folder = own[-1][0].path.rpartition("/")[0] if own[-1] else ""
    below = f"{folder}/" if folder else ""
    inside = [one for frames in own for one in frames[::-1] if one.path.startswith(below)]
    return folder, inside[0] if inside else None


def _error(block: Sequence[str]) -> str:
    """Return the error below the frames; of a long one the beginning and the end."""
    words = (line for line in block[1:] if line[:1].strip())
    first, *more = [*takewhile(lambda line: line not in _CHAINS, words)] or [""]
    if first.endswith(":") and more:
        first = f"{first} {more.pop(0)}"
    return f"{first} … {more[-1]}" if more else first


# --- Java, C, and all else ---------------------------------------------------------------------


def _java(lines: Sequence[str]) -> LastWords:
    """Return the cause of the last exception that is told with its places."""
    places = [index for index, line in enumerate(lines) if _JAVA.match(line)]
    heads = [index - 1 for index in places if index and lines[index - 1][:1].strip()]
    if not heads:
        return LastWords()
    error = _THREAD.sub("", lines[heads[-1]]).removeprefix("Caused by: ")
    return _first_own(error, _JAVA, lines[heads[-1] + 1 :])


def _sanitizer(lines: Sequence[str]) -> LastWords:
    """Return what a sanitizer of C reported last."""
    found = [(index, one) for index, line in enumerate(lines) if (one := _SANITIZER.match(line))]
    return _first_own(found[-1][1]["error"], _C, lines[found[-1][0] :]) if found else LastWords()


def _first_own(error: str, frame: re.Pattern[str], lines: Sequence[str]) -> LastWords:
    """Return an error with the first of its places that is not a library's."""
    matches = (one.groupdict() for line in lines if (one := frame.match(line)))
    frames = (
        _TraceFrame(one["path"], int(one["line"]), owner=one.get("owner", "")) for one in matches
    )
    return _make(error, frame=next((one for one in frames if not _is_library(one)), None))


def _plain(lines: Sequence[str]) -> LastWords:
    """Return the last line that is not indented; C++ tells what an exception was below that."""
    told = [line for line in lines if line[:1].strip() and not line.startswith("Caused by: ")]
    if not told:
        return LastWords()
    what = [line.strip() for line in lines if line.startswith("  what():")]
    thrown = told[-1].startswith("terminate called") and what
    more = f": {what[-1].removeprefix('what():').strip()}" if thrown else ""
    return _make(f"{told[-1]}{more}")


_READERS: tuple[Callable[[Sequence[str]], LastWords], ...] = (_python, _java, _sanitizer, _plain)
