"""Change or remove what students may already work on: what changes for whom is told first.

An assignment or course goes only if nobody has submitted to it: nothing of students is lost.
"""

import datetime
import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.core.errors import InvalidGradingStateError
from harness.core.text import number_of
from harness.grading.marks.marking import judge_time
from harness.service.courses import cases, gradebooks, making, roster, submissions
from harness.service.courses.deadlines import describe_late
from harness.service.courses.own_files import OWN
from harness.service.local_times import describe_date, read_seconds
from harness.service.records import LEASED, Course, CourseAssignment
from harness.service.settings import Settings
from harness.service.storage import courses, queue
from harness.service.storage.audit import AuditedTransaction


class ShownValues(NamedTuple):
    """Values that a form is filled from."""

    about: str  # such as ``assignment``
    values: Sequence[str]  # of its fields, as they are kept
    said: Mapping[str, str]  # the same in words, by the labels of the fields

    @property
    def digest(self) -> str:
        """Return what a form carries: it tells these values from other ones."""
        return digest_of([*self.values])

    def require(self, form_digest: str | None) -> None:
        """Refuse a form that was filled from other values than these, which are in force.

        ``form_digest``: the digest that the form carries, or None without a form.

        Raises:
            InvalidGradingStateError: somebody has changed them since.
        """
        if form_digest is None or form_digest == self.digest:
            return
        said = "; ".join(f"{label}: {value}" for label, value in self.said.items())
        raise InvalidGradingStateError(
            f"Somebody has changed this {self.about} since you opened the page. "
            f"These values are in force now: {said}. The form has what you typed: "
            "correct it and send it again"
        )


def digest_of(value: object) -> str:
    """Return what tells a value from others, as short as a form may carry it."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]


# --- Change an assignment that students may already work on: what changes for whom is told first -


_NAMES = {
    "title": "Title",
    "opens": "Opens",
    "deadline": "Deadline",
    "closes": "Closed after",
    "deduction": "Late penalty (percent)",
    "grace": "Grace period (minutes)",
    "hidden": "Hidden from students",
}


class Effect(NamedTuple):
    """Effect of a change on a student or group."""

    key: str
    now: str  # such as ``in time``
    then: str  # such as ``late by 2 h: 10 % of the points reached are taken off``


class Change(NamedTuple):
    """A change of an assignment, before it is made."""

    made: CourseAssignment  # as it would be
    effects: list[Effect]
    ended: list[str]  # students whose extensions would end, because all have as much time

    def list_dates(self, assignment: CourseAssignment) -> list[tuple[str, str]]:
        """Return the names of what changes, and how it is and would be."""
        changed = _list_changed(assignment, self.made)
        return [(_NAMES[name], said) for name, said in changed.items()]

    @property
    def digest(self) -> str:
        """Return what tells this change from another one, or from the same on another day."""
        return digest_of(self)


def plan(db: Connection, assignment: CourseAssignment, proposal: CourseAssignment) -> Change:
    """Return what would change for whom if ``assignment`` were as ``proposal``.

    Raises:
        UsageError: a date or a number cannot be read, or they do not go together.
    """
    made = making.check(assignment._replace(**{name: getattr(proposal, name) for name in _NAMES}))
    extensions = courses.extensions(db, assignment.id)
    common = read_seconds(made.deadline or made.closes)
    # Extensions end that give no more time than all would have.
    ended = sorted(
        key for key, own in extensions.items() if not common or read_seconds(own) <= common
    )
    left = {key: own for key, own in extensions.items() if key not in ended}
    before, after = making.late(assignment, extensions), making.late(made, left)
    histories = submissions.all_histories(db, assignment)
    effects = []
    for entry in roster.students(courses.students(db, assignment.course)):
        keys = [student.key for student in entry.students]
        if last := histories[entry.key].last:
            rules = before.of(keys), after.of(keys)
            now, then = (_cost(rule, last.at) for rule in rules)
            if now != then:
                told = (describe_late(rule, last.at) or "in time" for rule in rules)
                effects.append(Effect(entry.key, *told))
    return Change(made, effects, ended)


def values_of(assignment: CourseAssignment) -> ShownValues:
    """Return what the form that changes an assignment is filled from."""
    now = {name: getattr(assignment, name) for name in _NAMES}
    said = {label: _say(name, now[name]) for name, label in _NAMES.items()}
    return ShownValues("assignment", [str(value) for value in now.values()], said)


def values_of_course(course: Course) -> ShownValues:
    """Return what the form that renames a course is filled from."""
    return ShownValues("course", [course.title], {"Title": course.title})


def change(
    act: AuditedTransaction,
    assignment: CourseAssignment,
    proposal: CourseAssignment,
    change_digest: str | None = None,
    form_digest: str | None = None,
) -> None:
    """Change an assignment.

    ``change_digest``: the digest of the change that somebody saw and wants; None: whatever it is.
    ``form_digest``: the digest of the values that a form was filled from, if one was sent.

    Raises:
        UsageError: as :func:`plan`.
        InvalidGradingStateError: it would change something else by now.
    """
    now = courses.lock(act.db, assignment.id) or assignment
    values_of(now).require(form_digest)
    planned = plan(act.db, now, proposal)
    if change_digest is not None and planned.digest != change_digest:
        raise InvalidGradingStateError(
            "something was submitted or changed meanwhile: look once more"
        )
    values = {name: getattr(planned.made, name) for name in _NAMES}
    courses.ASSIGNMENTS.change(act.db, values, id=assignment.id)
    courses.extend(act.db, assignment.id, planned.ended, "")
    if lines := [f"{name}: {said}" for name, said in _list_changed(now, planned.made).items()]:
        effects = [f"{effect.key}: {effect.now} → {effect.then}" for effect in planned.effects]
        more = {"effects": effects} if effects else {}
        more |= {"extensions ended": planned.ended} if planned.ended else {}
        act.note("assignment changed", assignment.id, changed=lines, **more)


def rename_course(
    act: AuditedTransaction, course: Course, title: str, form_digest: str | None = None
) -> Course:
    """Give a course another title. Its address stays.

    ``form_digest``: as for :func:`change`.

    Raises:
        UsageError: it has no title, or a very long one.
        InvalidGradingStateError: somebody has renamed it since the form was filled.
    """
    now = courses.lock_course(act.db, course.id) or course
    values_of_course(now).require(form_digest)
    made = now._replace(title=making.read_title(title))
    courses.COURSES.change(act.db, {"title": made.title}, id=course.id)
    if made != now:
        act.note("course renamed", course.id, title=made.title, before=now.title)
    return made


def _list_changed(assignment: CourseAssignment, proposal: CourseAssignment) -> dict[str, str]:
    """Return how the fields that change are and would be, by their names."""
    pairs = ((name, getattr(assignment, name), getattr(proposal, name)) for name in _NAMES)
    return {name: f"{_say(name, a)} → {_say(name, b)}" for name, a, b in pairs if a != b}


def _say(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = describe_date(str(value)) if name in ("opens", "deadline", "closes") else str(value)
    return text or "none"


def _cost(rule: Late, at: float) -> tuple[object, ...]:
    found = judge_time(rule, datetime.datetime.fromtimestamp(int(at)))
    return found.refused, found.late, rule.deduction if found.late else 0


# --- Remove assignments and courses that nobody has submitted to: nothing of students is lost ----


def list_kept(db: Connection, assignment: CourseAssignment) -> list[str]:
    """Return what is in an assignment and keeps it, such as ``3 submissions``."""
    counts = courses.count_kept(db, assignment.id)
    return [number_of(count, name) for name, count in counts.items() if count]


def list_lost(db: Connection, settings: Settings, assignment: CourseAssignment) -> list[str]:
    """Return what of the teachers' own goes with an assignment."""
    counts = {
        "private case file": len(cases.added(settings.private_folder(assignment.id))),
        "extension": len(courses.extensions(db, assignment.id)),
    }
    found = [number_of(count, name) for name, count in counts.items() if count]
    return [*found, "the folder that you uploaded"] if assignment.source == OWN else found


