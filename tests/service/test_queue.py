"""The queue: the next job, leases of workers that live and that died, deaths and faults."""

import os
import time

import pytest
from sqlalchemy import event

from harness.grading.ledger import places
from harness.service.courses import gradings, making
from harness.service.people import accounts
from harness.service.records import (
    CHECK,
    CONCLUDE,
    DONE,
    DRAFT,
    FAULT,
    GRADE,
    LEASED,
    PREVIEW,
    WAITING,
    CourseAssignment,
    Grading,
    Job,
    new_id,
)
from harness.service.storage import courses, queue
from harness.service.storage.database import Database
from harness.service.storage.uploads import GRADINGS
from tests.service.serving import KINDS, settings_of

pytestmark = pytest.mark.stored


@pytest.fixture(params=KINDS)
def database(request, tmp_path):
    found = Database(settings_of(request.param, request, tmp_path / "data"))
    yield found
    found.close()


@pytest.fixture
def assignment(database):
    return make_assignment(database)


def make_assignment(database, deadline=""):
    with database.acting() as act:
        by = act._replace(by=accounts.add_person(act, "Tess").id)
        course = making.course(by, "Games").id
        wanted = CourseAssignment("", course, "", "gosensei", "", deadline, "", "", 0, 0.0)
        return making.assign(by, wanted).id


def put(database, assignment, key="ada", kind=CHECK, about="", due="", person=""):
    wanted = Job("", kind, assignment, about or new_id(), key, due=due, person=person)
    with database.changing() as db:
        return queue.put(db, wanted)


def lease(database):
    with database.changing() as db:
        return queue.lease(db)


def find_job(database, job):
    with database.reading() as db:
        return queue.JOBS.find(db, id=job.id)


def order(database):
    """Return the keys of all that waits, in the order in which it is done."""
    taken = []
    while job := lease(database):
        taken.append(job)
    return [one.key for one in taken]


ORDERS = [  # what is put, one after the other, as a key or a key and a deadline: what comes out
    ("ada ada ada ben", "ada ben ada ada"),
    ("ada ada ben ben cyd", "ada ben cyd ada ben"),
    ("ada:2026-02 ben:2026-01 cyd", "ben ada cyd"),  # the deadline first; none is the last
    ("ada:2026-02 ada:2026-02 ben:2026-03", "ada ben ada"),  # a turn goes before a deadline
]


@pytest.mark.parametrize(("put_in", "expected"), ORDERS)
def test_nobody_waits_behind_what_another_adds(database, assignment, put_in, expected):
    for word in put_in.split():
        key, _, due = word.partition(":")
        put(database, assignment, key, due=due)
    assert order(database) == expected.split()


SEVERAL = [  # what is put, as a person and an assignment, perhaps a group: whose comes out
    ("ada:1 ada:2 ada:2 ben:2", "ada ben ada ada"),
    ("ada:1 ada:2 ben:1 ben:2 cyd:2", "ada ben cyd ada ben"),
    ("ada:1:x ben:1:x cyd:1:y", "ada cyd ben"),  # who submits as a group waits as one
    ("ada:1:x ada:2:y ben:1:z", "ada ben ada"),
]


@pytest.mark.parametrize("kind", [CHECK, DRAFT])
@pytest.mark.parametrize(("put_in", "expected"), SEVERAL)
def test_nobody_waits_behind_what_another_adds_in_several_courses(
    database, kind, put_in, expected
):
    places = {number: make_assignment(database) for number in "12"}
    for word in put_in.split():
        person, number, *group = word.split(":")
        put(database, places[number], (group or [f"{person} {number}"])[0], kind, person=person)
    taken = []
    while job := lease(database):
        taken.append(job)
    assert [one.person for one in taken] == expected.split()


def test_what_the_staff_wants_and_what_students_submit_are_counted_apart(database, assignment):
    for kind in (DRAFT, PREVIEW, CHECK, DRAFT):
        put(database, assignment, kind, kind, person="tess")
    put(database, assignment, "tom", DRAFT, person="tom")
    assert order(database) == [DRAFT, CHECK, "tom", PREVIEW, DRAFT]


