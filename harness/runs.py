"""One run: case files against a program. The door to the harness for every command and library.

Everything a run may be told is in :class:`Options`, everything it found in
:class:`~harness.records.RunResult`; while it lasts it reports :class:`Progress`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.options import Limits, Options
from harness.records import FileResult, RunResult

__all__ = ["Limits", "Options", "Progress", "run"]


class Progress(NamedTuple):
    """Where a file is. Comes at its start, some ten times a second, and at its end."""

    place: int  # of the file in the order named, from 0
    path: str
    done: int  # tests judged so far
    total: int  # tests in the file
    failed: int  # unexpected failures so far
    result: FileResult | None = None  # at the end


def run(
    program: str,
    tests: Sequence[str],
    options: Options = Options(),  # noqa: B008 - immutable
    on_progress: Callable[[Progress], None] | None = None,
    on_file: Callable[[FileResult], None] | None = None,
) -> RunResult:
    """Run all of ``tests`` against ``program`` and return what happened.

    ``program``: a command as typed in a shell, split but never given to one.
    ``tests``: case files, directories, ``@suites``, as on the command line.
    ``on_progress``: called as files start, proceed and end, in any order.
    ``on_file``: called with each file's result in the order named, as soon as that is possible.

    Both are called in the caller's own thread. Files in parallel run in forked processes, so
    start no threads of your own before the first ``on_progress``.

    Raises:
        UsageError: ``program`` is empty or cannot be split; an option makes no sense.
        CaseError: a suite is a circle. (A case file that cannot be read ends up in
            ``RunResult.errors``, and the others are run.)
    """
    raise NotImplementedError
