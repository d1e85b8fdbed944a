"""The results of the files of a run: taken from other processes as they come, and put in order."""

from __future__ import annotations

import contextlib
import copyreg
from collections.abc import Callable, Sequence
from functools import partial

from harness.options import Options
from harness.processes import processors
from harness.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Progress,
    Reply,
    Verdict,
    Waiting,
)
from harness.running import jobs
from harness.running.file_runner import Judged, RunContext, not_run, run_file
from harness.typed import NamedTuple

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    _Packed = tuple[Callable[..., FileResult], tuple[Any, ...]]

_NO_CASE = CaseFile("", (), ())


class RunListeners(NamedTuple):
    """The listeners of a run."""

    on_progress: Callable[[Progress], None] | None = None
    on_file: Callable[[FileResult], None] | None = None
    on_test: Callable[[CaseFile, Outcome], None] | None = None  # of one file at a time only


class ResultCollector:
    """Runs files, one after the other or in parallel, and puts their results in order.

    ``results`` has those of the first files, without a gap; ``faults`` a text for each file that
    came to nothing because the harness failed.
    """

    def __init__(
        self, cases: Sequence[CaseFile], options: Options, listeners: RunListeners
    ) -> None:
        self.results: list[FileResult] = []
        self.faults: list[str] = []
        self._cases = cases
        self._options = options
        self._on_progress = listeners.on_progress or (lambda _: None)
        self._on_test = listeners.on_test
        self._on_file = listeners.on_file or (lambda _: None)
        self._totals = [sum([step.is_test for step in case.steps]) for case in cases]
        self._early: dict[int, FileResult] = {}  # those after a gap
        self._cut: dict[int, FileResult] = {}  # those broken off

    def run(self, setting: RunContext) -> None:
        """Run all files, until one says that it was the last."""
        workers = min(self._workers(), len(self._cases))
        if workers <= 1 and not self._options.rerun and not setting.dialect.settles_late:
            setting = setting._replace(on_test=self._on_test)
        setting = setting._replace(crowded=workers >= processors())
        if workers > 1:
            register()
        work = partial(_run_case, setting)
        running = jobs.run_all(
            self._cases, work, workers, self._progress, setting.leave, hear_out=True
        )
        with contextlib.closing(running):
            for place, result in running:
                if self._arrive(place, result):
                    break
        for place, case in list(enumerate(self._cases))[len(self.results) :]:
            early = self._early.get(place) if self._has_hung() else None
            self.results.append(early or not_run(case, self._why_not()))
            self._on_file(self.results[-1])

    def so_far(self) -> tuple[list[FileResult], list[str]]:
        """Return a result for each file, and which have come to none: when all is broken off."""
        found = dict(enumerate(self.results)) | self._early
        missing = [case.path for place, case in enumerate(self._cases) if place not in found]
        found = self._cut | found
        cases = enumerate(self._cases)
        return [found.get(place) or not_run(case) for place, case in cases], missing

    def _workers(self) -> int:
        if self._options.verbose:
            return 1
        return self._options.jobs or processors()

    def _progress(self, place: int, event: object) -> None:
        case = self._cases[place]
        if isinstance(event, FileResult):  # one that ended when all was being broken off
            self._early[place] = event._replace(case=case)
            return
        if not isinstance(event, Judged):
            return  # a fault: the file is one that was not run
        if event.cut:
            self._cut[place] = event.cut._replace(case=case)
            return
        self._tell(place, event.done, event.failed, wait=event.waiting)

    def _arrive(self, place: int, result: FileResult | jobs.Fault) -> bool:
        """Take a result, hand on those whose turn it is; return whether the run is over."""
        case = self._cases[place]
        if isinstance(result, jobs.Fault):
            self.faults.append(f"{case.path}: {result.message}\n{result.details}".rstrip())
            result = not_run(case)
        result = result._replace(case=case)
        failed = sum(outcome.verdict is Verdict.FAILED for outcome in result.outcomes)
        self._tell(place, len(result.outcomes), failed, result)
        self._early[place] = result
        while (ready := self._early.pop(len(self.results), None)) is not None:
            self.results.append(ready)
            self._on_file(ready)
            if self._is_last(ready):
                return True
        return self._has_hung()

    def _has_hung(self) -> bool:
        """Whether so many files hung that waiting for the others would tell nothing new."""
        most = self._options.most_hung
        known = (*self.results, *self._early.values())
        return 0 < most <= sum(any(map(_is_hang, file.failures)) for file in known)

    def _why_not(self) -> Failure | None:
        """Return why a file was not run, where that is the engine's own fault."""
        if not self._has_hung():
            return None
        count = self._options.most_hung
        return Failure(
            FailureKind.TIMEOUT, f"Not run: the engine had hung in {count} files before."
        )

    def _is_last(self, result: FileResult) -> bool:
        if result.failure is not None and result.failure.kind is FailureKind.SETUP:
            return True
        failed = any(outcome.verdict is Verdict.FAILED for outcome in result.outcomes)
        return self._options.fail_fast and failed

    def _tell(
        self,
        place: int,
        done: int,
        failed: int,
        result: FileResult | None = None,
        wait: Waiting | None = None,
    ) -> None:
        path, total = self._cases[place].path, self._totals[place]
        self._on_progress(Progress(place, path, done, total, failed, result, wait))


