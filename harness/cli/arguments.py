"""Reading command lines: argparse, with errors of one line and gogui's spellings."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from harness.errors import UsageError


class Parser(argparse.ArgumentParser):
    """A parser whose errors are :class:`UsageError`; options may stand among arguments."""

    def __init__(self, command: str, **rest: str) -> None:
        super().__init__(
            prog=f"gtp-harness {command}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            add_help=False,
            **rest,  # type: ignore[arg-type]
        )

    def read(self, arguments: list[str]) -> argparse.Namespace | None:
        """Return what the command line says; None if it asked for help, which is printed.

        The parser has an option ``--help`` like any other, among those it belongs to.
        """
        given = self.parse_intermixed_args(arguments)
        if given.help:
            print(self.format_help(), end="")
            return None
        return given

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        raise UsageError(f"{message} ({self.prog} --help tells more)")


def number(least: float, what: str) -> Callable[[str], float]:
    """Return a reader of numbers of at least ``least``."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"found {text!r}, expected {what}")
        return value

    return read


def whole(least: int, what: str) -> Callable[[str], int]:
    """Return a reader of whole numbers of at least ``least``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"found {text!r}, expected {what}")
        return int(text)

    return read


_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def size(text: str) -> int:
    """Read a number of bytes, such as 65536, 64k, 4M or 1G."""
    digits = text.rstrip("kKmMgG")
    unit = _SUFFIXES.get(text[len(digits) :].lower())
    if not (digits.isascii() and digits.isdigit()) or unit is None:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected bytes such as 65536 or 64k")
    return int(digits) * unit


def figure(count: int) -> str:
    """Write a number of bytes as :func:`size` reads it, such as ``64k``."""
    powers = [(factor, suffix.upper()) for suffix, factor in _SUFFIXES.items()]
    factor, suffix = max(pair for pair in powers if count % pair[0] == 0)
    return f"{count // factor}{suffix.replace('K', 'k')}"


def with_config(arguments: list[str]) -> list[str]:
    """Return the command line with the words of its ``--config`` files after its own.

    As with gogui-regress a file holds what might stand on the command line, in any number of
    lines; ``"`` holds a word with blanks together. What is said twice, the file says last. Here
    lines that begin with ``#`` are comments.
    """
    words = list(arguments)
    for place, word in enumerate(arguments):
        if word in ("--config", "-config"):
            if place + 1 == len(arguments):
                raise UsageError(f"{word} needs the name of a file")
            words += _config_words(arguments[place + 1])
        elif word.startswith("--config="):
            words += _config_words(word.removeprefix("--config="))
    return words


def _config_words(path: str) -> list[str]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text") from error
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    pieces = " ".join(lines).split('"')
    if len(pieces) % 2 == 0:
        raise UsageError(f'{path}: a " is not closed')
    words: list[str] = []
    for place, piece in enumerate(pieces):
        words += [piece] if place % 2 else piece.split()
    if "-config" in words or "--config" in words:
        raise UsageError(f"{path}: a --config within a --config")
    return words
