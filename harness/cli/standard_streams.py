"""Standard output and standard error that are closed, full, or have lost their reader.

What cannot be said must not look like a test that failed: the exit status is 141 where the reader
has gone (a shell's word for SIGPIPE), else 3.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from harness.errors import ExitCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_NAMES = {1: "standard output", 2: "standard error"}


def open_all() -> None:
    """Open what of the three standard streams is closed, so that no other file takes its number.

    Standard output and standard error then refuse whatever is written, as a full disk does.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def give_up(stream: TextIO) -> None:
    """Discard all that is buffered in a stream or written to it from now on."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def status_of(error: OSError | ValueError) -> ExitCode:
    """Return the exit status of a command that could not write, and why."""
    return ExitCode.NO_READER if isinstance(error, BrokenPipeError) else ExitCode.FAULT


def sentence_of(error: OSError | ValueError, number: int = 1) -> str:
    """Say that a standard stream could not be written to."""
    return f"cannot write to {_NAMES[number]}: {getattr(error, 'strerror', None) or error}"


def flush_all(status: int) -> int:
    """Write what is left in the standard streams; return the exit status of the whole command."""
    for number, stream in ((2, sys.stderr), (1, sys.stdout)):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            give_up(stream)
            own = status_of(error)
            if own is ExitCode.FAULT:
                with suppress(OSError, ValueError):
                    print(f"gtp-harness: {sentence_of(error, number)}", file=sys.stderr)
            status = max(status, own)
    return status
