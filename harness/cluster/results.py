"""Results of workers: whether a report has the right form, and which of several is believed."""

import enum
from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from harness.cluster.records import WorkerReport
from harness.core.errors import HarnessError, UsageError
from harness.core.records import CaseFile, FileResult
from harness.work import canonical_json, records
from harness.work.records import AttemptEvent, AttemptFinished, BuildFinished, HarnessFailed

_ENOUGH = 3  # opinions


class RoundVerdict(NamedTuple):
    """The result of a round: what is believed."""

    word: AttemptFinished | HarnessFailed
    liars: tuple[str, ...] = ()  # addresses of workers
    why: str = ""  # something was wrong


class _Opinion(NamedTuple):
    address: str
    machine: str
    word: AttemptFinished


class ResultVotes:
    """The results of several workers for the same attempts."""

    def __init__(self) -> None:
        self._found: dict[str, list[_Opinion]] = {}

    def add(self, address: str, machine: str, word: AttemptFinished) -> RoundVerdict | None:
        """Take in what a worker says; return what is believed, None: another one is to say it."""
        found = self._found.setdefault(word.basis, [])
        found.append(_Opinion(address, machine, word))
        first = found[0]
        if len(found) >= _ENOUGH:
            return _of_three(found)
        return RoundVerdict(first.word) if found[1:] and _agree(first.word, word) else None

    def machines(self, basis: str) -> set[str]:
        """Return where an attempt was done."""
        return {one.machine for one in self._found.get(basis, [])}

    def close(self, basis: str) -> RoundVerdict | None:
        """Return the verdict if no other opinion can come, or None without opinions.

        If one alone has said something, that is. Two that differ decide nothing.
        """
        found = self._found.get(basis, [])
        if len(found) > 1:
            return _refuse_all(found)
        return RoundVerdict(found[0].word) if found else None


def _of_three(opinions: list[_Opinion]) -> RoundVerdict:
    """Return the verdict of three opinions; the first two differ."""
    last = opinions[-1]
    machines = {one.machine for one in opinions}
    for believed, other in ((opinions[0], opinions[1]), (opinions[1], opinions[0])):
        if _agree(believed.word, last.word):
            if believed.machine == last.machine:
                return _refuse_all(opinions)
            why = "its result of a case file differs from that of two others"
            is_sure = len(machines) == _ENOUGH
            liars = (other.address,) if is_sure else ()
            return RoundVerdict(believed.word, liars, why if is_sure else _unsure(opinions))
    # Nobody agrees with anybody: it is rerun, alone.
    return RoundVerdict(opinions[0].word._replace(doubtful=True), (), _unsure(opinions))


def _refuse_all(opinions: list[_Opinion]) -> RoundVerdict:
    """Return that no result is believed: a mark that may be wrong is worse than none."""
    why = f"{_unsure(opinions)}. A worker on another machine would decide"
    return RoundVerdict(HarnessFailed(opinions[0].word.basis, why), (), why)


def _unsure(opinions: list[_Opinion]) -> str:
    machines = ", ".join(dict.fromkeys(one.machine for one in opinions))
    return f"runs on {machines} differ, and nothing tells which of them is right"


def _agree(event: AttemptFinished, other_event: AttemptFinished) -> bool:
    return _verdicts(event.result) == _verdicts(other_event.result)


def _verdicts(text: str) -> object:
    if text == records.NOTHING:
        return None
    result = canonical_json.loads(FileResult, text)
    verdicts = [(outcome.step, outcome.verdict) for outcome in result.outcomes]
    return verdicts, [failure.kind for failure in result.failures]


# --- Check a worker's report: only a report with the right form for its unit is used -------------
# A worker may be in hostile hands. So nothing of its report is used before all of it is checked:
# each line is an event, each event is about the unit, each result is possible for the case file.
# Whether such a result is true is another question, which second opinions answer.


class UnbelievableError(HarnessError):
    """A report that does not answer the unit: nothing of it is used."""


