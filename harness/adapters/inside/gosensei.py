"""gosensei.txt's program as an engine: each question is a run of it with a board file.

The sentence is judged by who asks: the reply is what the program printed beside the board's
picture, to the letter except for blanks at the ends of lines. What comes instead of a sentence (a
crash, a hang, no word at all) is an error, and says so. The document asks for no exit status, and
``void main`` gives any: beside a sentence alone it does not count.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .adapter_protocol import BLACK, WHITE, AdapterBoard, AdapterEngine, Refusal, TimeOut
from .calling import Call, call, quote

_COLUMNS = "abcdefghi"  # with i, unlike GTP's
_COLORS = {"b": BLACK, "w": WHITE}
# What a line of a picture is made of; a sentence has other letters.
_PICTURE = re.compile(r"[ \t+|\-.bwBWxXoO\dA-I]*")
_SENTENCE = re.compile(r"\bThere (is|are)\b")
_SENTENCE_ALONE = re.compile(r"There (is|are) .*")
_ENOUGH = 3  # calls with one option that did not end; after them it is not called with it


class Gosensei(AdapterEngine):
    """Answers with the program's sentences."""

    name = "gosensei"
    sizes = range(9, 10)  # "enum { GO_BOARD_SIZE = 9 };"
    size = 9

    def __init__(self, settings: dict[str, Any], folder: Path) -> None:
        super().__init__(settings)
        self._folder = folder
        self._hung: dict[str, int] = {}
        self._loaded: tuple[AdapterBoard | None, bytes] = (None, b"")  # a board, and its file
        self.commands |= {
            "eyes": lambda _: self._sentence("-eyes"),
            "twoeyes": lambda _: self._sentence("-twoeyes", "-doubleeyes"),
            "eyespaces": lambda _: self._sentence("-eyespaces"),
            "display": self.display,
            "is_valid": self.is_valid,
        }

    def load_board(self, words: list[str]) -> str:
        """Load a board file; the program is given just what is in it."""
        file = _require_file(words)
        content = file.read_bytes()
        self.set(AdapterBoard(9, 9, dict(_stones(content.decode(errors="replace")))))
        self._loaded = self.board, content
        return ""

    def is_valid(self, words: list[str]) -> str:
        """Whether the program takes a board file; if not, it must say so."""
        called = self._call("-eyes", _require_file(words).read_bytes())
        _, said = parts(called.output)
        if _SENTENCE.search(said) and not called.trouble:
            return "true"
        if called.timed_out or called.crashed:
            raise _refusal("-eyes", called)
        if not (said or called.errors.strip()):
            raise Refusal(f"no error was reported: {called.trouble or 'it ended with status 0'}")
        return "false"

    def display(self, _words: list[str]) -> str:
        """Return the board's picture."""
        called = self._call("-eyes", self._board_file())
        picture, _ = parts(called.output)
        if called.trouble or not picture:
            raise _refusal("-eyes", called, "no picture of the board was seen")
        return picture

    def _sentence(self, *options: str) -> str:
        """Return what the program says when called with the first option that it knows.

        The document calls one "-twoeyes" in the text and "-doubleeyes" in the usage line.
        """
        calls = []
        for option in options:
            called = self._call(option, self._board_file())
            calls.append((option, called))
            # If it does not know the option, it says no sentence, and has no accident. It may have
            # shown the board before it looked at the option.
            says_one = _SENTENCE.search(parts(called.output)[1])
            if says_one or called.timed_out or called.crashed:
                break
        else:
            option, called = calls[0]
        _, said = parts(called.output)
        if called.trouble or not said:
            raise _refusal(option, called, "no sentence was printed")
        return said

    def _call(self, option: str, content: bytes) -> Call:
        """Call the program with a board file; its name is short and says nothing of the board."""
        if self._hung.get(option, 0) >= _ENOUGH:
            return Call("", "", f"did not end {_ENOUGH} times before; it is not rerun", True)
        with tempfile.NamedTemporaryFile(suffix=".txt") as file:
            file.write(content)
            file.flush()
            words = [self._program(), option, file.name]
            called = call(words, self._folder, self.settings["seconds"])
        self._hung[option] = self._hung.get(option, 0) + called.timed_out
        # An answer: it ended by itself, and said a sentence and nothing else.
        is_alone = _SENTENCE_ALONE.fullmatch(parts(called.output)[1]) and not called.errors.strip()
        return called._replace(
            trouble="" if called.exited and is_alone else called.trouble,
            output=called.output.replace(file.name, "BOARD"),
            errors=called.errors.replace(file.name, "BOARD"),
        )

    def _program(self) -> str:
        names: list[str] = self.settings["programs"]
        for name in names:
            path = self._folder / name
            if path.is_file() and os.access(path, os.X_OK):
                return f"./{name}"
        raise Refusal(f"there is no program {' or '.join(names)}")

    def _board_file(self) -> bytes:
        board, content = self._loaded
        if self.board is board:
            return content
        letters = {BLACK: "b", WHITE: "w"}
        stones = sorted(self.board.stones.items())
        lines = (f"{letters[color]} {_COLUMNS[x]} {9 - y}\n" for (x, y), color in stones)
        return "".join(lines).encode()


def parts(output: str) -> tuple[str, str]:
    """Return the board's picture in an output, and what else is said.

    That is the text below the picture or, if there is none, the text above.
    """
    lines = [line.rstrip() for line in output.split("\n")]
    drawn = [n for n, line in enumerate(lines) if line.strip() and _PICTURE.fullmatch(line)]
    if not drawn:
        return "", "\n".join(lines).strip()
    above, below = lines[: drawn[0]], lines[drawn[-1] + 1 :]
    said = "\n".join(below).strip() or "\n".join(above).strip()
    return "\n".join(lines[drawn[0] : drawn[-1] + 1]), said


def _refusal(option: str, call: Call, otherwise: str = "") -> Refusal:
    said = parts(call.output)[1] or call.errors.strip()
    words = f"; it said {quote(said)}" if said else ""
    what = call.trouble or f"ended with status 0, but {otherwise}"
    kind = TimeOut if call.timed_out else Refusal
    return kind(f"gosensei {option} BOARD {what}{words}")


def _require_file(words: list[str]) -> Path:
    path = Path(" ".join(words)).absolute()
    if not path.is_file():
        raise Refusal(f"cannot load file: there is no {path.name}")
    return path


def _stones(text: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield the stones of a board file that is right."""
    for line in text.splitlines():
        if fields := line.lower().split():
            color, column, row = fields
            yield (_COLUMNS.index(column), 9 - int(row)), _COLORS[color]
