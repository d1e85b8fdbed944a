"""The build steps and the public tests: what they print, where they fail, and what explains it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from harness.assignments.build_steps import build
from harness.assignments.public_tests import (
    TrialResult,
    explain,
    run_public_tests,
    shorten_path,
    troubles,
    unknowns,
)
from harness.assignments.python import advise_on_module
from harness.check.check_context import CheckContext
from harness.escaping import escape_controls, one_line
from harness.judging.diagnosis import diagnoses
from harness.options import Options
from harness.records import FileResult
from harness.report.file_view import crash_of, paths_of_crashes
from harness.report.progress import LiveProgress
from harness.report.tally import phrases, tally, total
from harness.text import number_of

MOST_HUNG = 3  # files whose engine hangs; after them nobody need wait for the others
_SHOWN = 40  # lines of a build's output


def build_and_show(context: CheckContext) -> bool:
    """Build on the stage and show what is said; return whether there is something to be run."""
    sayer, assignment = context.sayer, context.assignment
    if assignment.build:
        sayer.step(f"The build: {'; '.join(map(_show_step, assignment.build.steps))}")
    made = build(assignment, context.stage, context.wanted.sandbox)
    if made is None:
        return True
    lines = escape_controls(made.output).rstrip().splitlines()
    for line in _shorten(lines):
        sayer.note(line)
    if made.ok:
        sayer.note("built" if lines else "built, with no output")
    else:
        sayer.faults([one_line(made.message)])
    return made.ok


def _show_step(step: tuple[str, ...]) -> str:
    words = step[2:] if step[:2] == ("sh", "-c") else step
    return one_line(" ".join(words).replace("{adapter}/", "").replace("{folder}/", ""))


def _shorten(lines: list[str]) -> list[str]:
    """Return the first lines and the last: a compiler's first error counts most."""
    left_out = len(lines) - _SHOWN
    if left_out <= 0:
        return lines
    cut = _SHOWN * 3 // 4
    return [*lines[:cut], f"[… {left_out} lines …]", *lines[-(_SHOWN - cut) :]]


class Testing:
    """The public tests."""

    def __init__(self, context: CheckContext) -> None:
        self._context = context
        self._assignment = context.assignment
        self._sayer = context.sayer
        files = len(context.assignment.public_cases())
        self._live = LiveProgress(files) if context.wanted.live else None
        self._told: set[object] = set()  # ways to break that were shown in full

    def run(self) -> TrialResult:
        """Run them against what lies on the stage."""
        self._sayer.step("The public tests")
        wanted = self._context.wanted
        lines = wanted.line or None
        options = Options(
            sandbox=wanted.sandbox, jobs=wanted.jobs, most_hung=MOST_HUNG, lines=lines
        )
        update = self._live.update if self._live else None
        try:
            trial = run_public_tests(
                self._assignment, self._context.stage, options, self._tell_of, update
            )
        finally:
            if self._live:
                self._live.stop()
        self._sum_up(trial)
        return trial

    def _tell_of(self, file: FileResult) -> None:
        with self._live.hide() if self._live else nullcontext():
            self._tell(file)

    def _tell(self, file: FileResult) -> None:
        """Say how one case file went, and show what went wrong."""
        seen = explain(file, self._assignment)
        counts = ", ".join(words for _, _, words in phrases(seen.tally))
        self._sayer.note(f"{seen.file.case.path:24} {counts}")
        crashes = set(map(crash_of, file.failures))
        if crashes and crashes <= self._told and not seen.remarkable:
            self._sayer.note("the same engine failure as before", "bad")
            return
        self._told |= crashes
        self._sayer.paragraphs(self._sayer.terminal.file(seen))

    def _sum_up(self, trial: TrialResult) -> None:
        sayer, files = self._sayer, trial.result.files
        counts = phrases(total(map(tally, files)))
        sayer.note(f"{'in all':24} {', '.join(words for _, _, words in counts)}")
        for one in diagnoses(files):
            first, *others = map(escape_controls, one.lines)
            sayer.note(f"diagnosis: {first}", "warn")
            for other in others:
                sayer.note(f"  - {other}", "warn")
        for paths in paths_of_crashes(files).values():
            names = ", ".join(shorten_path(path, self._assignment) for path in paths)
            if len(paths) > 1:
                sayer.note(f"the same engine failure in {len(paths)} case files: {names}", "bad")
        if python := self._assignment.python:
            what = "adapter" if self._assignment.adapter else "engine"
            sayer.note(f"The {what} was run by {escape_controls(python.described)}.")
            for advice in self._advice(files):
                sayer.note(f"{advice}.", "warn")
        if trial.no_sandbox:
            sayer.note(f"Run without a sandbox: {trial.no_sandbox}.", "warn")
        else:
            sayer.note(f"Run in a sandbox, {trial.result.options['sandbox']}.")
        sayer.wrong += troubles(trial.result)
        sayer.unknown += unknowns(trial.result)
        sayer.odd += _odd(files)

    def _advice(self, files: Sequence[FileResult]) -> list[str]:
        """Return what to do about packages; a module may be the missing folder's."""
        overlay = self._assignment.engine.overlay
        if overlay and not (self._context.stage / overlay).is_dir():
            return []
        reasons = (one.reason for file in files for one in file.failures)
        return list(dict.fromkeys(filter(None, map(advise_on_module, reasons))))


def _odd(files: Sequence[FileResult]) -> list[str]:
    """Return what costs no test here, and may well do so elsewhere."""
    count = sum(bool(file.warnings) for file in files)
    where = f"in {count} of {number_of(len(files), 'file')}"
    return [f"the engine violates the protocol {where}, see '! protocol' above"] if count else []
