"""A history as pages: ``index.html``, and for each case file its tests × runs.

As with the pages of a run, each stands alone and loads nothing, and a click can do no more than
filter, sort and move.
"""

from __future__ import annotations

from harness.history.history_grid import Addresses, Crumbs, file_pages
from harness.history.history_index import index_page
from harness.history.records import Trends
from harness.history.test_courses import choose_shown_runs, file_courses
from harness.report import report_files
from harness.report.html.page_names import page_names


def write(folder: str, found: Trends, home: Crumbs = ()) -> None:
    """Write all pages into a folder, which is there. ``home``: the way to the first one.

    Raises :class:`~harness.errors.ReportError` when one cannot be written.
    """
    runs, courses = choose_shown_runs(found), file_courses(found)
    names, addresses = page_names([file.path for file in courses]), Addresses()
    for file, name in zip(courses, names, strict=True):
        for own, parts in file_pages(found, runs, file, name, addresses, home=home):
            report_files.write(f"{folder}/{own}.html", parts)
    report_files.write(
        f"{folder}/index.html", index_page(found, courses, names, addresses, home=home)
    )
