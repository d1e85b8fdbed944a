"""The pages of checks; the folders with the pages of gradings and their gradebooks, locked."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_page(made: Path, upload: str) -> Path:
    """Return where the result of a check is; ``made``: the folder of its assignment."""
    return made / "checks" / f"{upload}.html"


def folder_of(made: Path, grading: str) -> Path:
    """Return where the pages and sheets of a grading are; ``made``: of its assignment."""
    return made / "gradings" / grading


def of_all(made: Path) -> list[Path]:
    """Return the folders of all gradings of an assignment; one may be exchanged just now."""
    names = {path.stem for path in (made / "gradings").glob("*")}
    return [folder_of(made, name) for name in sorted(names)]


@contextmanager
def lock_folder(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Give a time in which nobody else writes a folder anew; ``shared``: others may read it."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
