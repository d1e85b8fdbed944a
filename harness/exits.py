"""The exit status of ``gtp-harness``; 0, 1 and 2 are gogui-regress's."""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """What a run's exit status means. When several hold, the largest of 0 to 3 is returned."""

    OK = 0  # no unexpected failure
    FAILED = 1  # at least one unexpected failure
    BROKEN = 2  # an engine died, hung or could not start, or the input was bad
    FAULT = 3  # the harness itself failed; no engine is to blame
    ATTENTION = 4  # of grade: all marks are there, but something concerns several submissions
    NO_READER = 141  # the reader of our output has gone, as shells count it: 128 + SIGPIPE
    INTERRUPTED = 130  # Ctrl-C, as shells count it: 128 + SIGINT; after SIGTERM it becomes 143
