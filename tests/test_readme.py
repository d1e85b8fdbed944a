"""The README is true: its commands run, and print what it shows.

In a ``console`` block, a line that begins with ``$`` is a command and what follows its output;
``$ cat FILE`` gives the content of a file that the next commands use.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in one language, without the fences."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


RUN, TEST = (block.strip() for block in blocks("sh")[:2])
SHOWN, PASSED = (block.strip() for block in blocks("text")[:2])


class Call(NamedTuple):
    """A command of a console block, and the output shown."""

    command: str
    output: str


def calls(block: str) -> list[Call]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert not parts[0], "a console block begins with a command"
    return [
        Call(command, output.rstrip())
        for command, _, output in (p.partition("\n") for p in parts[1:])
    ]


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which the commands are those of this very installation."""
    scripts = str(Path(sys.executable).parent)
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    return os.environ | {"PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8"} | more


def shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what is checked in, with nothing that a run leaves behind."""
    leavings = shutil.ignore_patterns(
        ".git", ".venv", ".tox", ".*_cache", "__pycache__", ".hypothesis"
    )
    return Path(shutil.copytree(ROOT, tmp_path / "checkout", ignore=leavings))


@pytest.mark.processes
def test_first_command_works_on_a_fresh_checkout(checkout: Path) -> None:
    done = shell(RUN, checkout, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")
    # pip may have had something to say before
    assert (done.returncode, done.stdout.strip()[-len(SHOWN) :]) == (0, SHOWN)


def test_second_command_is_what_continuous_integration_runs() -> None:
    assert TEST in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()


def test_second_output_is_the_closing_line_of_the_test_runner() -> None:
    assert re.search(r"^=+ \d+ passed in [0-9.]+s .*=+$", PASSED.splitlines()[-1])


@pytest.mark.processes
@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: block.partition("\n")[0])
def test_console_block(block: str, tmp_path: Path) -> None:
    (tmp_path / "cases").symlink_to(ROOT / "cases")
    for command, output in calls(block):
        if command.startswith("cat "):
            (tmp_path / command.removeprefix("cat ")).write_text(output + "\n", encoding="utf-8")
        else:
            assert shell(command, tmp_path).stdout.rstrip() == output


@pytest.mark.processes
@pytest.mark.parametrize("block", blocks("python"))
def test_python_block(block: str, tmp_path: Path) -> None:
    (tmp_path / "board.txt").write_text("0 1\n1 0\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.processes
@pytest.mark.parametrize("program", ["gtp-harness", "gtp-oracle"])
def test_every_command_is_in_the_readme(program: str) -> None:
    help_text = shell(f"{program} --help", ROOT).stdout
    commands = re.findall(r"^  ([a-z]+)  ", help_text, re.MULTILINE)
    assert commands
    for command in commands:
        assert f"`{command}`" in README or f"{program} {command}" in README, command


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
