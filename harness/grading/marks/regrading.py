"""Marks that a regrading would change: old beside new, and why. Pure.

A mark changes from old to new step by step: today's rules, then today's submission, then the
result of one case file after the other. Each step causes the change of the mark in that step, so
the points of all causes add up to the whole change.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.core.records import CaseFile, Step
from harness.core.text import at_most, count_rest, sentence
from harness.grading.marks.marking import marks, own, quote
from harness.grading.records import Attempt, Graded, Marks, Student, Submission, decimal
from oracle.sentences import listing

# What a mark may change by.
RULES, SUBMISSION, CASES, ENGINE, LIMIT, HARNESS = (
    "rules",  # of the assignment: points, rules, weights, lateness
    "submission",
    "cases",
    "engine",  # answered otherwise to the same commands
    "limit",  # of time or memory, nearly or just hit
    "harness",
)
_TOLD = 3  # tests in one sentence


class MarkChangeReason(NamedTuple):
    """One reason for a changed mark."""

    kind: str  # RULES, SUBMISSION, CASES, ENGINE, LIMIT or HARNESS
    points: Fraction  # that it gives, or takes
    sentence: str


class MarkChange(NamedTuple):
    """A mark that would change."""

    key: str  # of the submission
    students: tuple[Student, ...]
    old: Marks
    new: Marks
    causes: tuple[MarkChangeReason, ...]

    def __str__(self) -> str:
        """As a sentence: such as ``3 of 5 becomes 4 of 5. +1: Another file was submitted.``"""
        told = [
            f"{'+' if one.points >= 0 else ''}{decimal(one.points)}: {one.sentence}"
            for one in self.causes
        ]
        return " ".join([f"{_mark(self.old)} becomes {_mark(self.new)}.", *told])


def changes(
    old: Sequence[Graded],
    new: Sequence[Graded],
    assignment: Assignment,
    part_names: Collection[str] | None = None,
) -> tuple[MarkChange, ...]:
    """Return the marks that differ, in the order of ``new``.

    ``old``: what is in force, with the attempts it was made of. ``new``: what would be.
    ``assignment``, ``part_names``: what the new marks were made by, as for
    :func:`harness.grading.marks.marking.marks`. Submissions that are in one of the two only do not
    change.
    """
    before = {one.submission.key: one for one in old}
    found = []
    for now in new:
        former = before.get(now.submission.key)
        if former is None or _figures(former.marks) == _figures(now.marks):
            continue
        causes: list[MarkChangeReason] = []
        mark = former.marks
        for then, kind, reason in _steps(former, now, assignment, part_names):
            if _figures(then) != _figures(mark):
                causes.append(MarkChangeReason(kind, then.total - mark.total, sentence(reason)))
                mark = then
        key, students = now.submission.key, now.submission.students
        found.append(MarkChange(key, students, former.marks, now.marks, tuple(causes)))
    return tuple(found)


def _figures(mark: Marks) -> tuple[object, ...]:
    parts = [(part.name, part.points, part.of) for part in mark.parts]
    return mark.total, mark.of, mark.withheld, mark.deduction, parts


def _mark(mark: Marks) -> str:
    return "no mark" if mark.withheld else str(mark)


# --- step by step ------------------------------------------------------------------------------


def _steps(
    old: Graded, new: Graded, assignment: Assignment, part_names: Collection[str] | None
) -> Iterator[tuple[Marks, str, str]]:
    """Yield the marks on the way from old to new: (mark, kind of what led to it, reason)."""
    attempts = {_key(one): one for one in own(old.attempts)}

    def compute_marks(submission: Submission, names: Collection[str] | None = None) -> Marks:
        return marks(assignment, submission, list(attempts.values()), names)

    first = compute_marks(old.submission)
    yield first, RULES, _rules(old.marks, first)
    why = _submission(old.submission, new.submission)
    yield compute_marks(new.submission), SUBMISSION, why
    today = {_key(one): one for one in own(new.attempts)}
    programs = [(one.sha256, one.root, one.kept) for one in (old.submission, new.submission)]
    other = programs[0] != programs[1]
    for key in sorted(attempts.keys() | today.keys()):
        before, after = attempts.pop(key, None), today.get(key)
        attempts |= {key: after} if after else {}
        if before != after:
            kind, told = next(one for one in _reasons(before, after, other) if one[1])
            told = f"{key[0]} case file {key[1]}: {told}"
            yield compute_marks(new.submission), kind, told
    last = compute_marks(new.submission, part_names)
    yield last, RULES, "parts of the marks have no tests in this grading"
    yield new.marks, HARNESS, "it was computed by another version of the harness"


def _key(attempt: Attempt) -> tuple[str, str]:
    return attempt.kind, attempt.case


# --- why ---------------------------------------------------------------------------------------


def _rules(old: Marks, new: Marks) -> str:
    """Return what of the assignment's rules has changed, as far as the marks show it."""
    before = {part.name: part for part in old.parts}
    after = {part.name: part for part in new.parts}
    said = [f"{name!r} is no longer a part of the marks" for name in before if name not in after]
    for name, part in after.items():
        if name not in before:
            said.append(f"{name!r} is a new part of the marks")
        elif part.of != before[name].of:
            said.append(f"{name!r} gives {decimal(part.of)} instead of {decimal(before[name].of)}")
        elif part.points != before[name].points:
            said.append(f"{name!r} is marked by another rule or other weights")
    if new.deduction_reason != old.deduction_reason:
        late = f"{decimal(new.deduction)} instead of {decimal(old.deduction)}"
        said.append(f"the late penalty is {late}")
    return f"the assignment has changed: {'; '.join(said) or 'its rules'}"


