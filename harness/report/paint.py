"""Color on a terminal, or none: what is written is the same either way."""

from __future__ import annotations

import re

_CODES = {
    "bad": "1;31",
    "good": "32",
    "odd": "35",
    "warn": "33",
    "dim": "2",
    "bold": "1",
    "mark": "7",
}
# The color of a verdict, and of what is counted beside the verdicts.
VERDICTS = {
    "FAILED": "bad",
    "not run": "warn",
    "not judged": "warn",
    "errors": "warn",
    "flaky": "odd",
    "PASSED": "good",
    "passed": "good",
}
# Stones and wood as they are, whatever the terminal's own colors: on a dark screen a plain
# "black" circle would look white. Their shapes differ, too, for anyone who sees no color.
_BOARD, _BLACK, _WHITE = "48;5;179;38;5;94", "38;5;16", "1;38;5;231"
_STONES = {"●": f"\x1b[{_BLACK}m●\x1b[38;5;94m", "○": f"\x1b[{_WHITE}m○\x1b[22;38;5;94m"}
_ENOUGH = 256  # colors, for a board
_END = "\x1b[0m"
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def wrap(text: str, width: int) -> list[str]:
    """Return the lines of a text, none wider than ``width`` if it has blanks to break at.

    Colors take no columns, and end with a line to begin again in the next. Without a width, of a
    file or a pipe, lines stay as they are.
    """
    lines = text.splitlines() or [""]
    return [part for line in lines for part in _wrap_line(line, width)] if width > 0 else lines


def _wrap_line(line: str, width: int) -> list[str]:
    found, room, color = [""], width, ""
    for word in re.findall(r"\s+|\S+", line):
        size = len(_COLOR.sub("", word))
        if size > room and found[-1].strip() and not word.isspace():
            found[-1] = found[-1].rstrip() + (_END if color else "")
            found.append(color)
            room = width
        found[-1] += word
        room -= size
        for code in _COLOR.findall(word):
            color = "" if code == _END else code
    return [one for one in found if one] or [""]


class Paint:
    """Puts text in colors if ``on``, or if there are any: a number of colors."""

    def __init__(self, on: int) -> None:
        self.on = on > 0
        self._paints_boards = on is True or on >= _ENOUGH

    def __call__(self, kind: str, text: str) -> str:
        """Return the text in the color of a kind: bad, good, odd, warn, dim, bold, mark."""
        return f"\x1b[{_CODES[kind]}m{text}{_END}" if self.on and text else text

    def board(self, drawing: str) -> str:
        """Return a drawn Unicode board with stones in black and white on wood."""
        if not self._paints_boards:
            return drawing
        lines = drawing.splitlines()
        width = max(map(len, lines))
        rows = "\n".join(f"\x1b[{_BOARD}m{line:{width}} {_END}" for line in lines)
        for stone, painted in _STONES.items():
            rows = rows.replace(stone, painted)
        return rows
