r"""Read the log of a submission's test before submitting as evidence.

A transcript of ``script`` has every byte that went to the terminal: colors, window titles, each
correction of a typing error as backspaces and erasures, and where the shell broke a long command
at the window's edge, a blank and a carriage return. Commands must be found in it as they were
when Enter was pressed.

Only what happens within a line is followed: that is all that command lines need. The time is that
of one pass, and no line grows beyond a bound, whatever the bytes are.

Source: ECMA-48, "Control functions for coded character sets", 8.3 (CUB, CUF, DCH, ECH, EL, ICH);
GNU Readline, ``display.c``: at the edge of the screen it writes a blank and a carriage return.
"""

import re
from collections.abc import Iterator, Sequence

from harness.archives import archive, archive_streams
from harness.assignments import contents, public_tests
from harness.assignments.assignment import Assignment
from harness.core.text import number_of, one_line
from harness.grading.records import CheckLog

_LONGEST = 4_000  # characters in a line, after which another begins
_MOST = 500  # characters that one control sequence moves, erases or inserts
_TOKENS = re.compile(
    r"\x1b\[(?P<args>[0-?]*)[ -/]*(?P<end>[@-~])"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # window titles and other strings
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<text>[^\x00-\x1f\x7f]+)"
    r"|(?P<other>[\x00-\x1f\x7f])"
)


def show_lines(data: bytes) -> Iterator[str]:
    """Yield the lines of a transcript as they stood on the terminal when they were ended."""
    # What Windows calls Unicode has a mark at its beginning.
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = data.decode("utf-16" if is_wide else "utf-8", errors="replace")
    text = re.sub(r" \r(?![\r\n])", "", text)  # where the shell went on in the next row
    line = _TerminalLine()
    for token in _TOKENS.finditer(re.sub(r"\r+\n?|\n", "\n", text)):
        if token["text"]:
            line.put(token["text"])
        elif token["end"]:
            line.control(token["end"], token["args"])
        elif token["other"]:
            line.character(token["other"])
        if token["other"] == "\n" or len(line.cells) > _LONGEST:
            yield line.show()
            line = _TerminalLine()
    if line.cells:
        yield line.show()


