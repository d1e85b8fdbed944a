"""Making an environment: with uv if it is installed, else with venv and pip.

Packages come from the index that these tools are set to. Nothing of a submission is read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.environments.environment_cache import Stored
from harness.environments.records import DeclaredEnvironment, Interpreter
from harness.errors import UsageError

_LAST = 12  # lines of what a tool said that are shown when it fails
# What would send the tools into another environment, or another Python into this one.
_MISLEADING = ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONUSERBASE")


def build(folder: Path, base: Interpreter, wanted: DeclaredEnvironment, beside: Path) -> Stored:
    """Make an environment in ``folder``, from the Python ``base``.

    ``beside``: the folder that relative paths in the requirements start from.

    Raises:
        UsageError: it cannot be made; has the last words of the tool.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    uv = shutil.which("uv")
    tool = _with_uv(uv, folder, base) if uv else _with_pip(folder, base)
    if wanted.requirements.strip():
        written = folder / "requirements.txt"
        written.write_text(wanted.requirements, encoding="utf-8")
        # In a file uv takes paths as relative to that; what it reads from a pipe, to its folder.
        _run([*tool, "-r", "-" if uv else str(written)], beside, wanted.requirements)
    built = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Stored(folder, base.version, wanted.requirements, built, "uv" if uv else "pip")


def _with_uv(uv: str, folder: Path, base: Interpreter) -> list[str]:
    """Make an empty environment; return the command that installs into it."""
    _run([uv, "venv", "--quiet", "--no-project", "--python", base.program, str(folder)])
    python = str(folder / "bin" / "python3")
    return [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]


def _with_pip(folder: Path, base: Interpreter) -> list[str]:
    """Make an empty environment; return the command that installs into it.

    The harness's own pip is tried first: Debian's Python has none, and old ones know little.
    """
    _run([base.program, "-I", "-m", "venv", "--without-pip", str(folder)])
    python = str(folder / "bin" / "python3")
    ours = [sys.executable, "-m", "pip", "--python", python]
    if not _works([*ours, "--version"]):
        if not _works([python, "-I", "-m", "ensurepip"]):
            short = ".".join(base.version.split(".")[:2])
            raise UsageError(
                f"there is no pip for {base.program}: install uv, or python{short}-venv"
            )
        ours = [python, "-I", "-m", "pip"]
    return [*ours, "install", "--quiet", "--no-input", "--disable-pip-version-check"]


def _works(command: Sequence[str]) -> bool:
    done = subprocess.run(command, capture_output=True, env=_environment(), check=False)
    return done.returncode == 0


def _run(command: Sequence[str], folder: Path | None = None, told: str = "") -> None:
    done = subprocess.run(
        command,
        input=told,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=_environment(),
        cwd=folder,
        check=False,
    )
    if done.returncode:
        said = "\n".join(done.stdout.strip().splitlines()[-_LAST:])
        raise UsageError(
            "the environment could not be built:"
            f" {Path(command[0]).name} ended with exit status {done.returncode}\n{said}"
        )


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _MISLEADING}
