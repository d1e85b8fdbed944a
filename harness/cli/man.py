"""``gtp-harness man``: manual pages, and the command line as data, read from its parsers."""

import argparse
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness import shipped
from harness.cli import COMMANDS, arguments, find_command, overview, version
from harness.cli.commandline import Command
from harness.errors import ExitCode
from harness.report import report_files

FILES, FOLDERS, PROGRAMS, CASES = "files", "folders", "programs", "cases"  # kinds of values
# What a value is, by its name in the help page; those that are left out are not names of anything.
_KINDS = {
    "FILE": FILES,
    "PATH": FILES,
    "SGF": FILES,
    "LEDGER": FILES,
    "SOURCE": FILES,
    "NEW": FILES,
    "PAGE": FILES,
    "DIR": FOLDERS,
    "BANK": FOLDERS,
    "GRADED": FOLDERS,
    "PROGRAM": PROGRAMS,
    "COMMAND": PROGRAMS,
    "TEST": CASES,
    "CASES": CASES,
}


class Value(NamedTuple):
    """Value of an option or argument."""

    name: str  # as the help page calls it
    kind: str = ""  # one of the above; empty if nobody can tell what it may be
    words: tuple[str, ...] = ()  # what it may be besides


class Option(NamedTuple):
    """An option; ``value`` None if it takes none."""

    names: tuple[str, ...]
    value: Value | None
    help: str


class CommandHelp(NamedTuple):
    """A command with all that can follow it."""

    name: str
    summary: str
    usage: str
    description: str
    epilog: str
    groups: dict[str, list[Option]]  # by their headings
    arguments: list[Value]  # the last one any number of times

    @property
    def options(self) -> list[Option]:
        """All options, whatever their group."""
        return [option for group in self.groups.values() for option in group]


def describe_commands() -> list[CommandHelp]:
    """Return all commands, in the order of the help page."""
    found = []
    for name, (_, summary) in COMMANDS.items():
        parser = find_command(name).parser()
        groups: dict[str, list[Option]] = {}
        arguments: list[Value] = []
        for group in parser._action_groups:
            for action in group._group_actions:
                values = list(_values(action))
                if not action.option_strings:
                    arguments += values
                    continue
                value = values[0] if action.nargs != 0 else None
                told = (action.help or "") % vars(action)
                option = Option(tuple(action.option_strings), value, told)
                groups.setdefault(group.title or "", []).append(option)
        texts = parser.usage, parser.description, parser.epilog
        usage, about, end = (text or "" for text in texts)
        found.append(CommandHelp(name, summary, usage, about, end, groups, arguments))
    return found


def _values(action: argparse.Action) -> Iterator[Value]:
    """Yield what an action takes; several where one list has several arguments in it."""
    words = tuple(map(str, action.choices or ()))
    for name in str(action.metavar or f"{{{','.join(words)}}}").split():
        if action.dest in ("assignment", "names"):
            words = words or tuple(shipped.names())
        kind = "" if words else _KINDS.get(name, "")
        if action.dest == "assignment" and not action.choices:
            kind = FOLDERS
        yield Value(name, kind, words)


def cases() -> list[str]:
    """Return the names of cases that ship, as they are written on a command line."""
    return [f"@{name}" for name in shipped.every_name()]


# --- ``gtp-harness man``: manual pages, made of what ``--help`` prints ---------------------------


_PAGE = """\
usage: gtp-harness man [DIR]

Write the manual pages of gtp-harness, one for each command, into DIR/man1, where
man looks for them if DIR is a folder of manual pages such as ~/.local/share/man.
Without DIR print the page gtp-harness(1).

[options]

Exit status:
    0  written
    2  the folder cannot be written to

Examples:
  gtp-harness man ~/.local/share/man && man gtp-harness-run
  gtp-harness man | man -l -"""

_WRAP = 78  # columns of the source


def _run(arguments: argparse.Namespace) -> int:
    commands = describe_commands()
    about = "test oracle and regression harness for programs that play Go and Gomoku"
    usage = "gtp-harness COMMAND [ARGUMENT…]"
    others = [f"gtp-harness-{one.name}" for one in commands]
    first = _page("gtp-harness", about, usage, _text(overview(), "NOTES"), others)
    if arguments.folder is None:
        print(first, end="")
        return ExitCode.OK
    folder = Path(arguments.folder) / "man1"
    report_files.try_to_write_into(str(folder))
    pages = {
        name: _page(name, one.summary, one.usage, _body(one), ["gtp-harness"])
        for name, one in zip(others, commands, strict=True)
    }
    for name, page in (pages | {"gtp-harness": first}).items():
        path = folder / f"{name}.1"
        report_files.write(str(path), [page], str.encode)
        print(path)
    return ExitCode.OK


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", metavar="DIR", help="a folder of manual pages")


def _page(name: str, summary: str, usage: str, body: Iterable[str], others: list[str]) -> str:
    """Return a page; ``others``: pages to see, too."""
    moment = time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH") or time.time()))
    lines = [
        f'.TH {name.upper()} 1 {time.strftime("%Y-%m-%d", moment)} "{version()}"',
        ".SH NAME",
        rf"{_roff(name)} \- {_roff(summary)}",
        ".SH SYNOPSIS",
        "\n.br\n".join(_roff(line.strip()) for line in usage.splitlines()),
        *body,
        ".SH SEE ALSO",
        ",\n".join(rf"\fB{_roff(one)}\fR(1)" for one in others),
    ]
    return "\n".join(lines) + "\n"


def _body(command: CommandHelp) -> Iterator[str]:
    """Yield what stands between the usage of a command and the pages to see, too."""
    yield from _text(command.description, "DESCRIPTION")
    yield ".SH OPTIONS"
    for title, options in command.groups.items():
        if len(command.groups) > 1:
            yield f".SS {_roff(title.capitalize())}"
        for option in options:
            value = rf" \fI{_roff(option.value.name)}\fR" if option.value else ""
            names = (rf"\fB{_roff(name)}\fR{value}" for name in option.names)
            yield from (".TP", ", ".join(names), *_fill(option.help))
    yield from _text(command.epilog, "NOTES")


def _text(text: str, default: str) -> Iterator[str]:
    """Yield a text as :mod:`harness.cli.arguments` reads it, in sections.

    A line that ends with a colon begins one. ``default``: that of what has no such line.
    """
    section = ""
    for first, *rest in arguments.blocks(text):
        heading = ""
        if rest and isinstance(first, str) and re.fullmatch(r"[A-Z][\w ]*:", first):
            heading = first[:-1].upper()
        if heading or section != default:
            section = heading or default
            yield f".SH {_roff(section)}"
        elif not isinstance(first, dict):
            yield ".PP"
        for block in rest if heading else (first, *rest):
            match block:
                case str():
                    yield from _fill(block)
                case list():
                    yield from (".nf", *(_roff(line.removeprefix("  ")) for line in block), ".fi")
                case dict():
                    for key, told in block.items():
                        yield from (".TP", rf"\fB{_roff(key)}\fR", *_fill(told))


def _fill(text: str) -> list[str]:
    return [_roff(line) for line in arguments.wrap(text, _WRAP)]


def _roff(text: str) -> str:
    r"""Return a line of text as roff has it: no request, and ``-`` as it is typed."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"[^\x20-\x7e]", lambda found: rf"\[u{ord(found[0]):04X}]", text)
    return rf"\&{text}" if text[:1] in (".", "'") else text


MAN = Command("man", _PAGE, _add_options, _run)
