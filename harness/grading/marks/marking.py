"""Compute marks from recorded results, in exact fractions, at any time again. Pure.

These rules decide, in this order:

1. Nothing usable was submitted, or it came after the late deadline: no points.
2. The harness failed to read it or in a case file, or has not run one: the mark is *withheld*.
   Its parts are given as far as they are known; nothing is to be exported.
3. The submission cannot be built, or its engine never answers: ``does_not_run``, for everything.
4. Else each part by its rule. Tests that were not reached because the engine failed are failed.

A test that could not be judged does not count, neither as passed nor in the number of tests. If no
test of a part could be judged, the mark is withheld. Tests marked ``*`` do not count; a part
without tests is worth nothing. For a flaky test the last run counts, which was alone on the
machine (for moves that an engine chooses see :mod:`harness.work.fairness`); the reason gives the
number of flaky tests.
"""

import datetime
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import PurePosixPath
from typing import NamedTuple

from harness.assignments.assignment import Assignment, Late, MarkPart
from harness.assignments.clock_changes import measure
from harness.assignments.contents import missing_of
from harness.core.records import CaseFile, Reply, Step, Verdict
from harness.core.text import number_of, one_line, plural, sentence
from harness.grading.records import PRIVATE, PUBLIC, Attempt, Marks, PartMark, Submission, decimal

_FILES = "files"  # what judges a part that needs no tests
_NOTHING = Fraction(0)
_ONE = Fraction(1)
_SHOWN = 60  # characters of an answer in a sentence
_PASSES = (Verdict.PASSED, Verdict.UNEXPECTED_PASS)


def marks(
    assignment: Assignment,
    submission: Submission,
    attempts: Sequence[Attempt],
    part_names: Collection[str] | None = None,
) -> Marks:
    """Return the mark of a submission.

    ``attempts``: one for each case file of the grading, in any order; variants do not affect a
    mark. ``part_names``: as :func:`find_tested` gives it, the same for a whole class; None for the
    parts that are judged by the kinds of the attempts, or for all without attempts. Another part
    is worth nothing here: it gives 0 points of 0.
    """
    counted = own(attempts)
    if part_names is None:
        kinds = {_FILES, *({one.kind for one in counted} or {PUBLIC, PRIVATE})}
        part_names = {part.name for part in assignment.marks if part.judged_by in kinds}
    rule = assignment.late.of(student.key for student in submission.students)
    late = lateness(rule, submission)
    if submission.refused or late.refused:
        note = sentence(submission.refused or late.reason)
        return _finish(_flat(assignment, part_names, note), note)
    if submission.unread:
        note = f"No mark yet: {sentence(submission.unread)}"
        return _finish(_flat(assignment, part_names, note), note, withheld=True)
    share = assignment.late.deduction / 100 if late.late else _NOTHING
    unknown = _explain_unknown(assignment, counted)
    if not unknown and (why := _why_not_run(assignment, counted)):
        # No points for any part, and those that not running gives, if it gives some.
        consolation = PartMark("does not run", assignment.does_not_run, _NOTHING, why)
        given = _flat(assignment, part_names, why)
        if consolation.points:
            given.append(consolation)
        return _finish(given, why, share, late.reason)
    parts = []
    for part in assignment.marks:
        mark, is_judged = _part(assignment, part, submission, counted, part_names)
        parts.append(mark)
        if part.points and not is_judged:
            unknown = unknown or f"none of the tests of {part.name!r} was judged."
    note = unknown and f"No mark yet: {unknown}"
    return _finish(parts, note, share, late.reason, withheld=bool(unknown))


def find_tested(
    assignment: Assignment, files: Iterable[tuple[str, str, CaseFile]]
) -> frozenset[str]:
    """Return the names of the parts that a grading can give points for.

    So what can be reached is the same for those who run as for those who do not. ``files``: kind,
    name and content of each case file of the grading.
    """
    known = list(files)
    return frozenset(
        part.name
        for part in assignment.marks
        if part.judged_by == _FILES
        or any(
            weight(part, names(name, step))
            for kind, name, case in known
            if kind == part.judged_by
            for step in list_tests(part, case)
        )
    )


def list_tests(part: MarkPart, case: CaseFile) -> list[Step]:
    """Return the tests of a case file that a part hangs on, whatever weight they have."""
    reliable = (step for step in case.steps if step.is_test and is_reliable(step))
    return [step for step in reliable if is_meant(part, step)]


# --- late --------------------------------------------------------------------------------------


class Lateness(NamedTuple):
    """The lateness of a submission."""

    late: bool
    refused: bool
    reason: str  # a phrase; empty when in time


def lateness(rule: Late, submission: Submission) -> Lateness:
    """Return whether a submission is late, by its time or, without a time, by the source's word.

    Both times are local, and each is over when its minutes of grace are.
    """
    if submission.time is not None:
        found = judge_time(rule, submission.time)
        if found.refused or rule.deadline is not None:
            return found
    reason = "the source says that it is late" if submission.late else ""
    return Lateness(submission.late, refused=False, reason=reason)