def test_of_two_gradings_the_one_with_the_earlier_deadline_goes_first(database):
    dates = ("2026-02-01T12:00:00", "2026-01-01T12:00:00", "")
    places = [make_assignment(database, one) for one in dates]
    with database.acting() as act:
        for place in places:
            found = courses.ASSIGNMENTS.find(act.db, id=place)
            by = act._replace(by=accounts.add_person(act, "Tom").id)
            gradings.begin(by, found, public_only=True)
    with database.changing() as db:
        leased = [queue.lease(db) for _ in places]
    assert [one.assignment for one in leased] == [places[1], places[0], places[2]]
    assert [one.due for one in leased] == [dates[1], dates[0], "9999"]


def test_marks_are_made_when_the_deadline_of_their_grading_says(database):
    places = [make_assignment(database), make_assignment(database)]
    for place, due in zip(places, ("2026-02", "2026-01"), strict=True):
        made = new_id()
        with database.acting() as act:
            tess = accounts.add_person(act, "Tess").id
            GRADINGS.add(act.db, Grading(made, place, tess, time.time(), run=1))
        done = put(database, place, "ada", GRADE, made, due)
        change_job(database, done, state=DONE)
    with database.changing() as db:
        queue.follow_up(db)
        leased = [queue.lease(db), queue.lease(db)]
    assert [(one.kind, one.due) for one in leased] == [
        (CONCLUDE, "2026-01"),
        (CONCLUDE, "2026-02"),
    ]


def test_a_class_that_is_graded_waits_for_students_but_not_for_their_third_job(
    database, assignment
):
    grading = new_id()
    put(database, assignment, "all", GRADE, grading)
    for _ in range(4):
        put(database, assignment, "ada")
    assert order(database) == ["ada", "ada", "all", "ada", "ada"]


def test_the_same_job_is_put_once(database, assignment):
    jobs = {put(database, assignment, about="one").id for _ in range(3)}
    assert len(jobs) == 1


def test_a_lease_of_a_process_that_lives_holds_until_it_runs_out(database, assignment):
    job = put(database, assignment)
    mine = lease(database)
    assert (mine.id, mine.state, mine.owner) == (job.id, LEASED, places.me())
    assert lease(database) is None
    change_job(database, job, until=time.time() - 1)
    again = lease(database)
    assert (again.id, again.deaths) == (job.id, 1)
    with database.changing() as db:  # its former owner has lost it
        assert not queue.finish(db, mine)
        assert not queue.renew(db, mine)
        assert queue.renew(db, again)
        assert queue.finish(db, again)
    assert find_job(database, job).state == DONE


def change_job(database, job, **values):
    with database.changing() as db:
        queue.JOBS.change(db, values, id=job.id)


def test_a_lease_of_a_process_that_ended_is_free_at_once(database, assignment):
    job = put(database, assignment)
    pid = os.fork()
    if not pid:  # this child ends without a word
        os._exit(0)
    machine, _, start = places.me().split()
    taken = lease(database)
    change_job(database, job, owner=f"{machine} {pid} {start}")
    os.waitpid(pid, 0)
    assert lease(database).token != taken.token


def test_a_lease_of_another_machine_holds_until_it_runs_out(database, assignment):
    job = put(database, assignment)
    lease(database)
    change_job(database, job, owner="elsewhere 1 1@1")
    assert lease(database) is None
    change_job(database, job, until=time.time() - 1)
    assert lease(database) is not None


@pytest.mark.parametrize("database", KINDS[-1:], indirect=True)
@pytest.mark.parametrize("hours", [-2, 2])
def test_a_machine_whose_clock_is_wrong_takes_no_lease_and_keeps_none(
    database, assignment, monkeypatch, hours
):
    """Whose clock is two hours fast, or slow, goes by the server's."""
    job, right = put(database, assignment), time.time()
    monkeypatch.setattr(time, "time", lambda: right + hours * 3600)
    taken = lease(database)
    assert abs(taken.until - queue.LEASE - right) < 600
    change_job(database, job, owner="elsewhere 1 1@1")
    assert lease(database) is None
    with database.changing() as db:
        assert queue.renew(db, taken)
    assert abs(find_job(database, job).until - queue.LEASE - right) < 600
    with database.changing() as db:
        queue.put_off(db, taken)
    change_job(database, job, until=right - 1)
    assert lease(database) is not None


