"""The formats of a run's reports: :data:`REPORTERS`, a row for each, and a module that writes it.

A format is one row and one module, which has a function ``report(path, finished)``. Options,
their help, completion, manual page and the checks before a run follow from the row.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.postponed import load
from harness.records import RunResult
from harness.report.file_view import FileView
from harness.report.tally import Tally
from harness.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.report.baseline import Comparison


class Finished(NamedTuple):
    """A run that is over, as every reporter is given it."""

    result: RunResult
    views: Sequence[FileView]  # of the result's files, in their order
    comparison: Comparison | None = None  # with a former run, if one was asked for

    @property
    def tallies(self) -> list[Tally]:
        """The verdicts of each file, counted."""
        return [view.tally for view in self.views]


class Reporter(NamedTuple):
    """A format of reports."""

    name: str  # its option, without the dashes
    metavar: str  # of the option's value: FILE, which may be standard output, or DIR
    what: str  # for --help: what is written
    module: str  # which has ``report``; imported when a report is to be written
    is_gogui: bool = False  # gogui-regress has the option, too

    @property
    def option(self) -> str:
        """The option as it is typed."""
        return f"--{self.name}"

    @property
    def attribute(self) -> str:
        """What the option's value is called among those that were read."""
        return self.name.replace("-", "_")

    @property
    def is_folder(self) -> bool:
        """Whether many files are written into a folder."""
        return self.metavar == "DIR"

    def write(self, path: str, finished: Finished) -> None:
        """Write the report.

        Raises :class:`~harness.errors.ReportError` when that cannot be done.
        """
        load(self.module).report(path, finished)


# In the order in which they are written.
REPORTERS = (
    Reporter(
        "output",
        "DIR",
        "write index.html, pages, logs and summary.dat",
        "harness.report.html",
        is_gogui=True,
    ),
    Reporter(
        "json",
        "FILE",
        "write all results as JSON (-: to standard output)",
        "harness.report.json",
    ),
    Reporter(
        "junit",
        "FILE",
        "write JUnit XML (-: to standard output)",
        "harness.report.junit",
    ),
    Reporter(
        "tap",
        "FILE",
        "write TAP version 14 (-: to standard output)",
        "harness.report.tap",
    ),
    Reporter(
        "save-failures",
        "DIR",
        "write each failed test as a case file and its board as SGF",
        "harness.report.saved_failures",
    ),
)
