"""Makes a change in a copy of the project and runs tests there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

from tests.mutation import first_failure, reaching
from tests.mutation.drawing import Change
from tests.mutation.modules import ROOT

_COPIED = ("oracle", "harness", "cases", "tests", "docs", "container", "editors", ".github", ".ci")
_PLAIN = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", first_failure.__name__)
_FINE = (0, 5)  # 5: nothing was left to run
_HUNG = "hung"
_TIERS = (("quick", 300.0), ("full", 900.0))  # each with the seconds after which it hangs


class Outcome(StrEnum):
    """What came of a change."""

    NOTICED = "noticed"
    EQUIVALENT = "equivalent"  # it changes nothing: ``equivalent.toml`` says why
    SURVIVED = "survived"


class Copy:
    """A copy of the project in which one change at a time is made."""

    def __init__(self, folder: Path) -> None:
        """``folder``: is made."""
        folder.mkdir(parents=True)
        self._folder = folder
        self._writes = 0
        self._broken: list[str] = []  # tests and files that fail in a copy without a change
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy2(path, folder)
            elif path.name in _COPIED:
                shutil.copytree(path, folder / path.name, symlinks=True)

    def attempt(self, change: Change) -> Outcome:
        """Make a change and run the tests that reach it until one fails because of it."""
        files = reaching.files(change.module)
        for tier, longest in _TIERS:
            if self._notices(change, tier, files, longest):
                return Outcome.NOTICED
        return Outcome.SURVIVED

    def _notices(self, change: Change, tier: str, files: list[str], longest: float) -> bool:
        """Return whether a test fails, or hangs, that does not without the change."""
        while True:
            self._write(change.module, change.text)
            whole = [one for one in files if one not in self._broken]
            failed = self._first_failure([f"--tier={tier}", *whole], longest) if whole else ""
            self._write(change.module, (ROOT / change.module).read_text(encoding="utf-8"))
            if not failed:
                return False
            if failed == _HUNG or not self._first_failure([failed], longest):
                return True
            self._broken.append(failed)

    def _write(self, module: str, text: str) -> None:
        """Write a module, with a time of its own: Python tells its compiled files apart by it."""
        path = self._folder / module
        path.write_text(text, encoding="utf-8")
        self._writes += 1
        moment = (ROOT / module).stat().st_mtime + 2 * self._writes
        os.utime(path, (moment, moment))

    def _first_failure(self, tests: list[str], longest: float) -> str:
        """Return the id of the first test or file that fails, if one does."""
        command = [sys.executable, "-m", "pytest", *_PLAIN, *tests]
        command += [f"--deselect={one}" for one in self._broken if "::" in one]
        told = self._folder / "first-failure"
        told.unlink(missing_ok=True)
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._folder), first_failure.PLACE: str(told)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(longest)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return _HUNG
        if told.exists():
            return told.read_text(encoding="utf-8")
        return "" if process.returncode in _FINE else _HUNG
