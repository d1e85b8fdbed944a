"""Change an assignment that students may already work on: what changes for whom is told first."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.grading.marks.marking import judge_time
from harness.service.courses import making, roster
from harness.service.courses.grading import NotNowError
from harness.service.courses.late_terms import describe_late
from harness.service.handing_in import ownership
from harness.service.local_times import describe_date, read_seconds
from harness.service.records import Assigned, Course
from harness.service.storage import courses
from harness.service.storage.audit_log import Act

_NAMES = {
    "title": "Title",
    "opens": "Opens",
    "deadline": "Deadline",
    "closes": "Refused after",
    "deduction": "Late penalty in percent",
    "grace": "Grace in minutes",
    "hidden": "Hidden from students",
}


class Effect(NamedTuple):
    """What a change does to one student or group."""

    key: str
    now: str  # such as ``in time``
    then: str  # such as ``late by 2 h: 10 % of the points reached are taken off``


class Change(NamedTuple):
    """A change of an assignment, before it is made."""

    made: Assigned  # as it would be
    effects: list[Effect]
    ended: list[str]  # students whose extensions would end, because all have as much time

    def list_dates(self, one: Assigned) -> list[tuple[str, str]]:
        """Return the names of what changes, and how it is and would be."""
        return [(_NAMES[name], said) for name, said in _list_changed(one, self.made).items()]

    @property
    def digest(self) -> str:
        """Return what tells this change from another one, or from the same on another day."""
        return _digest(self)


def plan(db: Connection, one: Assigned, wanted: Assigned) -> Change:
    """Return what would change for whom if ``one`` were as ``wanted``.

    Raises:
        UsageError: a date or a number cannot be read, or they do not go together.
    """
    made = making.check(one._replace(**{name: getattr(wanted, name) for name in _NAMES}))
    extensions = courses.extensions(db, one.id)
    ended = _list_ended(made, extensions)
    left = {key: own for key, own in extensions.items() if key not in ended}
    rules = making.late(one, extensions), making.late(made, left)
    return Change(made, _list_effects(db, one, *rules), ended)


def digest_shown(one: Assigned) -> str:
    """Return what tells the values of a form filled from ``one`` from other values."""
    return _digest([str(getattr(one, name)) for name in _NAMES])


def _digest(value: object) -> str:
    """Return what tells a value from others, as short as a form may carry it."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]


def require_unchanged(now: Assigned, filled: str) -> None:
    """Refuse a form that was filled from other values than are in force.

    Raises:
        NotNowError: somebody has changed the assignment since.
    """
    if filled != digest_shown(now):
        said = "; ".join(f"{label}: {_say(n, getattr(now, n))}" for n, label in _NAMES.items())
        raise NotNowError(
            "Somebody has changed this assignment since you opened the page. "
            f"These values are in force now: {said}. The form has what you typed: "
            "correct it and send it again"
        )


def change(
    act: Act, one: Assigned, wanted: Assigned, seen: str | None = None, filled: str | None = None
) -> Assigned:
    """Change an assignment.

    ``seen``: the digest of the change that somebody saw and wants; None: whatever it is.
    ``filled``: the digest of the values that a form was filled from, if one was sent.

    Raises:
        UsageError: as :func:`plan`.
        NotNowError: it would change something else by now.
    """
    courses.lock(act.db, one.id)
    now = courses.ASSIGNMENTS.find(act.db, id=one.id) or one
    if filled is not None:
        require_unchanged(now, filled)
    planned = plan(act.db, now, wanted)
    if seen is not None and planned.digest != seen:
        raise NotNowError("something was submitted or changed meanwhile: look once more")
    values = {name: getattr(planned.made, name) for name in _NAMES}
    courses.ASSIGNMENTS.change(act.db, {**values, "hidden": int(planned.made.hidden)}, id=one.id)
    courses.extend(act.db, one.id, planned.ended, "")
    if changed := [f"{name}: {said}" for name, said in _list_changed(now, planned.made).items()]:
        effects = [f"{effect.key}: {effect.now} → {effect.then}" for effect in planned.effects]
        more = {"effects": effects} if effects else {}
        more |= {"extensions ended": planned.ended} if planned.ended else {}
        act.note("assignment changed", one.id, changed=changed, **more)
    return planned.made


def rename_course(act: Act, course: Course, title: str) -> Course:
    """Give a course another title. Its address stays.

    Raises:
        UsageError: it has no title, or a very long one.
    """
    made = course._replace(title=making.read_title(title))
    courses.COURSES.change(act.db, {"title": made.title}, id=course.id)
    if made != course:
        act.note("course renamed", course.id, title=made.title, before=course.title)
    return made


def _list_changed(one: Assigned, made: Assigned) -> dict[str, str]:
    """Return how the fields that change are and would be, by their names."""
    pairs = ((name, getattr(one, name), getattr(made, name)) for name in _NAMES)
    return {name: f"{_say(name, a)} → {_say(name, b)}" for name, a, b in pairs if a != b}


def _say(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = describe_date(str(value)) if name in ("opens", "deadline", "closes") else str(value)
    return text or "none"


def _list_ended(made: Assigned, extensions: Mapping[str, str]) -> list[str]:
    """Return whose extensions give no more time than all would have."""
    common = read_seconds(made.deadline or made.closes)
    ended = (key for key, own in extensions.items() if not common or read_seconds(own) <= common)
    return sorted(ended)


def _list_effects(db: Connection, one: Assigned, before: Late, after: Late) -> list[Effect]:
    heaps, found = ownership.of_all(db, one), []
    for entry in roster.students(courses.students(db, one.course)):
        keys = [student.key for student in entry.students]
        last = heaps[entry.key].last
        told = _compare(before.of(keys), after.of(keys), last.at) if last else ()
        found += [Effect(entry.key, *told)] if told else []
    return found


def _compare(before: Late, after: Late, at: float) -> tuple[str, str] | tuple[()]:
    """Return how a submission of this time is judged and would be; empty if there is no change."""
    if _cost(before, at) == _cost(after, at):
        return ()
    return describe_late(before, at) or "in time", describe_late(after, at) or "in time"


def _cost(rule: Late, at: float) -> tuple[object, ...]:
    found = judge_time(rule, datetime.datetime.fromtimestamp(int(at)))
    return found.refused, found.late, rule.deduction if found.late else 0
