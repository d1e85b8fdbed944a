"""What a run writes to standard output and standard error while it lasts and at its end.

Standard output is either gogui-regress's lines, for scripts, or the report for a reader. Scripts
get all else on standard error: what broke, and one line of summary.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from io import TextIOWrapper
from typing import NamedTuple

from harness.cli import streams
from harness.records import Outcome, RunResult, Verdict
from harness.report.paint import Paint
from harness.report.summary import summary
from harness.report.tally import Tally
from harness.report.view import FileView
from harness.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from harness.records import CaseFile, Progress
    from harness.report.baseline import Comparison
    from harness.report.progress import LiveProgress
    from harness.report.terminal import Terminal

_LISTED = 100  # lines of one section of a comparison


class Style(NamedTuple):
    """How to write, as the command line has it."""

    long: bool = False  # gogui's lines, of the long format
    plain: bool = False  # gogui's lines, even on a terminal
    report: bool = False  # the report, even when not on a terminal
    color: bool = True
    unicode: bool = True
    progress: bool = True  # live lines
    aside: bool = False  # all on standard error: standard output is a report's


class Console:
    """Writes as the run of so many ``files`` goes on."""

    def __init__(self, files: int, style: Style) -> None:
        never_fail_to_encode()
        self.files = files
        self.long = style.long
        self.out = sys.stderr if style.aside else sys.stdout
        self.lost: OSError | ValueError | None = None  # why something could not be written
        self.lines = style.long or style.plain or not (style.report or self.out.isatty())
        self.paint = Paint(style.color and not self.lines and colors_wanted())
        self.unicode = style.unicode and "utf" in (self.out.encoding or "").lower()
        self._under_way: CaseFile | None = None  # a file of which lines are written already
        self._next = 0  # the first step of it that is not
        self.live: LiveProgress | None = None
        if style.progress and self.out.isatty() and sys.stderr.isatty():
            from harness.report.progress import LiveProgress

            self.live = LiveProgress(files)

    def on_progress(self, progress: Progress) -> None:
        """Draw where the files are."""
        if self.live:
            self.live.update(progress)

    def on_test(self, case: CaseFile, outcome: Outcome) -> None:
        """Write the line of a test that was judged, and of those before it that were not run."""
        if self._under_way is not case:
            self._under_way, self._next = case, 0
        left_out = (step for step in range(self._next, outcome.step) if case.steps[step].is_test)
        found = [*(Outcome(step, Verdict.NOT_RUN, None) for step in left_out), outcome]
        self._next = outcome.step + 1
        self._write([line for one in found for line in self._line(case, one)])

    def on_file(self, view: FileView) -> None:
        """Write what is to be said about one file, and was not yet."""
        self._write(self._lines(view) if self.lines else self._report(view))

    def _write(self, texts: Sequence[str]) -> None:
        if texts:
            with self.live.hidden() if self.live else nullcontext():
                self._say("\n".join(texts), self.out)

    def _say(self, text: str, stream: TextIO) -> None:
        """Write; what cannot be written is no reason to lose the run."""
        try:
            print(text, file=stream, flush=True)
        except (OSError, ValueError) as error:
            self.lose(stream, error)

    def lose(self, stream: TextIO, error: OSError | ValueError) -> None:
        """Write no more to a stream that takes nothing."""
        self.lost = self.lost or error
        streams.give_up(stream)
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            self._say(f"gtp-harness: {streams.sentence_of(error)}", sys.stderr)

    def _line(self, case: CaseFile, outcome: Outcome) -> Iterator[str]:
        from harness.report import gogui

        return gogui.line(case, outcome, prefix=self.files > 1, long=self.long)

    def _lines(self, view: FileView) -> list[str]:
        from harness.report import gogui

        first = self._next if view.file.case is self._under_way else 0
        self._under_way = None
        many = self.files > 1
        return list(gogui.lines(view.file, prefix=many, long=self.long, first=first))

    def _report(self, view: FileView) -> list[str]:
        return list(self._terminal.file(view))

    @cached_property
    def _terminal(self) -> Terminal:
        """One for all files: it tells the same crash once."""
        from harness.report.terminal import Terminal

        return Terminal(self.paint, unicode=self.unicode, patterns=True)

    def summary(self, run: RunResult, tallies: Sequence[Tally]) -> None:
        """Write the end of the report; beside gogui's lines, on standard error."""
        if self.lines:
            for file in run.files:
                for failure in file.failures:
                    message = f"{file.case.path}: {failure.message}"
                    self._say(f"gtp-harness: {visible(message)}", sys.stderr)
        self._say(summary(run, tallies, self.paint), self._aside())

    def complain(self, message: str) -> None:
        """Say what else went wrong."""
        self._say(f"gtp-harness: {visible(message)}", sys.stderr)

    def _aside(self) -> TextIO:
        """Return where to write what scripts do not look for in gogui's lines."""
        return sys.stderr if self.lines else self.out

    def comparison(self, comparison: Comparison) -> None:
        """Write how the run differs from the baseline."""
        sections = list(comparison.sections())
        since = f"compared with the run of {comparison.started}"
        lines = [f"{since}: {'the same' if not sections else 'not the same'}"]
        for heading, found in sections:
            lines.append(f"  {heading}")
            lines += [f"    {visible(line)}" for line in found[:_LISTED]]
            lines += [f"    and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
        self._say("\n".join(lines), self._aside())

    def close(self) -> None:
        """Take the live lines away for good."""
        if self.live:
            self.live.stop()


def never_fail_to_encode() -> None:
    """What the terminal's encoding cannot say is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def colors_wanted() -> bool:
    """See https://no-color.org; a dumb terminal has none."""
    forced = bool(os.environ.get("FORCE_COLOR"))
    wanted = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return (forced or wanted) and not os.environ.get("NO_COLOR")
