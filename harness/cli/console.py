"""What a run writes to standard output and standard error while it lasts and at its end.

Standard output is either gogui-regress's lines, for scripts, or the report for a reader. Scripts
get all else on standard error: what broke, and one line of summary.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from io import TextIOWrapper
from typing import NamedTuple

from harness.records import RunResult
from harness.report.paint import Paint
from harness.report.summary import summary
from harness.report.tally import Tally
from harness.report.view import FileView
from harness.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from harness.records import Progress
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


class Console:
    """Writes as the run of so many ``files`` goes on."""

    def __init__(self, files: int, style: Style) -> None:
        never_fail_to_encode()
        self.files = files
        self.long = style.long
        self.lines = style.long or style.plain or not (style.report or sys.stdout.isatty())
        self.paint = Paint(style.color and not self.lines and colors_wanted())
        self.unicode = style.unicode and "utf" in (sys.stdout.encoding or "").lower()
        self.live: LiveProgress | None = None
        if style.progress and sys.stdout.isatty() and sys.stderr.isatty():
            from harness.report.progress import LiveProgress

            self.live = LiveProgress(files)

    def on_progress(self, progress: Progress) -> None:
        """Draw where the files are."""
        if self.live:
            self.live.update(progress)

    def on_file(self, view: FileView) -> None:
        """Write what is to be said about one file."""
        texts = self._lines(view) if self.lines else self._report(view)
        if texts:
            with self.live.hidden() if self.live else nullcontext():
                print("\n".join(texts), flush=True)

    def _lines(self, view: FileView) -> list[str]:
        from harness.report import gogui

        return list(gogui.lines(view.file, prefix=self.files > 1, long=self.long))

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
                    print(f"gtp-harness: {visible(message)}", file=sys.stderr)
        print(summary(run, tallies, self.paint), file=self._aside())

    def _aside(self) -> TextIO:
        """Return where to write what scripts do not look for in gogui's lines."""
        return sys.stderr if self.lines else sys.stdout

    def comparison(self, comparison: Comparison) -> None:
        """Write how the run differs from the baseline."""
        sections = list(comparison.sections())
        stream = self._aside()
        since = f"compared with the run of {comparison.started}"
        print(f"{since}: {'the same' if not sections else 'not the same'}", file=stream)
        for heading, lines in sections:
            print(f"  {heading}", file=stream)
            for line in lines[:_LISTED]:
                print(f"    {visible(line)}", file=stream)
            if len(lines) > _LISTED:
                print(f"    and {len(lines) - _LISTED} more", file=stream)

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
