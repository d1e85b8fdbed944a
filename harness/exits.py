"""The exit status of ``gtp-harness``; the numbers are gogui-regress's."""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """What a run's exit status means."""

    OK = 0  # no unexpected failure
    FAILED = 1  # at least one unexpected failure
    BROKEN = 2  # an engine died, hung or could not start, or the input was bad
