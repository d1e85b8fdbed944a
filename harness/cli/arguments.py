"""Reading command lines: argparse, with errors of one line and gogui's spellings."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from harness.errors import UsageError
from harness.options import PROTOCOLS
from harness.reading.dialect import named
from harness.records import Repeat
from harness.report.context import shell_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

Remark = Callable[[str, list[str], int], str]

_WIDEST = 100  # columns of a help page: longer lines are hard to read
_ALIKE = 0.75  # an option and its misspelling; less is another program's option


class _Page(argparse.HelpFormatter):
    """A help page: see :mod:`harness.cli.layout`."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from harness.cli import layout

        return layout.filled(text, width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        from harness.cli import layout

        return layout.wrapped(text, width)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are :class:`UsageError`; options may stand among arguments."""

    width = 80  # columns of what it prints

    def __init__(self, command: str, **rest: str) -> None:
        super().__init__(
            prog=f"gtp-harness {command}",
            allow_abbrev=False,
            add_help=False,
            **rest,  # type: ignore[arg-type]
        )

    def _get_formatter(self) -> argparse.HelpFormatter:
        # (The terminal is not asked for its width here: every add_argument() comes by.)
        return _Page(self.prog, width=self.width - 2)

    def read(
        self, arguments: list[str], remark: Remark = lambda option, words, first: ""
    ) -> argparse.Namespace | None:
        """Return what the command line says; None if it asked for help, which is printed.

        The parser has an option ``--help`` like any other, among those it belongs to.
        ``remark``: returns the end of the sentence about an option that does not exist; it is
        given that option, all words, and the place of the first that is no option nor its value.
        """
        given, unknown = self.parse_known_intermixed_args(arguments)
        if unknown:
            options = [word for word in unknown if word.startswith("-")] or unknown
            first = self._place_of_argument(arguments)
            said = self._guess(options[0]) or remark(options[0], arguments, first)
            self.error(f"unrecognized arguments: {' '.join(options)}{said}")
        if given.help:
            self.width = terminal_width()
            print(self.format_help(), end="")
            return None
        return given

    def _place_of_argument(self, words: list[str]) -> int:
        """Return the place of the first word that is no option nor the value of one."""
        is_value = False
        for place, word in enumerate(words):
            if not (is_value or word.startswith("-")):
                return place
            action = self._option_string_actions.get(word)
            is_value = action is not None and action.nargs != 0
        return len(words)

    def _guess(self, word: str) -> str:
        from oracle.spelling import hint

        option = word.partition("=")[0]
        if len(option) < 3 or option[0] != "-":
            return ""
        known = [one for one in self._option_string_actions if one.startswith("--")]
        return hint(f"--{option.lstrip('-')}", known, _ALIKE)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        from oracle.spelling import hint

        known = [str(one) for one in action.choices]
        raise argparse.ArgumentError(
            action,
            f"invalid choice: {str(value)!r} (choose from {', '.join(known)})"
            f"{hint(str(value), known)}",
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting."""
        raise UsageError(f"{message} ({self.prog} --help tells more)")


def terminal_width() -> int:
    """Return how many columns a help page may have."""
    from shutil import get_terminal_size

    return max(min(get_terminal_size().columns, _WIDEST), 40)


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


def protocol(text: str) -> str:
    """Read the name of a protocol; for shells, a blank in it may be a hyphen."""
    name = text.replace("-", " ")
    if name not in PROTOCOLS:
        expected = " or ".join(map(repr, PROTOCOLS))
        raise argparse.ArgumentTypeError(f"found {text!r}, expected {expected}")
    return name


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
        with open(path, encoding="utf-8") as file:
            text = file.read()
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


# --- the command line of a run, made anew -------------------------------------------------------

# What an engine is told, how it is listened to and how it is judged; all else is for one run.
_KEPT = (
    "gtpfile",
    "protocol",
    "translate",
    "restart",
    "lockstep",
    "pty",
    "dialect",
    "game",
    "sandbox",
    "show",
)
_LIMITS = ("timeout", "startup", "file", "quit")


def repeat(parser: argparse.ArgumentParser, given: argparse.Namespace, program: str) -> Repeat:
    """Return how tests are repeated.

    ``program``: what to run, which need not be what was typed: its seed is drawn by then.
    """
    words = [*parser.prog.split()]
    for action in parser._actions:
        value = getattr(given, action.dest, None)
        is_kept = action.dest in _KEPT or action.dest in _LIMITS or action.dest[:4] == "max_"
        if is_kept and value != action.default and action.option_strings:
            words += _words(action.option_strings[0], value)
    start = " ".join(map(shell_word, [*words, program]))
    return Repeat(start, named(given.dialect).settles_late)


def _words(option: str, value: object) -> list[str]:
    if value is True:
        return [option]
    values = value if isinstance(value, list) else [value]
    return [f"{option}={f'{one:g}' if isinstance(one, float) else one}" for one in values]
