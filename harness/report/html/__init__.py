"""Pages for people: ``index.html``, a page and a log for each file, and gogui's ``summary.dat``.

Every page stands alone: its style is inside, and it loads nothing. All that it says is there
without a script; one that is inside, and allowed by its digest alone, adds what a click can do.
"""

import os
from collections.abc import Sequence
from itertools import chain

from harness.core.errors import ReportError
from harness.core.records import RunResult
from harness.report import report_files
from harness.report.file_view import FileView
from harness.report.gogui import summary_dat
from harness.report.html.file import card_addresses, file_pages
from harness.report.html.index import index_page
from harness.report.html.log import log_of, log_pages, part_cuts
from harness.report.html.page_names import page_names
from harness.report.tally import total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.baseline import Comparison
    from harness.report.reporters import Finished


def report(path: str, finished: "Finished") -> None:
    """Write a run as pages; see :class:`~harness.report.reporters.Reporter`."""
    write(path, finished.result, finished.views, finished.comparison)


def write(
    place: str | os.PathLike[str],
    run: RunResult,
    views: Sequence[FileView],
    comparison: "Comparison | None" = None,
) -> None:
    """Write all pages of a run; make the folder if it is missing.

    Raises :class:`ReportError` when the folder cannot be written to.
    """
    folder = os.fspath(place)
    names = page_names([file.case.path for file in run.files])
    tallies = [view.tally for view in views]
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ReportError(f"cannot make {folder}: {error.strerror}") from error
    for view, name in zip(views, names, strict=True):
        begin = part_cuts(view.file)
        pages = file_pages(view, run, name, log_of(view.file, name, begin), folder)
        logs = log_pages(view.file, run, name, begin, card_addresses(view, name))
        for one, parts in chain(pages, logs):
            report_files.write(f"{folder}/{one}.html", parts, lasting=False)
    report_files.write(f"{folder}/index.html", index_page(run, views, names, comparison))
    report_files.write(f"{folder}/summary.dat", [summary_dat(total(tallies))])
