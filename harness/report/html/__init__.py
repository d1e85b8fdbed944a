"""Pages for people: ``index.html``, a page and a log for each file, and gogui's ``summary.dat``.

Every page stands alone: its style is inside, it runs no script and loads nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError
from harness.records import RunResult
from harness.report.gogui import summary_dat
from harness.report.html.file import file_page
from harness.report.html.index import index_page
from harness.report.html.log import log_page
from harness.report.html.names import log_name, page_names
from harness.report.tally import total
from harness.report.view import FileView
from harness.report.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.baseline import Comparison


def write(
    folder: Path,
    run: RunResult,
    views: Sequence[FileView],
    comparison: Comparison | None = None,
) -> None:
    """Write all pages of a run; the folder is made if there is none.

    Raises :class:`UsageError` when the folder cannot be written to.
    """
    names = page_names([file.case.path for file in run.files])
    tallies = [view.tally for view in views]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for view, name in zip(views, names, strict=True):
            _write(f"{folder}/{name}.html", file_page(view, run, name))
            _write(f"{folder}/{log_name(name)}.html", log_page(view.file, run, name))
        _write(f"{folder}/index.html", index_page(run, tallies, names, comparison))
        _write(f"{folder}/summary.dat", summary_dat(total(tallies)))
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from error


def _write(path: str, text: str) -> None:
    """Write a page; there may be hundreds, and pathlib's way takes twice the time."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), "wb") as file:
        file.write(visible(text).encode())
