r"""The lines of a transcript as a terminal would have shown them.

A transcript of ``script`` has every byte that went to the terminal: colors, window titles, each
correction of a typing error as backspaces and erasures, and where the shell broke a long command
at the window's edge, a blank and a carriage return. Commands must be found in it as they were
when Enter was pressed.

Only what happens within a line is followed: that is all that command lines need. The time is that
of one pass, and no line grows beyond a bound, whatever the bytes are.

Source: ECMA-48, "Control functions for coded character sets", 8.3 (CUB, CUF, DCH, ECH, EL, ICH);
GNU Readline, ``display.c``: at the edge of the screen it writes a blank and a carriage return.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST = 4_000  # characters in a line, after which another begins
_MOST = 500  # characters that one control sequence moves, erases or inserts
_TOKENS = re.compile(
    r"\x1b\[(?P<args>[0-?]*)[ -/]*(?P<end>[@-~])"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # window titles and other strings
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<text>[^\x00-\x1f\x7f]+)"
    r"|(?P<other>[\x00-\x1f\x7f])"
)


def lines(data: bytes) -> list[str]:
    """Return the lines, without blanks at their ends."""
    return list(_lines(_decode(data)))


def _decode(data: bytes) -> str:
    """Return the text; what Windows calls Unicode has a mark at its beginning."""
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = data.decode("utf-16" if is_wide else "utf-8", errors="replace")
    text = re.sub(r" \r(?![\r\n])", "", text)  # where the shell went on in the next row
    return re.sub(r"\r+\n?|\n", "\n", text)


def _lines(text: str) -> Iterator[str]:
    line = _TerminalLine()
    for token in _TOKENS.finditer(text):
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
