"""``gtp-harness man``: manual pages, made of what ``--help`` prints."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from harness.cli import command_data, help_layout, overview, version
from harness.cli.arguments import CommandParser
from harness.cli.command_data import CommandHelp
from harness.cli.help_layout import DefinitionTable, ExampleLines, Paragraph
from harness.exits import ExitCode
from harness.report import report_files

_DESCRIPTION = """\
Write the manual pages of gtp-harness, one for each command, into DIR/man1, where
man looks for them if DIR is a folder of manual pages such as ~/.local/share/man.
Without DIR print the page gtp-harness(1)."""

_EPILOG = """\
Exit status:
    0  written
    2  the folder cannot be written to

Examples:
  gtp-harness man ~/.local/share/man && man gtp-harness-run
  gtp-harness man | man -l -"""

_WRAP = 78  # columns of the source


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    given = command_line().read(arguments)
    if given is None:
        return ExitCode.OK
    commands = command_data.commands()
    if given.folder is None:
        print(_overview(commands), end="")
        return ExitCode.OK
    pages = {f"gtp-harness-{one.name}": _page(one) for one in commands}
    _write(Path(given.folder) / "man1", pages | {"gtp-harness": _overview(commands)})
    return ExitCode.OK


def command_line() -> CommandParser:
    """Return the parser of its command line."""
    parser = CommandParser("man", description=_DESCRIPTION, epilog=_EPILOG)
    parser.usage = "gtp-harness man [DIR]"
    add = parser.add_argument
    add("folder", nargs="?", metavar="DIR", help="a folder of manual pages")
    add("--help", "-help", "-h", action="store_true", help="print this help and exit")
    return parser


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


def _page(one: CommandHelp) -> str:
    lines = [
        *_head(f"gtp-harness-{one.name}", one.summary, one.usage),
        *_text(one.description, "DESCRIPTION"),
        *_options(one),
        *_text(one.epilog, "NOTES"),
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


def _options(one: CommandHelp) -> Iterator[str]:
    yield ".SH OPTIONS"
    for group in one.groups:
        if len(one.groups) > 1:
            yield f".SS {_roff(group.title.capitalize())}"
        for option in group.options:
            value = rf" \fI{_roff(option.value.name)}\fR" if option.value else ""
            names = (rf"\fB{_roff(name)}\fR{value}" for name in option.names)
            yield from (".TP", ", ".join(names), *_fill(option.help))


def _see_also(names: list[str]) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ",\n".join(rf"\fB{_roff(name)}\fR(1)" for name in names)


def _text(text: str, otherwise: str) -> Iterator[str]:
    """Yield a text as :mod:`harness.cli.help_layout` reads it, in sections.

    A line that ends with a colon begins one. ``otherwise``: that of what has no such line.
    """
    section = ""
    for first, *rest in help_layout.blocks(text):
        heading = _heading(first) if rest else ""
        if heading or section != otherwise:
            section = heading or otherwise
            yield f".SH {_roff(section)}"
        elif not isinstance(first, DefinitionTable):
            yield ".PP"
        for block in rest if heading else (first, *rest):
            yield from _block(block)


def _heading(block: help_layout.Block) -> str:
    if not isinstance(block, Paragraph) or not re.fullmatch(r"[A-Z][\w ]*:", block.text):
        return ""
    return block.text[:-1].upper()


def _block(block: help_layout.Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from _fill(block.text)
    elif isinstance(block, ExampleLines):
        yield from (".nf", *(_roff(line.removeprefix("  ")) for line in block.lines), ".fi")
    elif isinstance(block, DefinitionTable):
        for key, text in block.rows:
            yield from (".TP", rf"\fB{_roff(key)}\fR", *_fill(text))


def _fill(text: str) -> list[str]:
    return [_roff(line) for line in help_layout.wrap(text, _WRAP)]


def _roff(text: str) -> str:
    r"""Return a line of text as roff has it: no request, and ``-`` as it is typed."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"[^\x20-\x7e]", lambda found: rf"\[u{ord(found[0]):04X}]", text)
    return rf"\&{text}" if text[:1] in (".", "'") else text
