"""A live line while units run, and an alarm if the first submissions all fail to start."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

from harness.core.errors import ClassWideError
from harness.core.records import Build, FileResult
from harness.core.text import number_of, one_line
from harness.grading.attempts.orders import GradingListener
from harness.reading.last_words import last_words, normalize
from harness.report.progress import Heartbeat, as_time, short_path, waiting_for
from harness.work import records

TYPE_CHECKING = False

if TYPE_CHECKING:
    import rich.progress

_NAME = 24  # characters of the submission under way
_FILE = 24  # characters of its case file


class UnitsProgress(GradingListener):
    """Drawn on standard error if that is a terminal; use it as a context.

    It has no thread of its own, because processes are forked meanwhile: each event redraws it.
    """

    what = ""  # is counted, in the plural, and what happened to it

    def __init__(
        self, total: int, make: "Callable[[], rich.progress.Progress]", name: str = ""
    ) -> None:
        """Prepare a line of that name on the bars that ``make`` returns."""
        self._done, self._total = 0, total
        self._heartbeat = Heartbeat()
        self._files: dict[str, tuple[str, float]] = {}  # that run, and since when, by submission
        self._prolonged: dict[str, records.CaseProlonged] = {}  # waited for, by submission
        self._live = make() if sys.stderr.isatty() and total else None
        if self._live:
            self._line = self._live.add_task(name, total=total)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
            self._live.refresh()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def _draw(self, description: str) -> None:
        if self._live:
            self._live.update(self._line, completed=self._done, description=description)
            self._live.refresh()

    def on_time(self, under_way: Sequence[records.WorkUnit]) -> None:
        """Say how far it is and what is waited for: drawn, or if it was not said for a while."""
        units = {unit.submission.key: unit for unit in under_way}
        waits = [self._describe(units[key]) for key in sorted(units)]
        if self._live and waits:
            self._draw(f"{self._summarize()}  {waits[0]}")
        elif not self._live:
            far = f"{self._done} of {self._total} {self.what}"
            self._heartbeat.beat(lambda: f"{far}, {self._summarize()}{waiting_for(waits)}")

    def _describe(self, unit: records.WorkUnit) -> str:
        """Return what of a unit is waited for, why, and how long at most."""
        key = unit.submission.key
        name, since = self._files.get(key, ("", 0.0))
        if not name:
            return one_line(key, _NAME)
        so_far = as_time(time.monotonic() - since)
        reason = unit.why
        if one := self._prolonged.get(key):
            reason = f"computes without an answer; at most {as_time(one.seconds)} of computing"
        why = f" ({reason})" if reason else ""
        return f"{one_line(key, _NAME)}: {short_path(name, _FILE)} for {so_far}{why}"

    def on_progress(self, unit: records.WorkUnit, event: records.ProgressEvent) -> None:
        """Take note of the case file that runs; whole ones are counted."""
        key = unit.submission.key
        if isinstance(event, records.CaseProlonged):
            self._prolonged[key] = event
        elif isinstance(event, records.CaseStarted) and key not in self._prolonged:
            names = {case.basis: case.name for case in unit.cases}
            self._files[key] = (names.get(event.basis, ""), time.monotonic())

    def _summarize(self) -> str:
        """Return what was found so far."""
        raise NotImplementedError


class GradingProgress(UnitsProgress):
    """Show how many case files are done, and how many submissions have failures."""

    what = "case files done"

    def __init__(self, total: int) -> None:
        super().__init__(total, _make)
        self._failed: set[str] = set()
        self._broke = 0

    def on_event(self, unit: records.WorkUnit, event: records.AttemptEvent) -> None:
        """Take in what a worker says."""
        key = unit.submission.key
        if isinstance(event, records.HarnessFailed):
            self._broke += 1
        elif isinstance(event, records.AttemptFinished) and event.failed:
            self._failed.add(key)
        if (one := self._prolonged.get(key)) and one.basis == event.basis:
            del self._prolonged[key]
        # What is in doubt is not done: its second run will be.
        self._done += isinstance(event, records.AttemptFinished) and not event.doubtful
        if not isinstance(event, records.BuildFinished):
            self._draw(f"{self._summarize()}  {one_line(key, _NAME)}")

    def _summarize(self) -> str:
        broke = f", {number_of(self._broke, 'harness error')}" if self._broke else ""
        return f"{len(self._failed)} with failures{broke}"


def _make() -> "rich.progress.Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    )


# --- An alarm for a class whose first submissions all fail to start for the same reason ----------


FIRST = 5  # submissions that all fail alike; a smaller class needs all of its own
_SHOWN = 300  # characters of the last output
_ALONE = 1  # of one submission nothing can be told
_OTHER_FOLDER = (
    "The course folder (--overlay) may be another year's than the programs were written for."
)
_HINTS = (
    (
        "No module named",
        "The Python that runs engines lacks a package (name another one with --python, or declare"
        " it in the assignment's packages and build them with gtp-harness env), or the course"
        " folder lacks a module.",
    ),
    ("not found", "A program that the assignment needs is not installed here."),
    ("can't open file", "The assignment's command names a file that nobody submitted."),
    ("Permission denied", "Engines may not write or read where the course's files want to."),
    ("Read-only file system", "Engines may not write where the course's files want to."),
    ("No such file", "A file of the course folder (--overlay) is missing, or cannot be written."),
    ("has no attribute", _OTHER_FOLDER),
    ("cannot import name", _OTHER_FOLDER),
)


class Trouble(NamedTuple):
    """The reason why a submission cannot be run."""

    reason: str  # the same for all that fail alike
    words: str  # what was said last, as it came
    builds: bool  # it builds, or need not be built, and does not start


def trouble(
    build: Build | None, results: Sequence[FileResult], *, adapted: bool = False
) -> Trouble | None:
    """Return why a submission does not start, or None if it does.

    ``results``: of the case files run so far, at least one if it was built. ``adapted``: an
    adapter answers for it: one that has only errors for each test found no program.
    """
    if build is not None and not build.ok:
        return Trouble(normalize(build.message), build.message, builds=False)
    if all(one.is_silent for one in results):
        dead = results[0]
        found = last_words(dead.stderr)
        message = dead.failure.message if dead.failure else ""
        return Trouble(found.reason or normalize(message), str(found) or message, builds=True)
    if adapted and not any(one.answers_a_test for one in results):
        replies = (one.reply for file in results for one in file.outcomes)
        said = next((reply.text for reply in replies if reply), "")
        return Trouble(normalize(said), said, builds=True) if said else None
    return None


class Alarm:
    """Watch how submissions start. ``archives``: the number of different ones."""

    def __init__(self, archives: int) -> None:
        self._enough = min(FIRST, archives)
        # Whether somebody's program runs: then the reason is not the class's.
        self.is_over = archives <= _ALONE
        self._found: dict[str, tuple[str, Trouble]] = {}

    def note(self, name: str, sha256: str, trouble: Trouble | None) -> None:
        """Take in how a submission started; the same archive counts once."""
        self.is_over = self.is_over or trouble is None
        if trouble:
            self._found.setdefault(sha256, (name, trouble))

    def check(self, command: str) -> None:
        """Stop a grading in which the first submissions all failed alike.

        ``command``: of the assignment's engine.

        Raises:
            ClassWideError: they did.
        """
        if self.is_over:
            return
        counts = Counter((one.reason, one.builds) for _, one in self._found.values())
        for (reason, builds), count in counts.items():
            if count >= self._enough:
                name, example = next(p for p in self._found.values() if p[1].reason == reason)
                raise ClassWideError(_describe(count, name, example, command if builds else ""))


def _describe(count: int, name: str, example: Trouble, command: str) -> str:
    fails = "start" if example.builds else "build"
    lines = [
        f"the first {count} submissions do not {fails}, all for the same reason:",
        *([f"  command     {command}"] if command else []),
        f"  last words  {one_line(example.words, _SHOWN)}",
        f"  example     {one_line(name)}",
        f"A reason that {count} submissions share is likely not the students' fault.",
        *[hint for word, hint in _HINTS if word in example.words][:1],
        "Look at the course folder (--overlay), at the programs and packages that the assignment"
        " needs, and try one submission with gtp-harness check.",
        "No mark was given. Results are kept; the same command continues with --go-on.",
    ]
    return "\n".join(lines)
