"""What a run writes to standard output and standard error while it lasts and at its end.

Standard output is either gogui-regress's lines, for scripts, or the report for a reader. Scripts
get all else on standard error: what broke, and one line of summary.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NamedTuple

from harness.records import RunResult
from harness.report import gogui
from harness.report.baseline import Comparison
from harness.report.paint import Paint
from harness.report.progress import LiveProgress
from harness.report.tally import Tally
from harness.report.terminal import Terminal
from harness.report.view import FileView
from harness.report.visible import visible
from harness.runs import Progress

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
        _never_fail_to_encode()
        self.files = files
        self.long = style.long
        self.lines = style.long or style.plain or not (style.report or sys.stdout.isatty())
        unicode = style.unicode and "utf" in (sys.stdout.encoding or "").lower()
        self.terminal = Terminal(Paint(style.color and _colors_wanted()), unicode=unicode)
        live = style.progress and sys.stdout.isatty() and sys.stderr.isatty()
        self.live = LiveProgress(files) if live else None

    def on_progress(self, progress: Progress) -> None:
        """Draw where the files are."""
        if self.live:
            self.live.update(progress)

    def on_file(self, view: FileView) -> None:
        """Write what is to be said about one file."""
        if self.lines:
            several = self.files > 1
            texts = [*gogui.lines(view.file, prefix=several, long=self.long)]
        else:
            texts = [*self.terminal.file(view)]
        if texts:
            self._hide()
            print("\n".join(texts), flush=True)

    def summary(self, run: RunResult, tallies: Sequence[Tally]) -> None:
        """Write the end of the report; beside gogui's lines, on standard error."""
        if self.lines:
            for file in run.files:
                if file.failure:
                    message = f"{file.case.path}: {file.failure.message}"
                    print(f"gtp-harness: {visible(message)}", file=sys.stderr)
        stream = sys.stderr if self.lines else sys.stdout
        terminal = Terminal(Paint(False)) if self.lines else self.terminal
        print(terminal.summary(run, tallies), file=stream)

    def comparison(self, comparison: Comparison) -> None:
        """Write how the run differs from the baseline."""
        sections = list(comparison.sections())
        stream = sys.stderr if self.lines else sys.stdout
        since = f"compared with the run of {comparison.started}"
        print(f"{since}: {'the same' if not sections else 'not the same'}", file=stream)
        for heading, lines in sections:
            print(f"  {heading}", file=stream)
            for line in lines[:_LISTED]:
                print(f"    {visible(line)}", file=stream)
            if len(lines) > _LISTED:
                print(f"    and {len(lines) - _LISTED} more", file=stream)

    def close(self) -> None:
        """Take the live lines away."""
        self._hide()

    def _hide(self) -> None:
        if self.live:
            self.live.hide()


def _never_fail_to_encode() -> None:
    """What the terminal's encoding cannot say is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _colors_wanted() -> bool:
    """See https://no-color.org; a dumb terminal has none."""
    forced = bool(os.environ.get("FORCE_COLOR"))
    wanted = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    return (forced or wanted) and not os.environ.get("NO_COLOR")
