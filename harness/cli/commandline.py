"""Commands, a reader of plain command lines, readers of the values of options, encodings.

Nothing here loads :mod:`argparse`, which takes as long as some hundred commands of an engine. So
the command line of a run is read here if it is plain (known options, spelled out, with valid
values), with the same result. Everything else, and help, is left to argparse, which gives better
messages.
"""

from __future__ import annotations

import codecs
import math
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from io import TextIOWrapper
from types import SimpleNamespace

from harness.core.errors import ExitCode, UsageError
from harness.core.options import PROTOCOLS, SANDBOXES
from harness.core.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any, NoReturn

    from harness.cli.arguments import CommandParser

_OPTIONS = "[options]"  # the line of a page where its options stand


class Command:
    """A command of ``gtp-harness``, from which its parser, help, manual page and completion come.

    ``page``: the help as it is printed in 80 columns, with a line ``[options]`` in the place of
    those. ``run``: does what a command line says, ``typed`` among it, and returns the exit status.
    """

    def __init__(
        self,
        name: str,
        page: str,
        add_options: Callable[[CommandParser], None],
        run: Callable[[Namespace], int] | None = None,
    ) -> None:
        self.name, self.page, self.add_options, self.run = name, page, add_options, run

    def main(self, words: list[str]) -> int:
        """Run the command and return its exit status."""
        given = self.parser().read(words)
        if given is None or self.run is None:
            return ExitCode.OK
        given.typed = words
        never_fail_to_encode()
        return self.run(given)

    def parser(self) -> CommandParser:
        """Return the parser of its command line."""
        from harness.cli.arguments import CommandParser

        begin, end = self.page.split(f"\n\n{_OPTIONS}\n\n")
        usage, description = begin.split("\n\n", 1)
        parser = CommandParser(self.name, usage.removeprefix("usage: "), description, end)
        self.add_options(parser)
        parser.complete()
        return parser

    def refuse(self, message: str) -> NoReturn:
        """Raise :class:`UsageError` for a command line that cannot be followed."""
        raise UsageError(f"{message} (gtp-harness {self.name} --help tells more)")


_UNDERSTOOD = {"action", "choices", "default", "dest", "help", "metavar", "type"}


class _PlainOption(NamedTuple):
    flag: str  # the first of its spellings
    name: str  # of its value among all that were read
    action: str  # store, store_true or append
    default: object
    reader: Callable[[str], object]
    choices: Collection[object] | None


class Plain:
    """The options of a command, taken in as :class:`argparse.ArgumentParser` takes them in.

    All words that are not options are read as ``arguments``.
    """

    def __init__(self) -> None:
        self.options: list[_PlainOption] = []
        self._by_flag: dict[str, _PlainOption] = {}

    def add_argument_group(self, _title: str) -> Plain:
        """Return what takes in the options of a group: groups are for help alone."""
        return self

    def add_argument(self, *flags: str, **how: Any) -> None:
        """Take in an option; see :meth:`argparse.ArgumentParser.add_argument`."""
        assert how.keys() <= _UNDERSTOOD, how
        long = next((flag for flag in flags if flag.startswith("--")), flags[0])
        action = how.get("action", "store")
        option = _PlainOption(
            flags[0],
            how.get("dest", long.lstrip("-").replace("-", "_")),
            action,
            how.get("default", False if action == "store_true" else None),
            how.get("type", str),
            how.get("choices"),
        )
        self.options.append(option)
        self._by_flag.update(dict.fromkeys(flags, option))

    def read(self, words: Sequence[str]) -> Namespace | None:
        """Return what the command line says; None if it is not plain or asks for help."""
        found: dict[str, Any] = {option.name: option.default for option in self.options}
        rest: list[str] = []
        left = iter(words)
        for word in left:
            if word[:1] != "-":
                rest.append(word)
                continue
            flag, sign, value = word.partition("=")
            option = self._by_flag.get(flag)
            if option is None or (sign and option.action == "store_true"):
                return None
            if option.action == "store_true":
                found[option.name] = True
                continue
            value = value if sign else next(left, "-")
            if value[:1] == "-" and not sign:
                return None
            try:
                read = option.reader(value)
            except Exception:  # noqa: BLE001 - whatever is wrong, argparse tells it
                return None
            if option.choices is not None and read not in option.choices:
                return None
            is_list = option.action == "append"
            found[option.name] = [*found[option.name], read] if is_list else read
        if not rest or found.get("help"):
            return None
        return SimpleNamespace(**found, arguments=rest)  # type: ignore[return-value]


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
        raise UsageError(f"{path}: --config cannot be nested")
    return words


# --- readers of values, which say what is wrong as argparse wants it -----------------------------


def refusal(text: str, expected: str) -> Exception:
    """Return the error of a value that is not what is ``expected``."""
    from argparse import ArgumentTypeError

    return ArgumentTypeError(f"found {text!r}, expected {expected}")


