"""Pages for people: ``index.html``, a page and a log for each file, and gogui's ``summary.dat``.

Every page stands alone: its style is inside, it runs no script and loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import ReportError
from harness.records import RunResult
from harness.report import files
from harness.report.gogui import summary_dat
from harness.report.html.file import file_page
from harness.report.html.index import index_page
from harness.report.html.log import log_page
from harness.report.html.names import log_name, page_names
from harness.report.tally import total
from harness.report.view import FileView

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

    Raises :class:`ReportError` when the folder cannot be written to.
    """
    names = page_names([file.case.path for file in run.files])
    tallies = [view.tally for view in views]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(f"cannot make {folder}: {error.strerror}") from error
    for view, name in zip(views, names, strict=True):
        files.write(f"{folder}/{name}.html", file_page(view, run, name))
        files.write(f"{folder}/{log_name(name)}.html", log_page(view.file, run, name))
    files.write(f"{folder}/index.html", index_page(run, tallies, names, comparison))
    files.write(f"{folder}/summary.dat", [summary_dat(total(tallies))])
