"""``gtp-harness man``: manual pages, and the command line as data, read from its parsers."""

import argparse
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness import shipped
from harness.cli import COMMANDS, arguments, find_command, overview, version
from harness.cli.arguments import CommandParser, DefinitionTable, ExampleLines, Paragraph
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


class OptionGroup(NamedTuple):
    """Options under one heading."""

    title: str
    options: tuple[Option, ...]


class CommandHelp(NamedTuple):
    """A command with all that can follow it."""

    name: str
    summary: str
    usage: str
    description: str
    groups: tuple[OptionGroup, ...]
    arguments: tuple[Value, ...]  # the last one any number of times
    epilog: str

    @property
    def options(self) -> list[Option]:
        """All options, whatever their group."""
        return [option for group in self.groups for option in group.options]


def describe_commands() -> list[CommandHelp]:
    """Return all commands, in the order of the help page."""
    return [_command(name, summary) for name, (_, summary) in COMMANDS.items()]


def _command(name: str, summary: str) -> CommandHelp:
    parser = find_command(name).parser()
    arguments = [action for action in parser._actions if not action.option_strings]
    return CommandHelp(
        name=name,
        summary=summary,
        usage=parser.usage or "",
        description=parser.description or "",
        groups=tuple(_groups(parser)),
        arguments=tuple(value for one in arguments for value in _values(one)),
        epilog=parser.epilog or "",
    )


def _groups(parser: CommandParser) -> Iterator[OptionGroup]:
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.option_strings]
        if actions:
            options = (_option(parser, action) for action in actions)
            yield OptionGroup(group.title or "", tuple(options))


def _option(parser: CommandParser, action: argparse.Action) -> Option:
    value = next(_values(action), None) if action.nargs != 0 else None
    return Option(
        tuple(action.option_strings), value, parser._get_formatter()._expand_help(action)
    )


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
    if arguments.folder is None:
        print(_overview(commands), end="")
        return ExitCode.OK
    pages = {f"gtp-harness-{one.name}": _page(one) for one in commands}
    _write(Path(arguments.folder) / "man1", pages | {"gtp-harness": _overview(commands)})
    return ExitCode.OK


def _add_options(parser: CommandParser) -> None:
    add = parser.add_argument
    add("folder", nargs="?", metavar="DIR", help="a folder of manual pages")


def _write(folder: Path, pages: dict[str, str]) -> None:
    report_files.try_to_write_into(str(folder))
    for name, text in pages.items():
        report_files.write(str(folder / f"{name}.1"), [text], str.encode)
        print(folder / f"{name}.1")


# --- pages -------------------------------------------------------------------------------------


def _overview(commands: list[CommandHelp]) -> str:
    about = "test oracle and regression harness for programs that play Go and Gomoku"
    lines = [
        *_head("gtp-harness", about, "gtp-harness COMMAND [ARGUMENT…]"),
        *_text(overview(), "NOTES"),
        *_see_also([f"gtp-harness-{one.name}" for one in commands]),
    ]
    return "\n".join(lines) + "\n"


def _page(command: CommandHelp) -> str:
    lines = [
        *_head(f"gtp-harness-{command.name}", command.summary, command.usage),
        *_text(command.description, "DESCRIPTION"),
        *_options(command),
        *_text(command.epilog, "NOTES"),
        *_see_also(["gtp-harness"]),
    ]
    return "\n".join(lines) + "\n"


def _head(name: str, summary: str, usage: str) -> Iterator[str]:
    """Yield the title line, and the sections that every page begins with."""
    moment = time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH") or time.time()))
    yield f'.TH {name.upper()} 1 {time.strftime("%Y-%m-%d", moment)} "{version()}"'
    yield from (".SH NAME", rf"{_roff(name)} \- {_roff(summary)}")
    yield ".SH SYNOPSIS"
    for place, line in enumerate(usage.splitlines()):
        yield from (".br",) if place else ()
        yield _roff(line.strip())


def _options(command: CommandHelp) -> Iterator[str]:
    yield ".SH OPTIONS"
    for group in command.groups:
        if len(command.groups) > 1:
            yield f".SS {_roff(group.title.capitalize())}"
        for option in group.options:
            value = rf" \fI{_roff(option.value.name)}\fR" if option.value else ""
            names = (rf"\fB{_roff(name)}\fR{value}" for name in option.names)
            yield from (".TP", ", ".join(names), *_fill(option.help))


def _see_also(names: list[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ",\n".join(rf"\fB{_roff(name)}\fR(1)" for name in names)


def _text(text: str, default: str) -> Iterator[str]:
    """Yield a text as :mod:`harness.cli.arguments` reads it, in sections.

    A line that ends with a colon begins one. ``default``: that of what has no such line.
    """
    section = ""
    for first, *rest in arguments.blocks(text):
        heading = _heading(first) if rest else ""
        if heading or section != default:
            section = heading or default
            yield f".SH {_roff(section)}"
        elif not isinstance(first, DefinitionTable):
            yield ".PP"
        for block in rest if heading else (first, *rest):
            yield from _block(block)


def _heading(block: arguments.Block) -> str:
    if not isinstance(block, Paragraph) or not re.fullmatch(r"[A-Z][\w ]*:", block.text):
        return ""
    return block.text[:-1].upper()


def _block(block: arguments.Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from _fill(block.text)
    elif isinstance(block, ExampleLines):
        yield from (".nf", *(_roff(line.removeprefix("  ")) for line in block.lines), ".fi")
    elif isinstance(block, DefinitionTable):
        for key, text in block.rows:
            yield from (".TP", rf"\fB{_roff(key)}\fR", *_fill(text))


def _fill(text: str) -> list[str]:
    return [_roff(line) for line in arguments.wrap(text, _WRAP)]


def _roff(text: str) -> str:
    r"""Return a line of text as roff has it: no request, and ``-`` as it is typed."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"[^\x20-\x7e]", lambda found: rf"\[u{ord(found[0]):04X}]", text)
    return rf"\&{text}" if text[:1] in (".", "'") else text


MAN = Command("man", _PAGE, _add_options, _run)