class _TerminalLine:
    """A line and a cursor in it, which is never behind its end."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self._at = 0

    def show(self) -> str:
        return "".join(self.cells).rstrip()

    def put(self, text: str) -> None:
        self.cells[self._at : self._at + len(text)] = text
        self._at += len(text)

    def character(self, char: str) -> None:
        if char == "\b":
            self._at = max(0, self._at - 1)
        elif char == "\t":
            self.put(" ")

    def control(self, end: str, args: str) -> None:
        count = min(int(args[:4]) if args.isdecimal() and args.isascii() else 1, _MOST)
        at, cells = self._at, self.cells
        if end == "D":
            self._at = max(0, at - count)
        elif end == "C":
            self._at = min(len(cells), at + count)
        elif end == "P":
            del cells[at : at + count]
        elif end == "@":
            cells[at:at] = " " * count
        elif end == "X":
            cells[at : at + count] = " " * min(count, len(cells) - at)
        elif end in "KJ" and args in ("", "0"):
            del cells[at:]


# --- The log of the test before submitting, as evidence: what it shows, and what is missing ------
# go-scoring.txt, "Do Your Own Pre-submission Test": use ``script`` to log the session, unpack the
# archive in a new directory, run ``gogui-regress``, ``exit``. So the log should be a transcript of
# a terminal, show the archive being unpacked, and the run with its result. ``gogui-regress``
# prints nothing when all tests pass: then the result is that the shell came back without a word.
#
# A log can be written by hand; what is found here is evidence for a teacher and no proof.


LONGEST = 1 << 18  # bytes looked at: half of them from the beginning, half from the end
_MOST_PARTS = 50  # of a command line
_TELLING = 5  # characters of a prompt by which it is known again, whatever follows in it
_SHOWN = 120  # characters of a line that is quoted

_FIRST_LINE = re.compile(r"Script started on |(?:Windows )?PowerShell transcript start")
_CONTROLS = re.compile(rb"\x1b[\[\]]|\x08|\x07")
_PROMPT = re.compile(r"\S.{0,200}?[$#%>❯] ?(?=\S)")
_SHORT_PROMPT = re.compile(r"[^\s$#%>❯]*[$#%>❯](?=\s)")

_TAR = re.compile(r"(?<![\w.-])(?:bsd|g)?tar\s+([^|;&]+)")
_OTHER_UNPACKERS = re.compile(
    r"(?<![\w.-])(?:unzip\s+(?!-\w*[lvtZ])\S|7z[ar]?\s+[xe]\s|unar\s+\S"
    r"|python3?\s+-m\s+(?:tarfile|zipfile)\s+(?:-e|--extract)\s)"
)
_NOT_UNPACKED = re.compile(
    r"(?:\S*tar|unzip|gzip)(?: \S+)?: .*(?:Cannot|cannot|not found|No such file|Exiting|Error)"
)

_RUN = re.compile(
    r"(?<![\w.-])(?:gogui-regress(?:\.jar)?|gtp-harness\s+(?:run|check)|regress\.sh)[\"']?\s+\S"
)
_SUMMARY = re.compile(r"Summary: \d+/\d+ passes\.")
_RESULT = re.compile(
    rf"{_SUMMARY.pattern}|(?:\S+ )?\d+ (?:passed|PASSED|failed|FAILED|unexpected (?:FAIL|PASS))\b"
    r"|(?:in all\s+|\d+ files?(?: \([^()]*\))?: )\d+ tests?\b"
)
_FAILED = re.compile(r"(?:\S+ )?\d+ (?:unexpected FAIL|FAILED)\b")
_BROKEN = re.compile(
    r"command not found|[Nn]o such file or directory|Traceback \(most recent"
    r"|Exception in thread|[Pp]ermission denied|is not recognized|terminated unexpectedly"
    r"|gogui-regress: |gtp-harness: "
)
_END = re.compile(r"exit$|logout$|Script done on ")


def absent(name: str, near: Sequence[str] = ()) -> CheckLog:
    """Return the evidence when there is no log; ``near`` are files of similar names."""
    hint = f" (there is {one_line(near[0], _SHOWN)})" if near else ""
    return CheckLog(remarks=(f"There is no {name}{hint}.",))


def of_log(name: str, data: bytes, expected: public_tests.Receipt) -> CheckLog:
    """Return what a log shows.

    ``data``: its bytes, or of a long one both ends, :data:`LONGEST` in all. ``expected``: the
    receipt for the files that were submitted with it.
    """
    if not data.strip():
        return CheckLog(present=True, remarks=(f"{name} is empty.",))
    lines = list(show_lines(data[:LONGEST]))
    transcript, odd = _transcript(name, data, lines)
    not_unpacked = _find_trouble_with_unpacking(name, lines)
    not_run, failed = _best_run(name, lines)
    failures = f"The run in {name} shows {number_of(failed, 'test')} that failed."
    said = (odd, not_unpacked, not_run, failures if failed else "")
    return CheckLog(
        present=True,
        transcript=transcript,
        unpacked=not not_unpacked,
        ran=not not_run,
        receipt=public_tests.compare_receipt(public_tests.find_receipt(lines), expected),
        remarks=tuple(filter(None, said)),
    )


def _transcript(name: str, data: bytes, lines: Sequence[str]) -> tuple[bool, str]:
    """Return whether it is one of a terminal, and a sentence if that is not plain."""
    if any(_FIRST_LINE.match(line) for line in lines[:5]) or _CONTROLS.search(data):
        return True, ""
    if any(_RUN.search(line) and _PROMPT.match(line) for line in lines):
        return True, f"{name} was copied from a terminal, not kept by script."
    what = archive_streams.describe_kind(data[: archive_streams.HEAD])
    return False, f"{name} is {what}, not a terminal's transcript."


# --- unpacking ---------------------------------------------------------------------------------


def _find_trouble_with_unpacking(name: str, lines: Sequence[str]) -> str:
    """Return a sentence if it does not show the archive being unpacked, or ""."""
    said = f"{name} does not show the archive being unpacked (tar -x… or unzip)."
    for index, line in enumerate(lines):
        tars = (_TAR.search(part) for part in line.split("&&")[:_MOST_PARTS])
        is_tar = any(tar and _extracts(tar[1].split()) for tar in tars)
        if is_tar or _OTHER_UNPACKERS.search(line):
            after = lines[index + 1 : index + 4]
            wrong = next((one for one in after if _NOT_UNPACKED.match(one)), "")
            if not wrong:
                return ""
            said = f"In {name} the archive could not be unpacked: {one_line(wrong, _SHOWN)}"
    return said


def _extracts(words: Sequence[str]) -> bool:
    """Whether tar's arguments say ``x``, with or without a dash, or ``--extract``."""
    bundles = [word[1:].partition("f")[0] for word in words if re.match("-[A-Za-z]", word)]
    if words and re.fullmatch(r"[cdrtuxAvzjJkmopPSWfC]+", words[0]):
        bundles.append(words[0])
    return any("x" in bundle for bundle in bundles) or bool({"--extract", "--get"} & {*words})