def judge_time(rule: Late, time: datetime.datetime) -> Lateness:
    """Return whether a submission of this time is late."""
    grace = datetime.timedelta(minutes=rule.grace_minutes)
    limits = (
        (rule.refused_after, "the time from which it is refused", True),
        (rule.deadline, "the deadline", False),
    )
    for limit, noun, is_refused in limits:
        if limit is not None and (span := measure(limit, time)) > grace:
            when = f"{time:%Y-%m-%d %H:%M:%S}, {describe_span(span)} after {noun}"
            return Lateness(True, is_refused, f"it was submitted at {when}")
    return Lateness(late=False, refused=False, reason="")


def describe_span(span: datetime.timedelta) -> str:
    """Return a span of time in words, without zeros: ``2 days 3 h 5 s``.

    Part of a second counts as one, so that nobody is late by 0 s.
    """
    minutes, seconds = divmod(math.ceil(span.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, plural(days, "day")), (hours, "h"), (minutes, "min"), (seconds, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"


# --- all or nothing ----------------------------------------------------------------------------


def _explain_unknown(assignment: Assignment, attempts: Iterable[Attempt]) -> str:
    """Return why the harness could not determine the mark, or ""."""
    wanted = {part.judged_by for part in assignment.marks if part.points}
    open_ = [one for one in attempts if one.kind in wanted and not _is_known(one)]
    if not open_:
        return ""
    broken = sum(bool(one.fault) for one in open_)
    waiting = len(open_) - broken
    said = [f"{number_of(broken, 'case file')} with a harness error"] if broken else []
    said += [f"{number_of(waiting, 'case file')} not run"] if waiting else []
    return f"{' and '.join(said)}."


def _is_known(attempt: Attempt) -> bool:
    cannot_be_built = attempt.build is not None and not attempt.build.ok
    return not attempt.fault and (attempt.result is not None or cannot_be_built)


def _why_not_run(assignment: Assignment, attempts: Sequence[Attempt]) -> str:
    failed = [one.build for one in attempts if one.build is not None and not one.build.ok]
    if failed:
        return sentence(": ".join(filter(None, ("it cannot be built", failed[0].message))))
    if does_not_run(attempts, adapted=assignment.adapter is not None):
        return "It does not run: it answers nothing in any case file."
    return ""


def _flat(assignment: Assignment, part_names: Collection[str], reason: str) -> list[PartMark]:
    return [PartMark(one.name, _NOTHING, _of(one, part_names), reason) for one in assignment.marks]


def _of(part: MarkPart, part_names: Collection[str]) -> Fraction:
    return part.points if part.name in part_names else _NOTHING


# --- a part ------------------------------------------------------------------------------------


class _Score(NamedTuple):
    """The points earned in a part, and the total of the tests that could be judged."""

    reached: Fraction
    whole: Fraction
    reason: str
    complete: bool = True


def _part(
    assignment: Assignment,
    part: MarkPart,
    submission: Submission,
    attempts: Sequence[Attempt],
    part_names: Collection[str],
) -> tuple[PartMark, bool]:
    """Return the mark of a part, and whether there was a test to judge if there should be."""
    asked = [one for one in attempts if one.kind == part.judged_by]
    if part.judged_by == _FILES:
        score = _files(assignment, submission)
    elif asked or part.name in part_names:
        met = [(one, weight(part, one.names)) for one in tests(asked) if is_meant(part, one.step)]
        judged = [(one, counts) for one, counts in met if one.passed is not None and counts]
        reached = sum((counts for one, counts in judged if one.passed), _NOTHING)
        whole = sum((counts for _, counts in judged), _NOTHING)
        passed = sum(bool(one.passed) for one, _ in judged)
        unsure = sum(one.unsure for one, counts in met if counts)
        reason = f"{passed} of {number_of(len(judged), 'test')} passed"
        if any(counts != 1 for _, counts in judged):
            reason += f", by weight {decimal(reached)} of {decimal(whole)}"
        if part.rule == "all" and reached < whole:
            reason += "; all must be"
        complete = bool(asked) and all(map(_is_known, asked)) and not unsure
        left_out = sum(one.passed is not None and not counts for one, counts in met)
        if left_out:
            reason += f"; {left_out} left out by weight 0"
        reasons = [reason, *_remarks([one for one, _ in met], unsure)]
        score = _Score(reached, whole, "; ".join(reasons), complete)
    else:
        score = _Score(_NOTHING, _NOTHING, f"there are no {part.judged_by} tests in this grading")
    is_judged = bool(score.whole) or score.complete
    of = _of(part, part_names) if score.whole or not score.complete else _NOTHING
    share = score.reached / score.whole if score.whole else _NOTHING
    points = of * (share if part.rule == "share" else Fraction(share == 1))
    return PartMark(part.name, points, of, sentence(score.reason), score.complete), is_judged


def _files(assignment: Assignment, submission: Submission) -> _Score:
    """Count the files that must be there, and the log if it is evidence of what it should be."""
    files = assignment.files
    missing = missing_of(submission.kept, files)
    wanted = len(files.required) + bool(files.log)
    faulty = bool(files.log) and not submission.log.good
    said = [f"{', '.join(missing)} missing"] if missing else []
    if faulty:
        is_there = submission.log.present
        lacks = "does not show the test before submitting" if is_there else "missing"
        said.append(f"{files.log} {lacks}")
    reached = wanted - len(missing) - faulty
    return _Score(Fraction(reached), Fraction(wanted), "; ".join(said) or "all files are there")


def is_meant(part: MarkPart, test: Step) -> bool:
    """Whether a part hangs on a test of the kind that it is judged by."""
    return not part.commands or test.command.partition(" ")[0] in part.commands


def weight(part: MarkPart, names: Sequence[str]) -> Fraction:
    """Return what a test counts: the weight of its number goes before that of its file.

    ``names``: as :func:`names` gives them.
    """
    return next((part.weights[name] for name in names if name in part.weights), _ONE)


def _remarks(results: "Sequence[TestResult]", unsure: int) -> Iterable[str]:
    lost = sum(one.verdict is Verdict.NOT_RUN and one.passed is False for one in results)
    flaky = sum(one.flaky for one in results)
    if lost:
        yield f"{lost} not reached because of an engine failure"
    if unsure:
        does = "does" if unsure == 1 else "do"
        yield f"{unsure} could not be judged and {does} not count, which is not your fault"
    if flaky:
        yield f"{flaky} had another verdict when rerun"


# --- the sum -----------------------------------------------------------------------------------


def _finish(
    parts: Sequence[PartMark],
    note: str,
    share: Fraction = _NOTHING,
    late_reason: str = "",
    *,
    withheld: bool = False,
) -> Marks:
    """Return a whole mark, less a ``share`` of the points for the ``late_reason``, a phrase."""
    reached = sum((part.points for part in parts), _NOTHING)
    deduction = reached * share
    reason = f"{decimal(share * 100)} % less: {late_reason}." if late_reason else ""
    of = sum((part.of for part in parts), _NOTHING)
    return Marks(tuple(parts), deduction, reason, reached - deduction, of, note, withheld)


# --- The results of an attempt's tests: passed, failed, or undecided -----------------------------
# A test that was not reached is failed if the engine failed. Otherwise the submission did not
# cause it, and the test is undecided.


class TestResult(NamedTuple):
    """One test of one attempt."""

    attempt: Attempt
    step: Step
    verdict: Verdict
    reply: Reply | None  # None if there was none
    passed: bool | None  # None if it says nothing
    unsure: bool  # because of the harness or of the case file
    flaky: bool  # another run gave another verdict

    @property
    def key(self) -> tuple[str, str, int]:
        """Kind, case file and line: the same for all submissions."""
        return self.attempt.kind, self.attempt.case, self.step.line

    @property
    def names(self) -> tuple[str, str]:
        """Names of the test and its file in weights."""
        return names(self.attempt.case, self.step)


def names(case: str, step: Step) -> tuple[str, str]:
    """Return what an assignment's weights call a test of a case file, and the file."""
    name = PurePosixPath(case).name
    return f"{name}:{step.id}", name


def tests(attempts: Sequence[Attempt]) -> Iterator[TestResult]:
    """Yield the tests of those attempts that have a result, in the order of the files."""
    for attempt in attempts:
        result = attempt.result
        if result is None or attempt.fault:
            continue
        for outcome in result.outcomes:
            step, verdict = result.case.steps[outcome.step], outcome.verdict
            flaky = outcome.flaky or outcome.step in attempt.flaky
            cut = verdict is Verdict.NOT_RUN and result.failure is None
            counts = is_reliable(step) and verdict is not Verdict.IGNORED
            unsure = counts and (cut or verdict is Verdict.NOT_JUDGED)
            passed = verdict in _PASSES if counts and not unsure else None
            yield TestResult(attempt, step, verdict, outcome.reply, passed, unsure, flaky)


def is_reliable(step: Step) -> bool:
    """Whether a test counts for anybody: its file does not mark it as not to be relied on.

    The result makes no difference, so that all submissions are measured by the same tests.
    """
    return step.pattern is None or not (step.pattern.expected_fail or step.pattern.ignored)


def own(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts at public and private case files, without those at images."""
    return [one for one in attempts if one.kind in (PUBLIC, PRIVATE)]


def does_not_run(attempts: Sequence[Attempt], *, adapted: bool) -> bool:
    """Whether an engine never answers. False where nothing was run.

    ``adapted``: it is an adapter, which answers for itself: a program behind it that gives no
    answer to any test, but an error to each, does not run either.
    """
    results = [one.result for one in attempts if one.result is not None]
    if not results:
        return False
    if all(one.is_silent for one in results):
        return True
    return adapted and not any(one.answers_a_test for one in results)


def quote(reply: Reply | None) -> str:
    """Return an answer as a sentence quotes it: short, harmless and on one line."""
    if reply is None:
        return "no answer"
    text = f"'{one_line(reply.text, _SHOWN)}'"
    return text if reply.ok else f"the error {text}"