def list_kept_in_course(db: Connection, course: Course) -> list[str]:
    """Return what is in the assignments of a course and keeps it, a phrase for each."""
    found = courses.ASSIGNMENTS.all(db, "title", course=course.id)
    kept = {one.title: list_kept(db, one) for one in found}
    return [f"{title}: {', '.join(told)}" for title, told in kept.items() if told]


def remove_assignment(act: AuditedTransaction, assignment: CourseAssignment) -> None:
    """Remove an assignment; :func:`clear` removes its files afterwards.

    Raises:
        InvalidGradingStateError: somebody has submitted, or a worker works on it.
    """
    courses.lock(act.db, assignment.id)  # a student may submit at this moment
    if kept := list_kept(act.db, assignment):
        raise InvalidGradingStateError(
            f"{assignment.title} has {', '.join(kept)}, which must not be lost:"
            " hide it from students instead, or set an earlier time from which it is refused"
        )
    if queue.JOBS.all(act.db, assignment=assignment.id, state=LEASED):
        raise InvalidGradingStateError(
            f"work for {assignment.title} is running: try again in a minute"
        )
    courses.forget_assignment(act.db, assignment.id)
    act.note("assignment removed", assignment.id, course=assignment.course, title=assignment.title)


def remove_course(act: AuditedTransaction, course: Course) -> list[CourseAssignment]:
    """Remove a course with its assignments and its roster; return the assignments.

    Raises:
        InvalidGradingStateError: somebody has submitted to one, or a worker works on one.
    """
    courses.lock_course(act.db, course.id)
    found = courses.ASSIGNMENTS.all(act.db, "id", course=course.id)
    for one in found:
        remove_assignment(act, one)
    students = len(courses.students(act.db, course.id))
    courses.forget_course(act.db, course.id)
    act.note("course removed", course.id, title=course.title, students=students)
    return found


def clear_course(settings: Settings, course: Course, removed: Iterable[CourseAssignment]) -> None:
    """Remove the files of a course that was removed, and of its assignments."""
    for one in removed:
        clear(settings, one)
    gradebooks.forget_rosters(settings, course.id)


def clear(settings: Settings, assignment: CourseAssignment) -> None:
    """Remove the files of an assignment that was removed."""
    shutil.rmtree(settings.assignment_folder(assignment.id), ignore_errors=True)
    settings.keys.joinpath(f"{assignment.id}.key").unlink(missing_ok=True)