def _is_hang(failure: Failure) -> bool:
    return failure.kind in (FailureKind.TIMEOUT, FailureKind.CPU)


def _run_case(setting: RunContext, case: CaseFile, note: jobs.Note) -> FileResult:
    """Run a case file as often as it is asked for; ``note``: is told how far it is."""
    runs: list[FileResult] = []

    def tell(progress: Judged) -> None:
        if progress.cut:
            # A run that is whole is worth more than a second one that is broken off.
            known = _merge(runs) if runs else progress.cut
            progress = progress._replace(cut=known._replace(case=_NO_CASE))
        note(progress)

    tell(Judged(0, 0))
    for _ in range(1 + setting.options.rerun):
        runs.append(run_file(case, setting, tell))
    result = _merge(runs)
    if any(map(_is_hang, result.failures)):
        from harness.running.rerun import explain_silence

        try:
            result = explain_silence(result, setting)
        except KeyboardInterrupt:
            tell(Judged(0, 0, result))
            raise
    # The caller has the case: it need not be sent back from another process.
    return result._replace(case=_NO_CASE)


def _merge(runs: Sequence[FileResult]) -> FileResult:
    if len(runs) == 1:
        return runs[0]
    from harness.running.rerun import merge

    return merge(runs)


# --- The transfer of a file's result from one process to another, in few records -----------------
# For each named tuple :mod:`pickle` asks by functions of Python how it is made, which took as long
# as to split the replies. Most commands have the same few replies: each travels once, as a plain
# tuple, and for the rest its place in the row of them.


_new = tuple.__new__


def pack(file: FileResult) -> _Packed:
    """Return what makes a result again, and what that is given; see :func:`copyreg.pickle`."""
    own = [*file.before, *file.after]
    replies = [*file.replies, *(one.reply for one in file.outcomes), *(one.reply for one in own)]
    known = dict(zip(map(id, replies), replies, strict=True))
    places = {one: place for place, one in enumerate(known)}
    return unpack, (
        [None if reply is None else tuple(reply) for reply in known.values()],
        [places[id(reply)] for reply in replies],
        [(step, verdict, flaky) for step, verdict, _, flaky in file.outcomes],
        [one.text for one in file.before],
        [one.text for one in file.after],
        tuple(file._replace(replies=(), outcomes=(), before=(), after=())),
    )


def unpack(  # noqa: PLR0913, PLR0917 - as pickle hands them over
    shared_replies: Sequence[tuple[Any, ...] | None],
    places: Sequence[int],
    outcomes: Sequence[tuple[int, Verdict, bool]],
    before: Sequence[str],
    after: Sequence[str],
    fields: tuple[Any, ...],
) -> FileResult:
    """Return the result again.

    ``shared_replies``: each once. ``places``: which of them was given to each command of the
    file, to each test, to each of the harness's own commands, ``before`` the file and ``after``.
    """
    records = [None if one is None else _new(Reply, one) for one in shared_replies]
    replies = [records[place] for place in places]
    own = [*before, *after]
    of_tests, of_own = len(replies) - len(outcomes) - len(own), len(replies) - len(own)
    exchanges = list(map(Exchange, own, replies[of_own:]))
    judged = zip(outcomes, replies[of_tests:of_own], strict=True)
    return FileResult(*fields)._replace(
        replies=tuple(replies[:of_tests]),
        outcomes=tuple([_new(Outcome, (step, one, reply, f)) for (step, one, f), reply in judged]),
        before=tuple(exchanges[: len(before)]),
        after=tuple(exchanges[len(before) :]),
    )


def register() -> None:
    """Let results travel so from now on."""
    copyreg.pickle(FileResult, pack)
