"""The output of a run on standard output and standard error, during the run and at its end.

Standard output is either gogui-regress's lines, for scripts, or the report for a reader. Scripts
get all else on standard error: what broke, and one line of summary.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property

from harness.cli import give_up, sentence_of
from harness.cli.commandline import never_fail_to_encode
from harness.core.records import CaseFile, Outcome, Progress, Repeat, Verdict, Waiting
from harness.core.text import at_most, escape_controls
from harness.report.file_view import FileView
from harness.report.paint import Paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import TextIO

    from harness.report.baseline import Comparison
    from harness.report.progress import Heartbeat, LiveProgress
    from harness.report.terminal_report import Terminal

_LISTED = 100  # lines of one section of a comparison
_NO = Repeat()


class Console:
    """Writes while a run of so many ``files`` lasts.

    ``arguments``: the command line. ``aside``: standard output is a report's. ``repeat``: for the
    lines that tell how.
    """

    def __init__(
        self, files: int, arguments: Namespace, *, aside: bool = False, repeat: Repeat = _NO
    ) -> None:
        never_fail_to_encode()
        self.files = files
        self.long = arguments.long
        self._repeat = repeat
        self.out = sys.stderr if aside else sys.stdout
        self.lost: OSError | ValueError | None = None  # why something could not be written
        is_report = arguments.report or self.out.isatty()
        self.lines = arguments.long or arguments.plain or not is_report  # gogui's
        is_colored = not (arguments.no_color or self.lines)
        self.paint = Paint(colors(self.out) if is_colored else 0)
        self.unicode = not arguments.ascii and can_draw(self.out)
        self._under_way: CaseFile | None = None  # a file with lines already written
        self._next = 0  # the first step of it that is not
        self._waiting: dict[str, Waiting] = {}  # by case file
        self._begun = time.monotonic()
        self.live: LiveProgress | None = None
        is_quiet = arguments.verbose or _is_dumb()
        if not is_quiet and self.out.isatty() and sys.stderr.isatty():
            from harness.report.progress import LiveProgress

            self.live = LiveProgress(files)

    def on_progress(self, progress: Progress) -> None:
        """Draw where the files are; off a terminal, say now and then what takes long."""
        if self.live:
            self.live.update(progress)
        elif progress.waiting:
            from harness.report.progress import describe_waiting

            self._waiting[progress.path] = progress.waiting
            self._heartbeat.beat(lambda: describe_waiting(self._waiting))
        else:
            self._waiting.pop(progress.path, None)

    @cached_property
    def _heartbeat(self) -> Heartbeat:
        from harness.report.progress import Heartbeat

        return Heartbeat(self.complain, self._begun)

    def on_test(self, case: CaseFile, outcome: Outcome) -> None:
        """Write the line of a test, if it has one, as soon as it was judged or left out."""
        self._under_way, self._next = case, outcome.step + 1
        # Most tests have no line, and a file may have 100,000 of them.
        if self.long or outcome.verdict is not Verdict.PASSED:
            from harness.report import gogui

            self._write(list(gogui.line(case, outcome, prefix=self.files > 1, long=self.long)))

    def on_file(self, view: FileView) -> None:
        """Write what is to be said about one file, and was not yet."""
        if not self.lines:
            self._write(list(self._terminal.file(view)))
            return
        from harness.report import gogui

        first = self._next if view.file.case is self._under_way else 0
        self._under_way = None
        many = self.files > 1
        self._write(list(gogui.lines(view.file, prefix=many, long=self.long, first=first)))

    def _write(self, texts: Sequence[str]) -> None:
        if texts:
            with self.live.hide() if self.live else nullcontext():
                self._say("\n".join(texts), self.out)

    def _say(self, text: str, stream: TextIO) -> None:
        """Write; what cannot be written is not a reason to lose the run."""
        try:
            print(text, file=stream, flush=True)
        except (OSError, ValueError) as error:
            self.lose(stream, error)

    def lose(self, stream: TextIO, error: OSError | ValueError) -> None:
        """Write no more to a stream that takes nothing."""
        self.lost = self.lost or error
        give_up(stream)
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            self._say(f"gtp-harness: {sentence_of(error)}", sys.stderr)

    @cached_property
    def _terminal(self) -> Terminal:
        """One for all files: it tells the same crash once."""
        from harness.report.terminal_report import Terminal

        paint, repeat, width = self.paint, self._repeat, columns(self.out)
        return Terminal(paint, unicode=self.unicode, patterns=True, repeat=repeat, width=width)

    def complain(self, message: str) -> None:
        """Say what else went wrong."""
        self._say(f"gtp-harness: {escape_controls(message)}", sys.stderr)

    def say_aside(self, text: str) -> None:
        """Write what scripts do not look for in gogui's lines."""
        self._say(text, sys.stderr if self.lines else self.out)

    def comparison(self, comparison: Comparison) -> None:
        """Write how the run differs from the baseline."""
        sections = list(comparison.sections())
        since = f"compared with the run of {comparison.started}"
        lines = [f"{since}: {'the same' if not sections else 'not the same'}"]
        for heading, found in sections:
            lines.append(f"  {heading}")
            lines += [f"    {escape_controls(line)}" for line in at_most(found, _LISTED)]
        self.say_aside("\n".join(lines))

    def close(self) -> None:
        """Take the live lines away for good."""
        if self.live:
            self.live.stop()


def can_draw(stream: TextIO) -> bool:
    """Whether a stream's encoding can say ``●``, ``○`` and lines, each as wide as a letter."""
    return "utf" in (stream.encoding or "").lower()


def paint_for(arguments: Namespace) -> Paint:
    """Return the colors of standard output, which ``--no-color`` turns off."""
    return Paint(0 if arguments.no_color else colors(sys.stdout))


_MOST = 256  # colors that we use
_COLORFUL = ("xterm", "screen", "tmux", "rxvt", "linux")  # where no terminfo tells


def colors(stream: TextIO) -> int:
    """Return how many colors may be used: 0, or what the terminal has, by its ``TERM``.

    ``NO_COLOR`` (see https://no-color.org) and ``FORCE_COLOR`` decide first.
    """
    if os.environ.get("NO_COLOR"):
        return 0
    if os.environ.get("FORCE_COLOR"):
        return _MOST
    if not stream.isatty() or _is_dumb():
        return 0
    term = os.environ["TERM"]
    if os.environ.get("COLORTERM") or "256color" in term or "direct" in term:
        return _MOST
    try:
        import curses

        curses.setupterm(term, 1)
        return max(0, curses.tigetnum("colors"))
    except Exception:  # noqa: BLE001 - no curses, or nobody knows this terminal
        return 8 if "color" in term or term.startswith(_COLORFUL) else 0


def columns(stream: TextIO) -> int:
    """Return how many columns a terminal has; 0 for a file or a pipe, which has no edge."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if stream.isatty() else 0


def _is_dumb() -> bool:
    return os.environ.get("TERM", "") in ("", "dumb")
