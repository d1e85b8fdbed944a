"""A transcript as ``script`` keeps it: what was written on the terminal, to the letter.

Lines end in CR LF, as on the way to a terminal; colors stay as control sequences.
The first and the last line are those of util-linux's ``script``, with the program's own name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from harness.escaping import without_surrogates


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S%z")


class Transcript:
    """Writes to standard output and keeps what it has written."""

    def __init__(self, command: str, clock: Callable[[], str] = _now) -> None:
        self._clock = clock
        self._command = command
        self._started = clock()
        self._written: list[str] = []

    def say(self, text: str = "") -> None:
        """Write lines."""
        print(text, flush=True)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        shown = text.encode(encoding, "backslashreplace").decode(encoding)
        self._written.append(shown + "\n")

    def close(self, status: int) -> bytes:
        """Return the transcript so far, with a last line that says the exit status."""
        body = without_surrogates("".join(self._written))
        text = (
            f'Script started on {self._started} [COMMAND="{self._command}"]\n'
            f'{body}\nScript done on {self._clock()} [COMMAND_EXIT_CODE="{status}"]\n'
        )
        return text.replace("\n", "\r\n").encode()
