"""A history as pages: ``index.html``, and for each case file its tests × runs.

The first page has what broke when, the flaky, the slower, the files and the runs. As with the
pages of a run, each stands alone and loads nothing, and a click can do no more than filter, sort
and move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from harness.history import plots, text
from harness.history.history_grid import STYLE, Addresses, Crumbs, file_pages
from harness.history.records import Trends, VerdictChange, of_file, of_run
from harness.history.trends import FileCourse, choose_shown_runs, file_courses
from harness.report import report_files
from harness.report.html.page_names import link, page_names
from harness.report.html.parts import PageFrame, page
from harness.report.html.templates import render
from harness.text import one_line

_RUNS = 100  # the last ones that are listed
_CAUSES, _TESTS = 30, 100  # listed of what broke, for each cause
_FLAKY = 100


def write(folder: str, trends: Trends, home: Crumbs = ()) -> None:
    """Write all pages into a folder, which is there. ``home``: the way to the first one.

    Raises :class:`~harness.errors.ReportError` when one cannot be written.
    """
    runs, courses = choose_shown_runs(trends), file_courses(trends)
    names, addresses = page_names([file.path for file in courses]), Addresses()
    for file, name in zip(courses, names, strict=True):
        for own, parts in file_pages(trends, runs, file, name, addresses, home=home):
            report_files.write(f"{folder}/{own}.html", parts)
    report_files.write(
        f"{folder}/index.html", index_page(trends, courses, names, addresses, home=home)
    )


def index_page(
    trends: Trends,
    files: Sequence[FileCourse],
    names: Sequence[str],
    addresses: Addresses,
    *,
    home: Crumbs = (),
) -> Iterator[str]:
    """Yield the first page; page ``names`` go with the ``files``; ``home``: the way to it.

    Tests are linked to their ``addresses`` on the pages of the files.
    """
    last = [run for run in trends.runs if run.files][-1:]
    groups = [
        list(some)
        for _, some in groupby(trends.broken, lambda one: (one.now.run.number, one.cause))
    ]
    runs = trends.runs[-_RUNS:]
    changes: dict[int, list[VerdictChange]] = defaultdict(list)
    for one in trends.changes:
        changes[one.now.run.number].append(one)
    scale = plots.Scale(seconds for file in files for _, seconds in file.times)
    body = render(
        "history/index.html",
        text=text,
        plots=plots,
        found=trends,
        addresses=addresses,
        courses={one.test: one for file in files for one in file.courses},
        facts=(
            ("Engine", text.engine_of(last[0]) if last else ""),
            ("Command", trends.program),
            ("Runs", text.headline(trends)),
            ("Other programs in the file", ", ".join(trends.others)),
        ),
        last=of_run(last[0]) if last else None,
        # The first change since one run, the tests that are listed, how many there are.
        causes=[
            (some[0], [(one.test, one.now.result.line) for one in some[:_TESTS]], len(some))
            for some in groups[:_CAUSES]
        ],
        left_causes=sum(map(len, groups[_CAUSES:])),
        flaky=[(one.test, one.line, text.flakiness(one)) for one in trends.flaky[:_FLAKY]],
        files=[
            _file(file, name, scale)
            for file, name in sorted(zip(files, names, strict=True), key=_badness)
        ],
        drawn=choose_shown_runs(trends),
        runs=[(run, of_run(run), changes[run.number]) for run in reversed(runs)],
        earlier=len(trends.runs) - len(runs),
    )
    heading = f"History of {one_line(trends.program, 40)}"
    crumbs = (*home, (heading, "")) if home else ()
    return page(heading, [body], PageFrame(crumbs, script=True, style=STYLE))


def _badness(pair: tuple[FileCourse, str]) -> tuple[bool, int]:
    """Return what puts a file first: the engine failed at it; then the most failures."""
    last = pair[0].last
    return not last.failure, -of_file(last).failed


def _file(file: FileCourse, name: str, scale: plots.Scale) -> dict[str, object]:
    """Return the row of a file."""
    last, counts, spread = file.last, of_file(file.last), file.spread
    words = f"{counts.failed} of {counts.tests} FAILED" if counts.failed else ""
    return {
        "kind": "f" if counts.failed or last.failure else "p",
        "address": link(name),
        "path": file.path,
        "counts": counts,
        "words": "engine failure" if last.failure else words or f"{counts.passes} passed",
        "changes": sum(len(one.changes) for one in file.courses),
        "failures": plots.failures(file),
        "median": f"{spread.median:.6f}" if spread else -1,
        "time": plots.time(file.times, scale),
    }
