"""Command lines by argparse, with errors of one line; shared options; the texts of help pages."""

import argparse
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NoReturn

from harness.core.errors import UsageError
from harness.reading import shipped

Remark = Callable[[str, list[str], int], str]

_WIDEST = 100  # columns of a help page: longer lines are hard to read
_ALIKE = 0.75  # an option and its misspelling; less is another program's option


class _HelpPage(argparse.HelpFormatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fill(text, width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(text, width)


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are :class:`UsageError`; options may stand among arguments."""

    width = 80  # columns of what it prints

    def __init__(self, command: str, usage: str, description: str, epilog: str) -> None:
        prog = f"gtp-harness {command}"
        super().__init__(prog, usage, description, epilog, allow_abbrev=False, add_help=False)

    def _get_formatter(self) -> argparse.HelpFormatter:
        # (The terminal is not asked for its width here: every add_argument() comes by.)
        return _HelpPage(self.prog, width=self.width - 2)

    def complete(self) -> None:
        """Add ``--help``, unless it stands in a group already."""
        if "--help" not in self._option_string_actions:
            add_help(self.add_argument)

    def read(
        self, arguments: list[str], remark: Remark = lambda option, words, first: ""
    ) -> argparse.Namespace | None:
        """Return what the command line says; None if it asked for help, which is printed.

        ``remark``: returns the end of the sentence about an option that does not exist; it is
        given that option, all words, and the place of the first that is not an option nor its
        value.
        """
        given, unknown = self.parse_known_intermixed_args(arguments)
        if unknown:
            from oracle.sentences import hint

            options = [word for word in unknown if word.startswith("-")] or unknown
            first, is_value = len(arguments), False
            for place, word in enumerate(arguments):
                if not (is_value or word.startswith("-")):
                    first = place
                    break
                action = self._option_string_actions.get(word)
                is_value = action is not None and action.nargs != 0
            said, option = "", options[0].partition("=")[0]
            if len(option) >= 3 and option[0] == "-":
                known = [one for one in self._option_string_actions if one.startswith("--")]
                said = hint(f"--{option.lstrip('-')}", known, _ALIKE)
            said = said or remark(options[0], arguments, first)
            self.error(f"unrecognized arguments: {' '.join(options)}{said}")
        if given.help:
            self.width = terminal_width()
            print(self.format_help(), end="")
            return None
        return given

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        from oracle.sentences import hint

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


# --- Options that several commands have, beside those of commandline.add_shared() ----------------


Add = Callable[..., Any]  # ``add_argument`` of a parser, or of a group of one


def add_help(add: Add) -> None:
    """Add the option that asks for help."""
    add("--help", "-help", "-h", action="store_true", help="print this help and exit")


def add_assignment(add: Add) -> None:
    """Add the option that names the assignment."""
    add("--assignment", metavar="NAME",
        help=f"{', '.join(shipped.names())}, or a folder with {shipped.ASSIGNMENT}")  # fmt: skip


# --- Texts of help pages: what is a paragraph in them, what a table, what an example -------------
# They are written as they are printed in 80 columns and read back here, so that a page fits any
# terminal, and so that manual pages are made of the same text. Lines that are not indented are
# paragraphs. Indented ones with a gap of two blanks or more are a table of words and their
# meanings; other indented ones are to be left alone.


_ROW = re.compile(r" +(?P<key>\S+(?: \S+)*) {2,}(?P<text>\S.*)")


Block = str | dict[str, str] | list[str]  # a paragraph, a table, or lines that stay as they are


def blocks(text: str) -> Iterator[list[Block]]:
    """Yield what stands between two empty lines, each as its blocks."""
    for part in re.split(r"\n{2,}", text.strip("\n")):
        found: list[Block] = []
        for is_indented, group in groupby(part.split("\n"), lambda line: line.startswith(" ")):
            lines, table = list(group), dict[str, str]()
            key, column = "", 0  # of the last row: its word, and where its text begins
            for line in lines if is_indented else ():
                if row := _ROW.fullmatch(line):
                    key, column = row["key"], row.start("text")
                    table[key] = row["text"]
                elif table and len(line) - len(line.lstrip()) == column:
                    table[key] += f" {line.strip()}"
                else:
                    found.append(lines)
                    break
            else:
                found.append(table if is_indented else " ".join(lines))
        yield found


def fill(text: str, width: int) -> str:
    """Return a text with its paragraphs and tables broken into lines of at most ``width``."""
    parts = []
    for part in blocks(text):
        lines: list[str] = []
        for block in part:
            match block:
                case str():
                    lines += wrap(block, width)
                case list():
                    lines += block
                case dict():
                    longest = max(map(len, block))
                    for key, told in block.items():
                        first = f"{key:>{longest}}" if key.isdigit() else f"{key:{longest}}"
                        head, *others = wrap(told, max(width - longest - 4, 20))
                        lines.append(f"  {first}  {head}")
                        lines += (f"{'':{longest + 4}}{line}" for line in others)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def wrap(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph; names such as gogui-regress are not broken."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
