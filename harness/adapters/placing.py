"""Putting an adapter beside a submission: files to be run there, none of which the student has."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

from harness.adapters.settings import Adapter

_INSIDE = Path(__file__).parent / "inside"
# The box may have another Python than the harness, which need not have these.
_PACKAGES = {"java-go": ("pexpect", "ptyprocess")}


def place(adapter: Adapter, folder: Path) -> None:
    """Make ``folder``, which ``python3 FOLDER`` will run as an engine."""
    _copy(_INSIDE, folder / "inside")
    (folder / "__main__.py").write_text("from inside.main import main\n\nmain()\n")
    for name in _PACKAGES.get(adapter.name, ()):
        _copy(_package(name), folder / name)
    (folder / "settings.json").write_text(json.dumps(adapter.settings, indent=1))


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))


def _package(name: str) -> Path:
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None, name
    return Path(found.origin).parent
