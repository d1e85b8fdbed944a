"""A copy of the project, with a Python of its own, in which modules are changed."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import time
import venv
from pathlib import Path

from tests.mutation.modules import ROOT

_COPIED = ("oracle", "harness", "cases", "tests", "docs", "container", "editors", ".github", ".ci")


class Copy:
    """A copy of the project. Whatever starts there, in whatever environment, runs its modules."""

    def __init__(self, folder: Path) -> None:
        """``folder``: is made."""
        folder = folder.resolve()
        folder.mkdir(parents=True)
        self.folder = folder
        self._made = time.time()
        self._writes = 0
        self._originals: dict[str, str] = {}
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy2(path, folder)
            elif path.name in _COPIED:
                shutil.copytree(path, folder / path.name, symlinks=True)
        self.python = _environment(folder)
        self._files = [one for one in folder.rglob("*") if "__pycache__" not in one.parts]

    def is_whole(self) -> bool:
        """Whether all is there: a change of what removes folders may have removed the copy."""
        return all(map(os.path.lexists, self._files))

    def original(self, module: str) -> str:
        """Return the text that a module had when the copy was made."""
        if module not in self._originals:
            self._originals[module] = (self.folder / module).read_text(encoding="utf-8")
        return self._originals[module]

    def write(self, module: str, text: str) -> None:
        """Write a module, with a time of its own: Python tells its compiled files apart by it."""
        self.original(module)
        path = self.folder / module
        path.write_text(text, encoding="utf-8")
        self._writes += 1
        moment = self._made + 2 * self._writes
        os.utime(path, (moment, moment))

    def restore(self, module: str) -> None:
        """Write a module as it was when the copy was made."""
        self.write(module, self.original(module))

    def variables(self) -> dict[str, str]:
        """Return the environment of what is started there."""
        path = os.pathsep.join([str(self.python.parent), os.environ.get("PATH", os.defpath)])
        own = {"PATH": path, "VIRTUAL_ENV": str(self.python.parent.parent), "PYTHONHASHSEED": "0"}
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, **own, "OPENBLAS_NUM_THREADS": "1"}


def _environment(folder: Path) -> Path:
    """Make an environment that has the copy first, then what ours has; return its Python."""
    place = folder / ".venv"
    venv.create(place, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    # An environment may take packages from another one: each folder of packages that we see.
    ours = [one for one in sys.path if Path(one).name in ("site-packages", "dist-packages")]
    text = "".join(f"{one}\n" for one in [str(folder), *ours])
    (packages / "copy.pth").write_text(text, encoding="utf-8")
    python = place / "bin" / "python"
    for program in Path(sys.executable).parent.iterdir():
        if not (place / "bin" / program.name).exists() and program.is_file():
            _install(program, place / "bin" / program.name, python)
    return python


def _install(program: Path, target: Path, python: Path) -> None:
    """Copy a program that our Python runs, so that the copy's runs it; link to another one."""
    if program.name.startswith("python"):
        return
    content = program.read_bytes()
    head, _, rest = content.partition(b"\n")
    if not head.startswith(b"#!" + os.fsencode(Path(sys.executable).parent)):
        target.symlink_to(program)
        return
    target.write_bytes(b"#!" + os.fsencode(python) + b"\n" + rest)
    target.chmod(0o755)
