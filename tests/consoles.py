"""``console`` blocks: commands, and the outputs that a document shows for them.

A line that begins with ``$`` is a command; what follows is its output. ``$ cat FILE`` makes the
file that the next commands use.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


class Call(NamedTuple):
    """A command of a console block, and the output shown."""

    command: str
    output: str
    gap: str  # empty lines before the next command


def calls(block: str) -> list[Call]:
    """Return the commands of a block."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not parts[0], "a console block begins with a command"
    return [_call(*part.partition("\n")[::2]) for part in parts[1:]]


def _call(command: str, rest: str) -> Call:
    output = rest.rstrip("\n")
    gap = rest[len(output) :]
    return Call(command, output, gap[1:] if output else gap)


def shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the programs of this very installation; its outputs are one."""
    scripts = str(Path(sys.executable).parent)
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8"} | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )


def rerun(text: str, folder: Path) -> str:
    """Run a document's console blocks in a folder; return the document with what they print."""
    return _BLOCK.sub(lambda block: _block(block[0], folder), text)


def _block(block: str, folder: Path) -> str:
    return "".join(_format_call(call, output_of(call, folder)) for call in calls(block))


def _format_call(call: Call, output: str) -> str:
    lines = f"$ {call.command}\n" + (f"{output}\n" if output else "")
    return lines + call.gap


def output_of(call: Call, folder: Path, **more: str) -> str:
    """Return what a command prints; that of ``cat`` writes the file that it shows.

    ``more``: variables of its environment.
    """
    if call.command.startswith("cat "):
        (folder / call.command.removeprefix("cat ")).write_text(f"{call.output}\n", "utf-8")
        return call.output
    return shell(call.command, folder, **more).stdout.rstrip()