def read_report(text: str) -> WorkerReport:
    """Return what a worker says; raises :class:`UnbelievableError`."""
    try:
        return canonical_json.read(WorkerReport, text, "what a worker brought")
    except UsageError as error:
        raise UnbelievableError(str(error)) from None


def read_events(
    report: WorkerReport, unit: records.WorkUnit, cases: Mapping[str, CaseFile]
) -> tuple[list[AttemptEvent], records.UnitFinished]:
    """Return the words of a worker about a unit, and how it ended.

    ``unit``: with the worker's pace. ``cases``: the case files of the unit, by basis.

    Raises:
        UnbelievableError: they are not about the unit, or not what a worker can say of it.
    """
    try:
        said = [records.parse(line.encode()) for line in report.lines]
    except (UsageError, UnicodeEncodeError) as error:
        raise UnbelievableError(str(error)) from None
    last = said[-1][0] if said else None
    if not isinstance(last, records.UnitFinished):
        raise UnbelievableError("it does not say that it has come to the end")
    kept: list[AttemptEvent] = []
    for word, result in said[:-1]:
        if isinstance(word, BuildFinished | AttemptFinished | HarnessFailed):
            _check(word, unit, cases, kept)
            if isinstance(word, AttemptFinished) and result is not None:
                _check_result(result, cases[word.basis])
            kept.append(word)
        elif (
            not isinstance(word, records.ProgressEvent | records.EngineHung)
            or word.basis not in cases
        ):
            raise UnbelievableError(f"it says {type(word).__name__.lower()} where nobody asked")
    return kept, last


def _check(
    word: AttemptEvent,
    unit: records.WorkUnit,
    cases: Mapping[str, CaseFile],
    before: Collection[AttemptEvent],
) -> None:
    if isinstance(word, BuildFinished):
        if word.basis != unit.build:
            raise UnbelievableError("it has built something else")
        return
    told = {one.basis for one in before if not isinstance(one, BuildFinished)}
    if word.basis not in cases or word.basis in told:
        raise UnbelievableError("it tells of a case file that it was not asked, or twice")
    if isinstance(word, AttemptFinished):
        if word.figures.pace != unit.pace:
            raise UnbelievableError("it has limited an engine by another pace than its own")
        if not word.figures.started.isascii():  # the ledger's column cannot hold all other text
            raise UnbelievableError("its time of an attempt is not in ISO 8601")


def _check_result(value: Any, case: CaseFile) -> None:
    """Check that a result from JSON has the fields and values that we write."""
    if not _tester(FileResult)(value):
        raise UnbelievableError("a result is not what the result of a case file is made of")
    tests = [index for index, step in enumerate(case.steps) if step.is_test]
    steps = [one["step"] for one in value["outcomes"]]
    if len(value["replies"]) != len(case.steps) or steps != tests:
        raise UnbelievableError("a result has other commands or tests than its case file")
    named = [one["step"] for one in (*value["failures"], *value["restarts"])]
    if any(step is not None and not 0 <= step <= len(case.steps) for step in named):
        raise UnbelievableError("a result names a command that its case file does not have")


@cache
def _tester(kind: Any) -> Callable[[Any], bool]:
    """Return what tells whether a value is of a type, worked out once for each type."""
    if get_origin(kind) in (Union, UnionType):
        tests = [_tester(one) for one in get_args(kind)]
        return lambda found: any(test(found) for test in tests)
    if get_origin(kind) is tuple:
        test = _tester(get_args(kind)[0])
        return lambda found: isinstance(found, list) and all(map(test, found))
    if hasattr(kind, "_fields"):
        fields = {name: _tester(one) for name, one in get_type_hints(kind).items()}
        return lambda found: (
            isinstance(found, dict)
            and found.keys() == fields.keys()
            and all(test(found[name]) for name, test in fields.items())
        )
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        values = [one.value for one in kind]
        return lambda found: found in values
    if kind in {int, float}:
        return canonical_json.tester(kind)
    return lambda found: type(found) is kind
