"""Troubles of a whole case file: the engine failed, setup was refused, warnings."""

from __future__ import annotations

from collections.abc import Iterable

from harness.records import Failure, FileResult, Step
from harness.report.file_view import Break, breaks, crash_of, paths_of_crashes, setup_errors
from harness.report.html.page_names import LogPages
from harness.report.html.parts import box, items
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import count_rest, one_line

_COMMAND = 320  # characters, of the one under way when the engine failed
_CELL = 80  # characters of other commands, and of replies to them
_LISTED = 20  # refused setup commands named one by one
_TAIL = 8  # lines of standard error


class Crashes:
    """The ways that engines failed in the files of one page; each is told once."""

    def __init__(self, files: Iterable[FileResult]) -> None:
        self._paths = paths_of_crashes(files)
        self._told: dict[object, str] = {}

    def find_first_place(self, failure: Failure, path: str) -> str:
        """Return the case file in which it was told before; "" if it is told now, in ``path``."""
        before = self._told.get(crash_of(failure), "")
        self._told.setdefault(crash_of(failure), path)
        return before

    def everywhere(self, failure: Failure) -> str:
        """Return a sentence about all the case files in which it happened; "": in one alone."""
        paths = self._paths.get(crash_of(failure), [])
        if len(paths) < 2:
            return ""
        return f"The same failure in {len(paths)} case files: {', '.join(paths)}."


def troubles(
    file: FileResult, log: LogPages | None = None, crashes: Crashes | None = None
) -> tuple[Markup, ...]:
    """Return a framed notice for each kind of trouble that occurred.

    ``log``: the GTP log, which lines are linked to; None if there is none.
    ``crashes``: those of all files on the page; None if there is one file alone.
    """
    known = crashes or Crashes([file])
    return _failures(file, log, known), _setup_errors(file, log), warnings(file)


def place(step: Step, log: LogPages | None) -> Markup:
    """Return where a command stands, as a link if there is a log to lead to."""
    if log:
        return Markup('<a href="%s">line %s</a>') % (log.at(step.line), step.line)
    return Markup("line %s") % step.line


def _failures(file: FileResult, log: LogPages | None, crashes: Crashes) -> Markup:
    told = [crashes.find_first_place(one, file.case.path) for one in file.failures]
    boxes = [
        _break(one, log, _why(one.failure, before, crashes))
        for one, before in zip(breaks(file), told, strict=True)
    ]
    if boxes and not told[-1]:  # what it wrote belongs to all of them, and ends with the last
        title, text = boxes[-1]
        boxes[-1] = title, text + _stderr(file, log)
    return join_markup(box(title, text) for title, text in boxes)


def _why(failure: Failure, before: str, crashes: Crashes) -> Markup:
    """Return how the engine failed, once on a page; then where that is told."""
    if before:
        return Markup("<p>In the same way as told at %s.</p>") % before
    everywhere = crashes.everywhere(failure)
    told = Markup("<p>%s</p>") % failure.message
    return told + Markup("<p>%s</p>") % everywhere if everywhere else told


def _break(one: Break, log: LogPages | None, why: Markup) -> tuple[str, Markup]:
    """Return the title and the text of a notice of one time that the engine failed."""
    where = NOTHING
    if step := one.step:
        command = Markup("<code>%s</code>") % one_line(step.text, _COMMAND)
        link = Markup('<a href="%s">%s</a>') % (log.at(step.line), command) if log else command
        where = Markup("<p>At line %s: %s</p>") % (step.line, link)
    were = "test was" if one.not_run == 1 else "tests were"
    rest = Markup("<p>%s %s not run.</p>") % (one.not_run, were) if one.not_run else NOTHING
    if one.goes_on:
        again = Markup("<p>The engine was started again at %s.</p>")
        rest += again % place(one.goes_on, log)
    return f"Engine failure: {one.failure.kind.value}", join_markup((why, where, rest))


def _stderr(file: FileResult, log: LogPages | None) -> Markup:
    tail = "\n".join(file.stderr.rstrip().splitlines()[-_TAIL:])
    if not tail:
        return NOTHING
    more = Markup(' (<a href="%s">all</a>)') % log.stderr if log else NOTHING
    shown = Markup('<p class="lab">Standard error ended with%s</p><pre tabindex="0">%s</pre>')
    return shown % (more, tail)


def _setup_errors(file: FileResult, log: LogPages | None) -> Markup:
    refused = setup_errors(file)
    if not refused:
        return NOTHING
    listed = [_refusal(file, index, log) for index in refused[:_LISTED]]
    rest = count_rest(len(refused) - _LISTED, "and {} more")
    title = f"Commands between the tests that the engine refused: {len(refused)}"
    return box(title, items([*listed, rest] if rest else listed), "warn")


def _refusal(file: FileResult, index: int, log: LogPages | None) -> Markup:
    step, reply = file.case.steps[index], file.replies[index]
    answer = one_line(reply.raw, _CELL) if reply else ""
    shown = Markup("%s: <code>%s</code> &rarr; <code>%s</code>")
    return shown % (place(step, log), one_line(step.text, _CELL), answer)


def warnings(file: FileResult) -> Markup:
    """Return a framed notice of how an engine strays from its protocol, if it does."""
    return box("Protocol warnings", items(file.warnings), "warn") if file.warnings else NOTHING
