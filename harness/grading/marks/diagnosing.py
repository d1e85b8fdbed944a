"""Diagnoses of a whole class: who answers the same has the same, and it is found once. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from harness.grading.records import PUBLIC, Attempt
from harness.judging.diagnosis import diagnoses, failures
from harness.records import Diagnosis, FileResult


class Diagnoser:
    """Diagnoses submissions by their public tests; private ones say nothing to students."""

    def __init__(self, place: Path) -> None:
        """``place``: the folder from which the names of case files go."""
        self._place = place
        self._known: dict[object, tuple[Diagnosis, ...]] = {}

    def of(self, attempts: Iterable[Attempt]) -> tuple[Diagnosis, ...]:
        """Return what explains all failures of a submission, as far as known."""
        files = [one.result for one in attempts if one.kind == PUBLIC and one.result]
        if not any(map(failures, files)):
            return ()
        answers = tuple(map(_answers, files))
        if answers not in self._known:
            with contextlib.chdir(self._place):
                self._known[answers] = diagnoses(files)
        return self._known[answers]


def _answers(file: FileResult) -> tuple[object, ...]:
    """Return all that a diagnosis depends on."""
    failures = tuple((failure.kind, failure.step) for failure in file.failures)
    return file.case, tuple(reply and reply.raw for reply in file.replies), failures
