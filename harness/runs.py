"""One run: case files against a program. The door to the harness for every command and library.

Everything a run may be told is in :class:`Options`, everything it found in
:class:`~harness.records.RunResult`; while it lasts it reports :class:`Progress`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.records import FileResult, RunResult


class Limits(NamedTuple):
    """How long and how much an engine may. Seconds and bytes; 0 means no limit."""

    timeout: float = 60.0  # per command, from the reply before it
    startup: float = 30.0  # from the start to the first reply
    file: float = 0.0  # a whole case file
    max_output: int = 1 << 20  # bytes in one reply
    quit: float = 2.0  # from quit to the end of the process
    max_stderr: int = 1 << 16  # bytes of standard error kept, from both ends


class Options(NamedTuple):
    """What a run may be told, as on the command line but with nothing of its output."""

    dialect: str = "gogui"  # or "gnugo"
    jobs: int = 0  # files in parallel; 0: as many as there are cores
    limits: Limits = Limits()
    gtpfile: str | None = None  # commands sent before each file
    lockstep: bool = False  # one command at a time
    pty: bool = False  # the engine's standard output is a terminal
    only: str | None = None  # a regular expression searched in the tests' commands
    ids: str | None = None  # such as "10,20-29"
    rerun: int = 0  # so many times more; a verdict that changes is flaky
    fail_fast: bool = False  # nothing after the first unexpected failure
    verbose: bool = False  # the GTP stream on standard error as it happens (one file at a time)


class Progress(NamedTuple):
    """Where a file is. Comes at its start, some ten times a second, and at its end."""

    index: int  # place of the file in the order named
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
