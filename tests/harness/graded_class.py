"""The real class, graded in other circumstances by ``gtp-harness grade`` as a process."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from tests.harness import circumstances, real_class
from tests.harness.busy import busy as busy_with

BUSY = 4  # processes that compute beside, for each core


class Graded(NamedTuple):
    """What a grading left."""

    status: int
    said: str
    document: dict[str, Any]  # class.json
    seconds: float
    truth: dict[int, tuple[str, Fraction]]  # at the level that it was graded at

    def marks(self) -> dict[int, str]:
        """Return the marks by Canvas id, as exact fractions, or ``withheld``."""
        found = {}
        for one in self.document["submissions"]:
            marks = one["marks"]
            exact = "withheld" if marks["withheld"] else marks["total"]["exact"]
            found[int(one["key"].rpartition("_")[2])] = exact
        return found

    def wrong(self) -> list[str]:
        """Return a line for each mark that is not as it must be."""
        found = self.marks()
        return [
            f"{number} {label}: {mark} expected, {found[number]} found"
            for number, (label, mark) in self.truth.items()
            if found[number] != str(mark)
        ]


@contextlib.contextmanager
def grade_class(name: str, busy: int = 0, step: int = 1) -> Iterator[Graded]:
    """Grade the class in the circumstances of that name, with ``busy`` processes beside.

    ``step``: every so-manyth submission of each kind.
    """
    with tempfile.TemporaryDirectory(prefix="gtp-harness-real-") as folder:
        room = circumstances.open_room(Path(folder))
        made = real_class.make(room / "class", step)
        if os.geteuid() == 0 and name != "root":
            for path in (room, *room.rglob("*")):
                os.chown(path, circumstances.SOMEBODY, circumstances.SOMEBODY)
        words = [circumstances.python(), "-B", "-m", "harness.cli", "grade", str(made.download)]
        words += ["--assignment", str(made.assignment), "--output", str(room / "out")]
        begun = time.monotonic()
        with busy_with(busy):
            done = subprocess.run(
                circumstances.command(name, words, room),
                env=circumstances.environment(room),
                cwd=room,
                capture_output=True,
                text=True,
                check=False,
            )
        seconds = time.monotonic() - begun
        assert (room / "out" / "class.json").exists(), done.stdout[-2000:] + done.stderr[-2000:]
        document = json.loads((room / "out" / "class.json").read_text())
        lost = made.temporary if document["sandbox"].startswith("level 1") else frozenset()
        truth = {
            number: (label, Fraction(0) if number in lost else mark)
            for number, (label, mark) in made.marks.items()
        }
        yield Graded(done.returncode, done.stdout, document, seconds, truth)
