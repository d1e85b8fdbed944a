"""The text of a check, and the transcript of what was written on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable

from harness.records import Repeat
from harness.report.paint import Paint, wrap
from harness.report.terminal_report import Terminal
from harness.text import escape_controls, without_surrogates


def _now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S%z")


class Transcript:
    """Writes to standard output and keeps what it has written."""

    def __init__(self, command: str, clock: Callable[[], str] = _now) -> None:
        self._clock = clock
        self._command = command
        self._started = clock()
        self._written: list[str] = []

    def say(self, text: str = "", shown: str = "") -> None:
        """Write lines. ``shown``: the same, wrapped for the terminal; the transcript is not."""
        print(shown or text, flush=True)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        kept = text.encode(encoding, "backslashreplace").decode(encoding)
        self._written.append(kept + "\n")

    def close(self, status: int) -> bytes:
        """Return the transcript so far, with a last line that says the exit status."""
        body = without_surrogates("".join(self._written))
        text = (
            f'Script started on {self._started} [COMMAND="{self._command}"]\n'
            f'{body}\nScript done on {self._clock()} [COMMAND_EXIT_CODE="{status}"]\n'
        )
        return text.replace("\n", "\r\n").encode()


# --- The text of a check: numbered steps, notes under them, and a count of what is wrong ---------


INDENT = "   "
_NO = Repeat()


class CheckReporter:
    """Writes to a transcript. ``wrong``, ``unknown`` and ``odd`` gather what is said at the end:
    faults of the submission, what could not be found out, and what costs nothing.

    ``terminal`` knows how results look. ``repeat``: for the command lines that repeat tests.
    ``width``: columns of the terminal; 0 for a file or a pipe.
    """

    def __init__(
        self,
        transcript: Transcript,
        paint: Paint,
        *,
        unicode: bool,
        repeat: Repeat = _NO,
        width: int = 0,
    ) -> None:
        self.transcript = transcript
        self._room = max(width - len(INDENT), 0)
        self.terminal = Terminal(paint, unicode=unicode, repeat=repeat, width=self._room)
        self.wrong: list[str] = []
        self.unknown: list[str] = []
        self.odd: list[str] = []
        self._paint = paint
        self._steps = 0

    def say(self, text: str = "") -> None:
        """Write lines as they are."""
        self.transcript.say(text)

    def step(self, title: str) -> None:
        """Begin a step."""
        self._steps += 1
        self.say("\n" + self._paint("bold", f"{self._steps}. {' '.join(title.split())}"))

    def note(self, text: str, color: str = "") -> None:
        """Write a line under the step; ``color`` is one of paint's."""
        written = INDENT + (self._paint(color, text) if color else text)
        wrapped = f"\n{INDENT}".join(wrap(written.removeprefix(INDENT), self._room))
        self.transcript.say(written, INDENT + wrapped)

    def remarks(self, sentences: Iterable[str]) -> None:
        """Write what is odd but no fault."""
        for sentence in sentences:
            self.note(escape_controls(sentence), "warn")

    def faults(self, phrases: list[str]) -> None:
        """Write what is wrong, and keep it for the last sentence."""
        self.wrong += phrases
        for phrase in phrases:
            self.note(escape_controls(phrase), "bad")

    def paragraphs(self, texts: Iterable[str]) -> None:
        """Write paragraphs of a report under the step."""
        for text in texts:
            self.say("\n" + "\n".join(INDENT + line for line in text.splitlines()))

    def last(self, sentence: str, color: str) -> None:
        """Write the last sentence."""
        self.say()
        self.say(self._paint(color, sentence))
