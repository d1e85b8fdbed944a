"""Progress of a running job in the queue, and live results for those who watch."""

import json
from collections.abc import Sequence

from harness.grading.attempts.orders import GradingListener
from harness.reading import casefile
from harness.records import Step
from harness.service import monitoring, records
from harness.service.jobs.assignment_context import AssignmentContext
from harness.service.storage import queue, uploads
from harness.text import one_line
from harness.work import records as work_records

BEGUN = json.dumps({"word": "begun"})  # a check, once more
_LONGEST_COMMAND = 60  # characters that are told of the test that runs


class ProgressRecorder(GradingListener):
    """Notes in the queue that a job gets on, and counts attempts."""

    def __init__(self, context: AssignmentContext, job: records.Job) -> None:
        self._context = context
        self._job = job

    def on_event(self, unit: work_records.WorkUnit, event: work_records.AttemptEvent) -> None:
        """Take in what a worker says."""
        match event:
            case work_records.AttemptFinished(figures=figures, doubtful=doubtful, failed=failed):
                seconds = figures.seconds
                # One in doubt is run once more, and counts again.
                outcome = "in doubt" if doubtful else "failed" if failed else "passed"
            case work_records.HarnessFailed():
                seconds, outcome = 0.0, "harness error"
            case _:
                return
        with self._context.database.changing() as db:
            queue.add_figure(db, monitoring.ATTEMPTS, seconds, outcome=outcome)
            if isinstance(event, work_records.AttemptFinished):
                queue.note_progress(db, self._job)


class LiveResultPublisher(ProgressRecorder):
    """Tells those who watch a page what was judged. Public case files only come here."""

    def __init__(self, context: AssignmentContext, job: records.Job) -> None:
        super().__init__(context, job)
        self._now: dict[str, object] = {}  # the test that runs
        self._shown: dict[str, object] = {}  # the one that is told of
        self._number = 0  # of the word that tells of it
        self._steps: dict[str, Sequence[Step]] = {}  # of case files, by their SHA-256

    def on_event(self, unit: work_records.WorkUnit, event: work_records.AttemptEvent) -> None:
        """Take in what a worker says."""
        self._now = {}
        told: dict[str, object]
        match event:
            case work_records.BuildFinished(build=build):
                told = {"word": "built", "ok": build.ok}
            case work_records.HarnessFailed():
                told = {"word": "broke"}
            case _:
                told = {"word": "done", "failed": event.failed, "again": event.doubtful}
        self._say({"case": _case_name(unit, event.basis), **told})
        super().on_event(unit, event)

    def on_progress(self, unit: work_records.WorkUnit, event: work_records.ProgressEvent) -> None:
        """Take note of the test that runs now; files that end at once are not told of."""
        case = next(case for case in unit.cases if case.basis == event.basis)
        if case.sha256 not in self._steps:
            content = self._context.ledger.content(case.sha256)
            self._steps[case.sha256] = casefile.parse(content, case.name).steps
        self._now = _running(case.name, self._steps[case.sha256], event)

    def on_time(self, under_way: Sequence[work_records.WorkUnit]) -> None:
        """Tell which test runs now, unless that is known."""
        if self._now and self._now != self._shown:
            self._say(self._now)

    def _say(self, word: dict[str, object]) -> None:
        with self._context.database.changing() as db:
            number = uploads.say(db, self._job.about, json.dumps(word), self._number)
        self._shown, self._number = (word, number) if word["word"] == "running" else ({}, 0)


def _case_name(unit: work_records.WorkUnit, basis: str) -> str:
    return next((case.name for case in unit.cases if case.basis == basis), "")


def _running(
    name: str, steps: Sequence[Step], event: work_records.ProgressEvent
) -> dict[str, object]:
    """Return facts about the test that is judged next, or none after the last one."""
    judged = event.step if isinstance(event, work_records.CaseProgress) else -1
    tests = [place for place, step in enumerate(steps) if step.is_test]
    left = [place for place in tests if place > judged]
    if not left:
        return {}
    return {
        "word": "running",
        "case": name,
        "test": len(tests) - len(left) + 1,
        "of": len(tests),
        "command": one_line(steps[left[0]].text, _LONGEST_COMMAND),
    }
