"""Troubles of a whole case file: the engine failed, setup was refused, warnings."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from harness.records import Failure, FileResult
from harness.report.file_view import breaks, crash_of, paths_of_crashes, setup_errors
from harness.report.html.page_names import LogPages
from harness.report.html.parts import NOTHING
from harness.report.html.templates import drawing
from harness.text import count_rest

_LISTED = 20  # refused setup commands named one by one
_TAIL = 8  # lines of standard error


class Crashes:
    """The ways that engines failed in the files of one page; each is told once."""

    def __init__(self, files: Iterable[FileResult]) -> None:
        self._paths = paths_of_crashes(files)
        self._told: dict[object, str] = {}

    def find_first_place(self, failure: Failure, path: str) -> str:
        """Return the case file in which it was told before; "" if it is told now, in ``path``."""
        before = self._told.get(crash_of(failure), "")
        self._told.setdefault(crash_of(failure), path)
        return before

    def everywhere(self, failure: Failure) -> str:
        """Return a sentence about all the case files in which it happened; "": in one alone."""
        paths = self._paths.get(crash_of(failure), [])
        if len(paths) < 2:
            return ""
        return f"The same failure in {len(paths)} case files: {', '.join(paths)}."


_draw = drawing("report/html/trouble.html")


def troubles(
    file: FileResult, log: LogPages | None = None, crashes: Crashes | None = None
) -> tuple[Markup, ...]:
    """Return a framed notice for each kind of trouble that occurred.

    ``log``: the GTP log, which lines are linked to; None if there is none.
    ``crashes``: those of all files on the page; None if there is one file alone.
    """
    known, broken = crashes or Crashes([file]), NOTHING
    if file.failures:
        told = [known.find_first_place(one, file.case.path) for one in file.failures]
        shown = [
            (one, before, known.everywhere(one.failure))
            for one, before in zip(breaks(file), told, strict=True)
        ]
        # What it wrote belongs to all of them, and ends with the last.
        tail = "" if told[-1] else "\n".join(file.stderr.rstrip().splitlines()[-_TAIL:])
        broken = _draw("failures", shown, log, tail)
    errors, refused = NOTHING, setup_errors(file)
    if refused:
        commands = [(file.case.steps[one], file.replies[one]) for one in refused[:_LISTED]]
        rest = count_rest(len(refused) - _LISTED, "and {} more")
        errors = _draw("refused", len(refused), commands, rest, log)
    return broken, errors, warnings(file)


def warnings(file: FileResult) -> Markup:
    """Return a framed notice of how an engine strays from its protocol, if it does."""
    return _draw("warnings", file.warnings) if file.warnings else NOTHING
