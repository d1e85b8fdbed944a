"""Two people who change an assignment at the same moment: both do it, one after the other."""

import threading
from contextlib import contextmanager

import pytest

from harness.core.errors import InvalidGradingStateError
from harness.service.courses import deadlines, gradings
from harness.service.courses import gradings as given
from harness.service.courses.gradings import Decision
from harness.service.jobs import private_cases
from harness.service.storage import courses, uploads
from tests.service.serving import grade, make_course, work
from tests.service.test_late_terms import at
from tests.service.test_releasing import submit

pytestmark = [pytest.mark.processes, pytest.mark.stored]
CASE = private_cases.NewCase("more.gtp", b"1 twice 4\n#? [8]\n")


class World:
    """A course with a grading, and people who act at the same time."""

    def __init__(self, service):
        self.service = service
        self.course = make_course(service, "student\nada\n", deadline=at(-5))
        submit(service, self.course)
        grade(service, self.course)
        with service.database.reading() as db:
            self.by = courses.MEMBERS.find(db, role="teacher").person

    def find(self, db):
        """Return the assignment and its last grading."""
        one = courses.ASSIGNMENTS.find(db, id=self.course.assignment.rpartition("/")[2])
        return one, uploads.gradings(db, one.id)[-1]

    @contextmanager
    def meanwhile(self, action):
        """Give a transaction that somebody else waits for, who has read what was before it."""
        with self.service.database.reading() as db:
            before = self.find(db)
        errors = []

        def act_too():
            try:
                with self.service.database.acting(self.by) as act:
                    action(act, *before)
            except Exception as error:  # noqa: BLE001 - it is raised below
                errors.append(error)

        other = threading.Thread(target=act_too)
        with self.service.database.acting(self.by) as act:
            yield act, other
        other.join(30)
        if errors:
            raise errors[0]


def override(act, one, _grading):
    given.decide(act, one, "ada", Decision("1", "because"))


def end(act, one, _grading):
    given.end_override(act, one, "ada")


def extend(act, one, _grading):
    deadlines.extend(act, one, "ada", at(9))


def add_case(act, one, _grading):
    private_cases.add(act, one, CASE._replace(name="new.gtp"))


def remove_case(act, one, _grading):
    private_cases.remove(act, one, CASE.name)


# What was done, with what somebody else begins who changes the assignment, or submits.
CROSSING = [
    (override, courses.hold),
    (end, courses.lock),
    (add_case, courses.lock),
    (remove_case, courses.lock),
]


def test_nobody_waits_for_somebody_who_waits_for_them(service, counting):
    """Else the server ended one of them: "cannot be reached now", for no reason."""
    world = World(service)
    with service.database.acting(world.by) as act:
        one, last = world.find(act.db)
        override(act, one, last)
        for case in (CASE, CASE._replace(name="other.gtp")):
            private_cases.add(act, one, case)
    for action, hold in CROSSING:
        with world.meanwhile(action) as (act, other):
            hold(act.db, world.find(act.db)[0].id)
            other.start()
            other.join(0.3)
            act.note("something", "")


def test_two_who_do_the_same_at_once_do_it_one_after_the_other(service, counting):
    world = World(service)
    for action in (override, extend):
        with world.meanwhile(action) as (act, other):
            action(act, *world.find(act.db))
            other.start()
            other.join(0.3)


def test_marks_are_not_released_while_others_are_made(service, counting):
    """One teacher changes marks while another one releases those that a page showed before."""
    world = World(service)
    submit(service, world.course, "return 7")
    grade(service, world.course)

    def release(act, _one, shown):
        gradings.release(act, shown, is_early=True, leaves_changes=True)

    with (
        pytest.raises(InvalidGradingStateError, match="no marks yet"),
        world.meanwhile(release) as both,
    ):
        act, other = both
        gradings.accept(act, world.find(act.db)[1])
        other.start()
        other.join(0.3)
    work(service)
    with service.database.reading() as db:
        assert not world.find(db)[1].released
