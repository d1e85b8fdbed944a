"""What went wrong with a case file as a whole: the engine broke, set-up was refused, warnings."""

from __future__ import annotations

from collections.abc import Iterable

from harness.records import Failure, FileResult, Step
from harness.report.html.names import Log
from harness.report.html.parts import box, items
from harness.report.markup import escape
from harness.report.view import Break, breaks, crash_of, paths_of_crashes, setup_errors
from harness.text import more
from harness.visible import one_line

_COMMAND = 320  # characters, of the one under way when the engine broke
_CELL = 80  # characters of other commands, and of replies to them
_LISTED = 20  # refused setup commands named one by one
_TAIL = 8  # lines of standard error


class Crashes:
    """The ways that engines broke in the files of one page, each of which is told once."""

    def __init__(self, files: Iterable[FileResult]) -> None:
        self._paths = paths_of_crashes(files)
        self._told: dict[object, str] = {}

    def told(self, failure: Failure, path: str) -> str:
        """Return the case file in which it was told before; "": it is told now, in ``path``."""
        before = self._told.get(crash_of(failure), "")
        self._told.setdefault(crash_of(failure), path)
        return before

    def everywhere(self, failure: Failure) -> str:
        """Return a sentence about all the case files in which it happened; "": in one alone."""
        paths = self._paths.get(crash_of(failure), [])
        if len(paths) < 2:
            return ""
        return f"It broke in this way in {len(paths)} case files: {', '.join(paths)}."


def troubles(
    file: FileResult, log: Log | None = None, crashes: Crashes | None = None
) -> tuple[str, ...]:
    """Return a framed notice for each kind of trouble, "" where there is none of it.

    ``log``: the GTP log, which lines are linked to; None: there is none.
    ``crashes``: those of all files on the page; None: there is one file alone.
    """
    known = crashes or Crashes([file])
    return _failures(file, log, known), _setup_errors(file, log), _warnings(file)


def place(step: Step, log: Log | None) -> str:
    """Return where a command stands, as a link if there is a log to lead to."""
    return f'<a href="{log.at(step.line)}">line {step.line}</a>' if log else f"line {step.line}"


def _failures(file: FileResult, log: Log | None, crashes: Crashes) -> str:
    told = [crashes.told(one, file.case.path) for one in file.failures]
    boxes = [
        _break(one, log, _why(one.failure, before, crashes))
        for one, before in zip(breaks(file), told, strict=True)
    ]
    if boxes and not told[-1]:  # what it wrote belongs to all of them, and ends with the last
        title, text = boxes[-1]
        boxes[-1] = title, text + _stderr(file, log)
    return "".join(box(title, text) for title, text in boxes)


def _why(failure: Failure, before: str, crashes: Crashes) -> str:
    """Return how the engine broke, once on a page; then where that is told."""
    if before:
        return f"<p>In the same way as told at {escape(before)}.</p>"
    everywhere = crashes.everywhere(failure)
    more = f"<p>{escape(everywhere)}</p>" if everywhere else ""
    return f"<p>{escape(failure.message)}</p>{more}"


def _break(one: Break, log: Log | None, why: str) -> tuple[str, str]:
    """Return the title and the text of a notice of one time that the engine broke."""
    where = ""
    if step := one.step:
        command = f"<code>{escape(one_line(step.text, _COMMAND))}</code>"
        link = f'<a href="{log.at(step.line)}">{command}</a>' if log else command
        where = f"<p>At line {step.line}: {link}</p>"
    were = "test was" if one.not_run == 1 else "tests were"
    rest = f"<p>{one.not_run} {were} not run.</p>" if one.not_run else ""
    if one.goes_on:
        rest += f"<p>The engine was started again at {place(one.goes_on, log)}.</p>"
    title = f"The engine broke: {one.failure.kind.value}"
    return title, f"{why}{where}{rest}"


def _stderr(file: FileResult, log: Log | None) -> str:
    tail = "\n".join(file.stderr.rstrip().splitlines()[-_TAIL:])
    if not tail:
        return ""
    more = f' (<a href="{log.last}#stderr">all</a>)' if log else ""
    return f"<h4>Standard error ended with{more}</h4><pre>{escape(tail)}</pre>"


def _setup_errors(file: FileResult, log: Log | None) -> str:
    refused = setup_errors(file)
    if not refused:
        return ""
    listed = "".join(_refused(file, index, log) for index in refused[:_LISTED])
    title = f"Commands between the tests that the engine refused: {len(refused)}"
    rest = more(len(refused) - _LISTED, "<li>and {} more</li>")
    return box(title, f"<ul>{listed}{rest}</ul>", "warn")


def _refused(file: FileResult, index: int, log: Log | None) -> str:
    step, reply = file.case.steps[index], file.replies[index]
    answer = one_line(reply.raw, _CELL) if reply else ""
    return (
        f"<li>{place(step, log)}: "
        f"<code>{escape(one_line(step.text, _CELL))}</code> → <code>{escape(answer)}</code></li>"
    )


def _warnings(file: FileResult) -> str:
    return box("Protocol warnings", items(file.warnings), "warn") if file.warnings else ""
