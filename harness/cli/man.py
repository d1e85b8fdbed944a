"""``gtp-harness man`` and ``completion``, made of the command line as its parsers have it."""

import argparse
import os
import re
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.cli import COMMANDS, arguments, find_command, overview, version
from harness.cli.commandline import Command
from harness.core.errors import ExitCode
from harness.reading import shipped
from harness.report import report_files

FILES, FOLDERS, PROGRAMS, CASES = "files", "folders", "programs", "cases"  # kinds of values
# The names that values of each kind have in help pages; those of others are not names of anything.
_KINDS = {
    FILES: {"FILE", "PATH", "SGF", "LEDGER", "SOURCE", "NEW", "PAGE"},
    FOLDERS: {"DIR", "BANK", "GRADED"},
    PROGRAMS: {"PROGRAM", "COMMAND"},
    CASES: {"TEST", "CASES"},
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
        kinds = (kind for kind, names in _KINDS.items() if name in names and not words)
        kind = next(kinds, "")
        if action.dest == "assignment" and not action.choices:
            kind = FOLDERS
        yield Value(name, kind, words)


def cases() -> list[str]:
    """Return the names of cases that ship, as they are written on a command line."""
    return [f"@{name}" for name in shipped.every_name()]


# --- ``gtp-harness man``: manual pages, made of what ``--help`` prints ---------------------------


_MAN_PAGE = """\
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


def _run_man(arguments: argparse.Namespace) -> int:
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


def _add_man_options(parser: argparse.ArgumentParser) -> None:
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


MAN = Command("man", _MAN_PAGE, _add_man_options, _run_man)


# --- ``gtp-harness completion``: what a shell needs to complete its command lines ----------------


_COMPLETION_PAGE = """\
usage: gtp-harness completion SHELL

Print a script with which a shell completes the command lines of gtp-harness: commands,
options, their values, files, and the names of cases that ship. It is made for this
version: print it again after an update.

[options]

Where to put it:
  bash  ~/.local/share/bash-completion/completions/gtp-harness
  zsh   _gtp-harness in a folder of $fpath
  fish  ~/.config/fish/completions/gtp-harness.fish

Exit status:
    0  printed
    2  the shell is unknown

Examples:
  gtp-harness completion bash > ~/.local/share/bash-completion/completions/gtp-harness
  source <(gtp-harness completion bash)"""


def _run_completion(arguments: argparse.Namespace) -> int:
    if not arguments.shell:
        COMPLETION.refuse(f"give SHELL: {', '.join(_SHELLS)}")
    print("\n".join(_SHELLS[arguments.shell](describe_commands())))
    return ExitCode.OK


def _add_completion_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("shell", nargs="?", choices=tuple(_SHELLS), metavar="SHELL", help="bash, zsh or fish")


def _script(shell: str, parts: dict[str, str]) -> Iterator[str]:
    """Yield the script for a shell with its ``@PARTS@`` filled in."""
    text = Path(__file__).with_name(f"completion.{shell}").read_text(encoding="utf-8")
    yield re.sub("@([A-Z]+)@", lambda found: parts[found[1]], text.rstrip("\n"))


# Bash cuts words at @ and =. So its script cuts the line at blanks, and of what is offered leaves
# out the part that bash does not mean to replace.
def _bash(commands: list[CommandHelp]) -> Iterator[str]:
    valued, values, words = [], [], []
    for one in commands:
        for option in one.options:
            if option.value:
                names = [f'"{one.name} {name}"' for name in option.names]
                valued += names
                offer = _bash_offer(option.value)
                values.append(f"            {' | '.join(names)}) {offer} ;;")
        # What may stand for an option, and at each place of an argument.
        listed = " ".join(name for option in one.options for name in option.names)
        words.append(f'"{one.name} -") {_bash_offer(Value("", "", (listed,)))} ;;')
        for place, value in enumerate(one.arguments):
            pattern = "*" if place == len(one.arguments) - 1 else str(place)
            words.append(f'"{one.name} "{pattern}) {_bash_offer(value)} ;;')
    parts = {
        "COMMANDS": " ".join(one.name for one in commands),
        "VALUED": " | ".join(valued),
        "VALUES": "\n".join(values),
        "WORDS": "\n".join(" " * 20 + line for line in words),
    }
    return _script("bash", parts)


def _bash_offer(value: Value) -> str:
    words = shlex.quote(" ".join(_words(value)))
    return f'_gtp_harness_offer "{value.kind}" {words}'


def _words(value: Value) -> tuple[str, ...]:
    return (*value.words, *(cases() if value.kind == CASES else ()))


_ZSH_KINDS = {
    FILES: "_files",
    FOLDERS: "_files -/",
    PROGRAMS: "_gtp_harness_programs",
    CASES: "_gtp_harness_cases",
}


def _zsh(commands: list[CommandHelp]) -> Iterator[str]:
    arguments = []
    for one in commands:
        arguments.append(f"        {one.name}) _arguments \\")
        for option in one.options:
            about = re.sub(r"([\[\]\\])", r"\\\1", option.help)
            for name in option.names:
                told = f"{name}[{about}]"
                if option.value:
                    equals = "=" if name.startswith("--") else ""
                    told = f"*{name}{equals}[{about}]{_zsh_value(option.value)}"
                arguments.append(f"            {_zsh_quote(told)} \\")
        for place, value in enumerate(one.arguments):
            number = "*" if place == len(one.arguments) - 1 else str(place + 1)
            arguments.append(f"            {_zsh_quote(f'{number}{_zsh_value(value)}')} \\")
        arguments.append("            && return ;;")
    summaries = (_zsh_quote(f"{one.name}:{one.summary}") for one in commands)
    parts = {
        "CASES": " ".join(cases()),
        "COMMANDS": "\n".join(f"        {summary}" for summary in summaries),
        "ARGUMENTS": "\n".join(arguments),
    }
    return _script("zsh", parts)


def _zsh_value(value: Value) -> str:
    if value.kind == FOLDERS and value.words:
        action = f"_gtp_harness_or_folder {' '.join(value.words)}"
    elif value.words:
        action = f"({' '.join(value.words)})"
    else:
        action = _ZSH_KINDS.get(value.kind, "")
    return f":{value.name}:{action}"


def _zsh_quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(commands: list[CommandHelp]) -> Iterator[str]:
    yield "# fish completion for gtp-harness: made by gtp-harness completion fish"
    listed = " ".join(one.name for one in commands)
    first = "complete -c gtp-harness -n __fish_use_subcommand -f"
    for one in commands:
        yield f"{first} -a {one.name} -d {_fish_quote(one.summary)}"
    yield f"{first} -a help -d {_fish_quote('tell more about a command')}"
    yield f"complete -c gtp-harness -n '__fish_seen_subcommand_from help' -f -a '{listed}'"
    for one in commands:
        begin = f"complete -c gtp-harness -n '__fish_seen_subcommand_from {one.name}'"
        for option in one.options:
            taken, value = "", option.value
            if value and value.kind == FOLDERS:
                offer = _fish_offer((*value.words, "(__fish_complete_directories)"))
                taken = f" -x{offer}"
            elif value:
                is_file = " -r -F" if value.kind else " -x"
                taken = f"{is_file}{_fish_offer(_words(value))}"
            names = " ".join(map(_fish_name, option.names))
            yield f"{begin} {names}{taken} -d {_fish_quote(option.help)}"
        words = [word for value in one.arguments for word in _words(value)]
        if any(value.kind == PROGRAMS for value in one.arguments):
            words.append("(__fish_complete_command)")
        has_files = any(value.kind for value in one.arguments)
        yield f"{begin} {'-F' if has_files else '-f'}{_fish_offer(words)}"


def _fish_name(name: str) -> str:
    """Return how fish is told a name: long, old style with one dash, or a letter."""
    if name.startswith("--"):
        return f"-l {name[2:]}"
    return f"-s {name[1:]}" if len(name) == 2 else f"-o {name[1:]}"


def _fish_offer(words: Sequence[str]) -> str:
    return f" -a {_fish_quote(' '.join(words))}" if words else ""


def _fish_quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


COMPLETION = Command("completion", _COMPLETION_PAGE, _add_completion_options, _run_completion)
