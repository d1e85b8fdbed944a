"""Check a worker's report: only a report with the right form for its unit is used.

A worker may be in hostile hands. So nothing of its report is used before all of it is checked:
each line is an event, each event is about the unit, each result is possible for the case file.
Whether such a result is true is another question, which second opinions answer.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Collection, Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from harness.cluster.records import WorkerReport
from harness.errors import HarnessError, UsageError
from harness.records import CaseFile, FileResult
from harness.work import canonical_json, plain_values, worker_events
from harness.work.canonical_json import NOTHING
from harness.work.records import WorkUnit
from harness.work.worker_events import (
    AttemptEvent,
    AttemptFinished,
    BuildFinished,
    EngineHung,
    HarnessFailed,
    ProgressEvent,
    UnitFinished,
)


class UnbelievableError(HarnessError):
    """A report that does not answer the unit: nothing of it is used."""


def read_report(text: str) -> WorkerReport:
    """Return what a worker says; raises :class:`UnbelievableError`."""
    try:
        return plain_values.read(WorkerReport, text, "what a worker brought")
    except UsageError as error:
        raise UnbelievableError(str(error)) from None


def read_events(
    found: WorkerReport, unit: WorkUnit, cases: Mapping[str, CaseFile]
) -> tuple[list[AttemptEvent], UnitFinished]:
    """Return the words of a worker about a unit, and how it ended.

    ``unit``: with the worker's pace. ``cases``: the case files of the unit, by basis.

    Raises:
        UnbelievableError: they are not about the unit, or not what a worker can say of it.
    """
    try:
        said = [worker_events.read(line.encode()) for line in found.lines]
    except (UsageError, UnicodeEncodeError) as error:
        raise UnbelievableError(str(error)) from None
    if not said or not isinstance(said[-1], UnitFinished):
        raise UnbelievableError("it does not say that it has come to the end")
    kept: list[AttemptEvent] = []
    for word in said[:-1]:
        if isinstance(word, BuildFinished | AttemptFinished | HarnessFailed):
            _check(word, unit, cases, kept)
            kept.append(word)
        elif not isinstance(word, ProgressEvent | EngineHung) or word.basis not in cases:
            raise UnbelievableError(f"it says {type(word).__name__.lower()} where nobody asked")
    return kept, said[-1]


def _check(
    word: AttemptEvent,
    unit: WorkUnit,
    cases: Mapping[str, CaseFile],
    before: Collection[AttemptEvent],
) -> None:
    if isinstance(word, BuildFinished):
        if word.basis != unit.build:
            raise UnbelievableError("it has built something else")
        return
    if word.basis not in cases or any(_is_of(one, word.basis) for one in before):
        raise UnbelievableError("it tells of a case file that it was not asked, or twice")
    if isinstance(word, AttemptFinished) and word.figures.pace != unit.pace:
        raise UnbelievableError("it has limited an engine by another pace than its own")
    if isinstance(word, AttemptFinished) and word.result != NOTHING:
        _check_result(word.result, cases[word.basis])


def _is_of(word: AttemptEvent, basis: str) -> bool:
    return not isinstance(word, BuildFinished) and word.basis == basis


def _check_result(text: str, case: CaseFile) -> None:
    found = json.loads(text)
    if not is_of(FileResult, found):
        raise UnbelievableError("a result is not what the result of a case file is made of")
    result = canonical_json.loads(FileResult, text)
    tests = [index for index, step in enumerate(case.steps) if step.is_test]
    steps = [one.step for one in result.outcomes]
    if len(result.replies) != len(case.steps) or steps != tests:
        raise UnbelievableError("a result has other commands or tests than its case file")
    named = [*(one.step for one in result.failures), *(one.step for one in result.restarts)]
    if any(step is not None and not 0 <= step <= len(case.steps) for step in named):
        raise UnbelievableError("a result names a command that its case file does not have")
    if canonical_json.dumps(result) != text:
        raise UnbelievableError("a result is not written as results are")


def is_of(kind: Any, found: Any) -> bool:
    """Whether a value read from JSON is of a type, in whatever it is made of."""
    if get_origin(kind) in (Union, UnionType):
        kinds = [NoneType if one is None else one for one in get_args(kind)]
        return any(is_of(one, found) for one in kinds)
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        return isinstance(found, list) and all(is_of(inner, one) for one in found)
    if hasattr(kind, "_fields"):
        return _is_record(kind, found)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return found in [one.value for one in kind]
    if kind is float:
        return isinstance(found, int | float) and not isinstance(found, bool)
    return type(found) is kind


def _is_record(kind: Any, found: Any) -> bool:
    kinds = get_type_hints(kind)
    if not isinstance(found, dict) or found.keys() - kinds.keys():
        return False
    needed = set(kind._fields) - set(kind._field_defaults)
    return needed <= found.keys() and all(is_of(kinds[key], one) for key, one in found.items())
