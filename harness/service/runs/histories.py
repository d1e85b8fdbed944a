"""The history of a suite: the pages that ``gtp-harness history`` writes, of its last runs.

They are made when somebody looks, and stay until there is another run.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.history import history_file, pages
from harness.history.records import RunKept, Trends
from harness.history.trends import trends
from harness.service.records import Suite, SuiteRun
from harness.service.runs import keeping
from oracle import __version__

RUNS = 100  # the last ones, which make a history


def find_trends(suite: Suite, runs: Sequence[RunKept]) -> Trends:
    """Return what the runs of a suite tell together, whatever the program was called in each."""
    program = runs[-1].program if runs else ""
    named = [run._replace(program=program) for run in runs]
    return trends(suite.title, history_file.VERSION, named, program)


def write_pages(
    folder: Path, suite: Suite, runs: Sequence[SuiteRun], home: tuple[str, str]
) -> Path:
    """Return the folder of the pages about runs, the last one first; they are made if need be.

    ``folder``: of the suite; ``home``: the name and address of the page that leads there.
    """
    told = "\n".join([__version__, suite.title, *home, *(run.id for run in runs)])
    made = folder / "history" / hashlib.sha256(told.encode()).hexdigest()[:16]
    if not made.is_dir():
        former = list(made.parent.glob("*"))
        _write(made, find_trends(suite, keeping.load_kept(folder, runs[::-1])), home)
        for old in former:
            shutil.rmtree(old, ignore_errors=True)
    return made


def _write(made: Path, told: Trends, home: tuple[str, str]) -> None:
    """Write pages, all or none: another request may do the same meanwhile."""
    made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(dir=made.parent.parent, prefix=".unfinished-"))
    try:
        pages.write(str(room), told, (home,))
        with suppress(OSError):  # it is there by now, and the same
            room.rename(made)
    finally:
        shutil.rmtree(room, ignore_errors=True)