def number(least: float, expected: str) -> Callable[[str], float]:
    """Return a reader of numbers of at least ``least``."""

    def read(text: str) -> float:
        with suppress(ValueError):
            if least <= (value := float(text)) < math.inf:
                return value
        raise refusal(text, expected)

    return read


def whole(least: int, expected: str = "", most: float = math.inf) -> Callable[[str], int]:
    """Return a reader of whole numbers from ``least`` to ``most``."""
    expected = expected or f"a whole number{f' from {least}' if least else ''}"

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise refusal(text, expected)
        return int(text)

    return read


time_limit = number(0, "seconds, 0 for no limit")
count_limit = whole(0, "a whole number, 0 for no limit")
MOST_PORT = 65535
port = whole(0, f"a whole number from 0 to {MOST_PORT}", MOST_PORT)  # 0 is any free one
_SUFFIXES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def size(text: str) -> int:
    """Read a number of bytes, such as 65536, 64k, 4M or 1G."""
    digits = text.rstrip("kKmMgG")
    unit = _SUFFIXES.get(text[len(digits) :].lower())
    if not (digits.isascii() and digits.isdigit()) or unit is None:
        raise refusal(text, "bytes such as 65536 or 64k")
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
        raise refusal(text, " or ".join(map(repr, PROTOCOLS)))
    return name


# --- options that several commands have in the same words ----------------------------------------


_SHARED: dict[str, dict[str, Any]] = {
    "--allow-http": {"action": "store_true",
        "help": "send the token to another machine without encryption: everyone on the way can"
        " read it"},
    "--ascii": {"action": "store_true", "help": "draw boards with ASCII characters"},
    "--bytes-at": {"metavar": "HOST[:PORT]", "default": "",
        "help": "address of this machine from which workers fetch files (default: the one by which"
        " it reaches the scheduler)"},
    "--data": {"metavar": "DIR", "default": "",
        "help": "folder with everything (default: ~/.local/share/gtp-harness/service)"},
    "--database": {"metavar": "ADDRESS", "default": "",
        "help": "postgresql://USER@HOST/DATABASE instead of files in --data"},
    "--dialect": {"choices": ("gogui", "gnugo"), "default": "gogui",
        "help": "whose rules expectations follow (default: %(default)s)"},
    "--keep": {"action": "append", "default": [], "metavar": "THING=DAYS",
        "help": "keep logs, mail, sessions, checks, marks, originals or audit for DAYS or forever;"
        " may be repeated (see gtp-harness prune --help)"},
    "--no-color": {"action": "store_true",
        "help": "no colors (also: NO_COLOR in the environment)"},
    "--overlay": {"metavar": "DIR", "help": "the course folder, such as util"},
    "--private": {"action": "append", "default": [], "metavar": "PATH",
        "help": "private case files: a file, a folder or @FILE"},
    "--public-only": {"action": "store_true", "help": "grade without private case files"},
    "--sandbox": {"choices": [one for one in SANDBOXES if one != "off"], "default": "auto",
        "help": "sandbox level, 3 to 1; auto: the strongest that works (default: auto)"},
    "--scheduler": {"metavar": "ADDRESS", "default": "",
        "help": "run engines on the machines of a cluster: tls://HOST:PORT, or"
        " tcp://127.0.0.1:PORT on this machine"},
    "--seed": {"type": whole(0), "default": 0, "metavar": "N",
        "help": "random seed; it alone decides the draws (default: %(default)s)"},
    "--tls": {"metavar": "DIR", "default": "",
        "help": "folder of certificates, made by gtp-harness cluster"},
    # A token itself is never typed: all users see command lines.
    "--token-file": {"metavar": "FILE", "default": "",
        "help": "file with an API token (default: the variable GTP_HARNESS_TOKEN)"},
    "--unsafe-no-sandbox": {"action": "store_true",
        "help": "run submissions without a sandbox, with all your rights; every report says so"},
}  # fmt: skip


def add_shared(add: Callable[..., object], *flags: str) -> None:
    """Add options, whose words are above; ``add``: that of a parser, or of a group of one."""
    for flag in flags:
        add(flag, **_SHARED[flag])


# --- standard streams whose encodings lack what is written ---------------------------------------


# Signs of ours, for encodings that do not have them.
_PLAIN = {
    "✓": "+", "✗": "x", "↑": "^", "·": ".", "–": "-", "○": "o", "●": "*", "→": "->", "…": "...",
}  # fmt: skip


def never_fail_to_encode() -> None:
    """Write what the terminal's encoding lacks in letters, or as an escape."""
    codecs.register_error("gtp-harness", _in_letters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="gtp-harness")


def _in_letters(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError):
        sign = _PLAIN.get(error.object[error.start])
        if sign is not None:
            return sign, error.start + 1
    return codecs.backslashreplace_errors(error)