# --- the run -----------------------------------------------------------------------------------


def _best_run(name: str, lines: Sequence[str]) -> tuple[str, int]:
    """Return (problem, failed tests) of the last run with a result, or of the last, or of none.

    The problem is a sentence; it is empty if the run has its result.
    """
    begins = [index for index, line in enumerate(lines) if _RUN.search(line)]
    ends = [*begins[1:], len(lines)]
    runs = [_run(name, lines[i:j]) for i, j in zip(begins, ends, strict=False)]
    good = [run for run in runs if not run[0]]
    if not runs and any(map(_SUMMARY.match, lines)):
        return "", 0  # a command that was typed in a way that cannot be followed
    none = f"{name} shows no run of the tests (gogui-regress or gtp-harness).", 0
    return [none, *runs, *good][-1]


def _run(name: str, lines: Sequence[str]) -> tuple[str, int]:
    """Return (problem, failed tests) of a run, which begins in the first of the lines."""
    output, ended = _output(lines)
    if any(_RESULT.match(line.lstrip()) for line in output):
        return "", sum(bool(_FAILED.match(line.lstrip())) for line in output)
    if wrong := next(filter(_BROKEN.search, output), ""):
        return f"The run of the tests in {name} broke off: {one_line(wrong, _SHOWN)}", 0
    if "gogui-regress" in lines[0] and ended:
        return "", 0
    return f"{name} shows a run of the tests without its result.", 0


def _output(lines: Sequence[str]) -> tuple[Sequence[str], bool]:
    """Return a command's output, and if it ended: its prompt came again or the shell was left."""
    found = _RUN.search(lines[0])
    before = lines[0][: found.start()][:_TELLING] if found else ""
    short = _SHORT_PROMPT.match(before)
    prompt = short[0] if short else before.rstrip()
    for index, line in enumerate(lines[1:], 1):
        again = prompt and line.startswith(prompt) and not _BROKEN.search(line)
        if again or _END.match(line):
            return lines[1:index], True
    return lines[1:], False


# --- the log in an archive -----------------------------------------------------------------------


def read_log(inspection: contents.InspectedArchive, assignment: Assignment, path: str) -> CheckLog:
    """Return what the log in an archive shows, read with the digests of the files beside it."""
    name = assignment.files.log
    if not name:
        return CheckLog()
    if not inspection.found.has_log:
        others = (*inspection.found.kept, *inspection.found.extra)
        like = contents.likeness(name)
        return absent(name, [one for one in others if contents.likeness(one) == like])
    wanted = {inspection.root + kept: kept for kept in inspection.found.kept}
    digests: dict[str, str] = {}
    data = b""
    for file in archive.files(path):
        kept = wanted.get(file.name)
        if kept == name:
            half, first, last = LONGEST // 2, b"", b""  # of a very long one both ends are enough
            for piece in file.content:
                room = half - len(first)
                first += piece[:room]
                last = (last + piece[room:])[-half:]
            data = first + last
        elif kept is not None:
            digests[kept] = public_tests.digest(file.content)
    return of_log(name, data, public_tests.make_receipt(assignment, digests))