def test_three_deaths_in_a_row_are_a_fault_that_a_person_can_begin_anew(database, assignment):
    job = put(database, assignment)
    for _ in range(queue.MOST_DEATHS):
        assert lease(database) is not None
        change_job(database, job, until=1.0)
    assert lease(database) is None
    dead = find_job(database, job)
    assert (dead.state, dead.fault) == (FAULT, "its worker died 3 times")
    with database.changing() as db:
        assert queue.begin_anew(db, job.id)
    assert lease(database).deaths == 0


def test_deaths_count_from_what_was_done_last(database, assignment):
    job = put(database, assignment)
    for _ in range(3 * queue.MOST_DEATHS):
        taken = lease(database)
        with database.changing() as db:
            queue.note_progress(db, taken)
        change_job(database, job, until=1.0)
    assert lease(database).deaths == 1


def test_what_a_process_could_not_give_back_it_takes_again_without_a_death(database, assignment):
    put(database, assignment)
    lease(database)
    with database.changing() as db:
        queue.take_back(db)
    assert lease(database).deaths == 0


@pytest.mark.parametrize("until", [-1.0, 3600.0])  # the second one: the clock was set back
def test_what_is_put_off_lets_others_go_first(database, assignment, until):
    first, second = (put(database, assignment, key) for key in ("ada", "ben"))
    taken = lease(database)
    with database.changing() as db:
        queue.put_off(db, taken)
    assert taken.id == first.id
    assert lease(database).id == second.id
    assert lease(database) is None
    change_job(database, first, until=time.time() + until)
    assert lease(database).deaths == 0


def test_a_grading_is_concluded_when_nothing_of_it_is_left(database, assignment):
    with database.acting() as act:
        person = accounts.add_person(act, "Tess").id
        grading = GRADINGS.add(act.db, Grading(new_id(), assignment, person, 1.0, run=1))
    jobs = [put(database, assignment, key, GRADE, grading.id) for key in ("ada", "ben")]
    for job in jobs:
        with database.changing() as db:
            queue.follow_up(db)
            assert [one.kind for one in queue.of(db, grading.id)].count(CONCLUDE) == 0
            taken = queue.lease(db)
        with database.changing() as db:  # one is done, one broke
            (queue.finish if job is jobs[0] else lambda db, one: queue.record_error(db, one, "x"))(
                db, taken
            )
    for _ in range(2):
        with database.changing() as db:
            queue.follow_up(db)
            kinds = [one.kind for one in queue.of(db, grading.id)]
    assert kinds.count(CONCLUDE) == 1


def test_who_looks_while_the_last_job_gives_way_to_the_next_is_told_of_one(database, assignment):
    """A grading has no job for a moment; another worker puts and takes the next just then."""
    grading = Grading(new_id(), assignment, "", time.time(), run=1)
    with database.acting() as act:
        by = accounts.add_person(act, "Tess").id
        GRADINGS.add(act.db, grading._replace(person=by))

    def meanwhile(_db, cursor, statement, *_rest):
        if "job" in statement and not taken:
            taken.append(statement)
            other = Database(database._settings)
            with other.changing() as db:
                queue.follow_up(db)
                assert queue.lease(db).kind == CONCLUDE
            other.close()

    taken = []
    with database.reading() as db:
        event.listen(db, "after_cursor_execute", meanwhile)
        assert queue.is_due(db)
    assert taken


def test_who_looks_is_told_whether_there_is_something_to_do(database, assignment):
    with database.reading() as db:
        assert not queue.is_due(db)
    put(database, assignment)
    with database.reading() as db:
        assert queue.is_due(db)
        assert queue.census(db) == {(CHECK, WAITING): 1}


# --- a property --------------------------------------------------------------------------------


def test_how_many_wait_before_a_job(database, assignment):
    put(database, assignment, "ada", due="2026-01-02")
    put(database, assignment, "ada", due="2026-01-01")  # a second one: behind everybody's first
    put(database, assignment, "ben", due="2026-01-01")
    put(database, assignment, "cyd", due="2026-01-02")
    taken = lease(database)
    with database.reading() as db:
        waiting = [one for one in queue.JOBS.all(db) if one.state == WAITING]
        told = [queue.ahead(db, one) for one in waiting]
    places = [(one.turn, one.due, one.made, one.id) for one in waiting]
    assert taken.key == "ben"
    assert told == [sum(other < one for other in places) for one in places]
    assert sorted(told) == [0, 1, 2]
