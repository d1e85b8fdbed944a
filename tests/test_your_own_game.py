"""The tutorial *Your own game in ten minutes* is true: its commands run, and print what it shows.

``GTP_HARNESS_GOLDEN=write pytest tests/test_your_own_game.py`` writes the outputs anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.test_readme import ROOT, Call, calls, shell

PAGE = ROOT / "docs" / "your-own-game.md"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def answered(call: Call, folder: Path) -> str:
    """Return what a command prints; that of ``cat`` writes the file that it shows."""
    if call.command.startswith("cat "):
        (folder / call.command.removeprefix("cat ")).write_text(f"{call.output}\n", "utf-8")
        return call.output
    return shell(call.command, folder).stdout.rstrip()


def written(block: str, folder: Path) -> str:
    """Return a block with the outputs as they are."""
    told = ((call.command, answered(call, folder)) for call in calls(block))
    return "".join(f"$ {command}\n{output}\n" if output else f"$ {command}\n"
                   for command, output in told)  # fmt: skip


@pytest.mark.processes
@pytest.mark.long(30)
def test_the_page_is_true(open_place: Path) -> None:
    text = PAGE.read_text("utf-8")
    found = _BLOCK.sub(lambda block: written(block[0], open_place), text)
    if os.environ.get("GTP_HARNESS_GOLDEN") == "write":
        PAGE.write_text(found, "utf-8")
    assert found == text


def test_it_is_linked() -> None:
    assert "](docs/your-own-game.md)" in (ROOT / "README.md").read_text("utf-8")
    assert "](../docs/your-own-game.md)" in (ROOT / "cases/ASSIGNMENTS.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", PAGE.read_text("utf-8"))
    assert links
    assert all((PAGE.parent / link).exists() for link in links)
