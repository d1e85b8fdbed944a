"""The command line as data, read from its parsers: for completions and manual pages."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from harness import shipped
from harness.cli import COMMANDS
from harness.cli.arguments import CommandParser

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
    """What an option or an argument takes."""

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


def commands() -> list[CommandHelp]:
    """Return all commands, in the order of the help page."""
    return [_command(name, *about) for name, about in COMMANDS.items()]


def _command(name: str, module: str, summary: str) -> CommandHelp:
    parser: CommandParser = import_module(module).command_line()
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