def _submission(old: Submission, new: Submission) -> str:
    if old.sha256 != new.sha256:
        return f"another file was submitted: {new.name or 'nothing'}"
    if (old.time, old.late) != (new.time, new.late):
        return "it was submitted at another time, says the source"
    return "the same file is read otherwise"


def _reasons(
    before: Attempt | None, after: Attempt | None, other: bool
) -> Iterator[tuple[str, str]]:
    """Yield why one case file may have another result: (kind, phrase).

    The first phrase that is not empty is the reason. ``other``: another program was run.
    """
    if before is None or after is None:
        yield CASES, "it is new" if before is None else "it is no longer there"
        return
    both = (("before", before), ("now", after))
    for when, attempt in both:
        yield HARNESS, attempt.fault and f"harness error {when}: {attempt.fault}"
    old, new = before.result, after.result
    yield CASES, _cases(old.case, new.case) if old and new else ""
    yield SUBMISSION, "another program was run" if other else ""
    was, is_ = (one.build is None or one.build.ok for one in (before, after))
    if was != is_:
        yield ENGINE, f"the same files {'can' if is_ else 'cannot'} be built now"
    near = [f"{when} it {attempt.near_limit}" for when, attempt in both if attempt.near_limit]
    yield LIMIT, f"a limit is near: {', '.join(near)}" if near else ""
    if old is None or new is None:
        yield ENGINE, "it was not run both times"
        return
    pairs = [  # the tests with two verdicts
        (old.case.steps[a.step], a, b)
        for a, b in zip(old.outcomes, new.outcomes, strict=True)
        if a.verdict is not b.verdict
    ]
    same = [step for step, a, b in pairs if a.reply and b.reply and a.reply.text == b.reply.text]
    if pairs and len(same) == len(pairs):
        yield HARNESS, f"the same answers are judged otherwise: {_names(same)}"
    told = [f"{_name(s)} {quote(a.reply)}, then {quote(b.reply)}" for s, a, b in pairs[:_TOLD]]
    rest = count_rest(len(pairs) - _TOLD, " (and {} more)")
    yield ENGINE, f"the engine does not always answer the same: {'; '.join(told)}{rest}"


# --- two versions of a case file ---------------------------------------------------------------


class _Question(NamedTuple):
    step: Step
    before: int  # a hash of the commands that lead to it
    expected: str


def _cases(old: CaseFile, new: CaseFile) -> str:
    """Return how the tests of a case file have changed; empty: not at all."""
    before, after = _questions(old), _questions(new)
    both = [(before[key], after[key]) for key in after if key in before]
    expected = [b.step for a, b in both if a.expected != b.expected]
    moved = [b.step for a, b in both if a.before != b.before and a.expected == b.expected]
    groups = (
        ("expects another answer", "expect other answers", expected),
        ("has other commands before it", "have other commands before them", moved),
        ("is new", "are new", [after[key].step for key in after if key not in before]),
        ("is gone", "are gone", [before[key].step for key in before if key not in after]),
    )
    said = [
        f"{_names(steps)} {one if len(steps) == 1 else many}"
        for one, many, steps in groups
        if steps
    ]
    return f"it has changed: {'; '.join(said)}" if said else ""


def _questions(case: CaseFile) -> dict[tuple[int, str, int], _Question]:
    """Return the tests by number, command and how many such came before."""
    found: dict[tuple[int, str, int], _Question] = {}
    times: Counter[tuple[int, str]] = Counter()
    before = 0
    for step in case.steps:
        if step.is_test:
            name, pattern = (step.id, step.command), step.pattern
            expected = f"{pattern.text}{'*' * pattern.expected_fail}" if pattern else ""
            found[*name, times[name]] = _Question(step, before, expected)
            times[name] += 1
        before = hash((before, step.command))
    return found


def _names(steps: Sequence[Step]) -> str:
    return listing(at_most(map(_name, steps), _TOLD, "{} more"))


def _name(step: Step) -> str:
    return f"test {step.id}" if step.id >= 0 else f"the test in line {step.line}"
