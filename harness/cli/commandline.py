"""The command line of a run: read without :mod:`argparse` if it is plain, as most are.

Loading argparse and calling it takes as long as some hundred commands. So a plain command line
(known options, spelled out, with valid values) is read here, with the same result. Everything
else, and help, is left to argparse, which gives better messages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from types import SimpleNamespace

from harness.errors import UsageError
from harness.reading.dialect import find_dialect
from harness.records import Repeat
from harness.report.reporters import shell_word
from harness.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

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

    ``rest``: the name of what is not an option, all words together.
    """

    def __init__(self, rest: str) -> None:
        self._rest = rest
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
        found = {option.name: option.default for option in self.options}
        rest: list[str] = []
        left = iter(words)
        for word in left:
            if word[:1] != "-":
                rest.append(word)
            elif not self._take(word, left, found):
                return None
        if not rest or found.get("help"):
            return None
        return SimpleNamespace(**found, **{self._rest: rest})  # type: ignore[return-value]

    def _take(self, word: str, left: Iterator[str], found: dict[str, Any]) -> bool:
        """Put the value of an option into what was found; return False if it is not plain."""
        flag, sign, value = word.partition("=")
        option = self._by_flag.get(flag)
        if option is None or (sign and option.action == "store_true"):
            return False
        if option.action == "store_true":
            found[option.name] = True
            return True
        value = value if sign else next(left, "-")
        if value[:1] == "-" and not sign:
            return False
        try:
            read = option.reader(value)
        except Exception:  # noqa: BLE001 - whatever is wrong, argparse tells it
            return False
        if option.choices is not None and read not in option.choices:
            return False
        is_list = option.action == "append"
        found[option.name] = [*found[option.name], read] if is_list else read
        return True


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
    "compatible",
    "game",
    "sandbox",
    "show",
)
_LIMITS = ("timeout", "startup", "file", "quit")


def repeat(plain: Plain, arguments: Namespace, program: str) -> Repeat:
    """Return how tests are repeated.

    ``plain``: the existing options. ``program``: what to run, which need not be what was
    typed: its seed is drawn by then.
    """
    words = ["gtp-harness", "run"]
    for option in plain.options:
        value = getattr(arguments, option.name, None)
        is_kept = option.name in _KEPT or option.name in _LIMITS or option.name[:4] == "max_"
        if is_kept and value != option.default:
            words += _words(option.flag, value)
    start = " ".join(map(shell_word, [*words, program]))
    return Repeat(start, find_dialect(arguments.dialect).settles_late)


def _words(option: str, value: object) -> list[str]:
    if value is True:
        return [option]
    values = value if isinstance(value, list) else [value]
    return [f"{option}={f'{one:g}' if isinstance(one, float) else one}" for one in values]
