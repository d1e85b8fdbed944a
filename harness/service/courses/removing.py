"""Remove assignments and courses that nobody has submitted to: nothing of students is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from sqlalchemy import Connection

from harness.service.courses import cases, gradebooks
from harness.service.courses.grading import NotNowError
from harness.service.courses.own_files import OWN
from harness.service.records import LEASED, Assigned, Course
from harness.service.settings import Settings
from harness.service.storage import courses, queue
from harness.service.storage.audit import Act
from harness.text import number_of


def list_kept(db: Connection, assigned: Assigned) -> list[str]:
    """Return what is in an assignment and keeps it, such as ``3 submissions``."""
    counts = courses.count_kept(db, assigned.id)
    return [number_of(count, name) for name, count in counts.items() if count]


def list_lost(db: Connection, settings: Settings, assigned: Assigned) -> list[str]:
    """Return what of the teachers' own goes with an assignment."""
    private = len(cases.added(settings.assignment_folder(assigned.id)))
    counts = {"private case file": private, "extension": len(courses.extensions(db, assigned.id))}
    found = [number_of(count, name) for name, count in counts.items() if count]
    return [*found, "the folder that you uploaded"] if assigned.source == OWN else found


def list_kept_in_course(db: Connection, course: Course) -> list[str]:
    """Return what is in the assignments of a course and keeps it, a phrase for each."""
    found = courses.ASSIGNMENTS.all(db, "title", course=course.id)
    kept = {one.title: list_kept(db, one) for one in found}
    return [f"{title}: {', '.join(told)}" for title, told in kept.items() if told]


def remove_assignment(act: Act, assigned: Assigned) -> None:
    """Remove an assignment; :func:`clear` removes its files afterwards.

    Raises:
        NotNowError: somebody has submitted, or a worker works on it.
    """
    courses.lock(act.db, assigned.id)  # a student may submit at this moment
    if kept := list_kept(act.db, assigned):
        raise NotNowError(
            f"{assigned.title} has {', '.join(kept)}, which must not be lost:"
            " hide it from students instead, or set an earlier time from which it is refused"
        )
    if queue.JOBS.all(act.db, assignment=assigned.id, state=LEASED):
        raise NotNowError(f"work for {assigned.title} is running: try again in a minute")
    courses.forget_assignment(act.db, assigned.id)
    act.note("assignment removed", assigned.id, course=assigned.course, title=assigned.title)


def remove_course(act: Act, course: Course) -> list[Assigned]:
    """Remove a course with its assignments and its roster; return the assignments.

    Raises:
        NotNowError: somebody has submitted to one, or a worker works on one.
    """
    courses.lock_course(act.db, course.id)
    found = courses.ASSIGNMENTS.all(act.db, "id", course=course.id)
    for one in found:
        remove_assignment(act, one)
    students = len(courses.students(act.db, course.id))
    courses.forget_course(act.db, course.id)
    act.note("course removed", course.id, title=course.title, students=students)
    return found


def clear_course(settings: Settings, course: Course, removed: Iterable[Assigned]) -> None:
    """Remove the files of a course that was removed, and of its assignments."""
    for one in removed:
        clear(settings, one)
    gradebooks.forget_rosters(settings, course.id)


def clear(settings: Settings, removed: Assigned) -> None:
    """Remove the files of an assignment that was removed."""
    shutil.rmtree(settings.assignment_folder(removed.id), ignore_errors=True)
    settings.keys.joinpath(f"{removed.id}.key").unlink(missing_ok=True)
