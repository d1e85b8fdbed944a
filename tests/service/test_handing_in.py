"""Handing in: dates and extensions, groups, withdrawing, what is refused; and rosters."""

import datetime
import itertools

import pytest

from harness.assignments import assignment as assignments
from harness.core.errors import UsageError
from harness.service.courses import making, roster, submissions
from harness.service.people import accounts
from harness.service.records import CHECK, STUDENT, CourseAssignment
from harness.service.storage import courses, queue
from tests.service.serving import KINDS, open_service, read_roster, settings_of

NOW = datetime.datetime(2026, 3, 1, 12, 0)
ZONE = f"{NOW.astimezone():%Z}"
_NUMBERS = itertools.count()


@pytest.fixture(scope="module", params=KINDS)
def service(request, tmp_path_factory):
    with open_service(
        settings_of(request.param, request, tmp_path_factory.mktemp("data"))
    ) as found:
        yield found


@pytest.fixture
def act(service):
    with service.database.acting() as found:
        yield found._replace(by=accounts.add_person(found, "Tess").id)


def assign(act, roster_text="student\nada\nben\n", **dates):
    course = making.course(act, f"Games {next(_NUMBERS)}").id
    roster.take(act, course, read_roster(roster_text.encode()))
    told = {"opens": "", "deadline": "", "closes": "", "deduction": "", **dates}
    return making.assign(
        act, CourseAssignment("", course, "", "gosensei", grace=0, made=0.0, **told)
    )


def at(hours):
    return (NOW + datetime.timedelta(hours=hours)).isoformat()


DATES = [  # hours from now at which it opens, is due, closes, is due for ada; what she is told
    (None, None, None, None, ""),
    (1, None, None, None, f"it opens on 1 Mar 2026, 13:00 {ZONE}"),
    (-1, 2, 3, None, ""),
    (None, -2, None, None, ""),  # late, and taken
    (None, -2, -1, None, f"it closed on 1 Mar 2026, 11:00 {ZONE}"),
    (None, -2, -1, 1, ""),
    (None, -3, -2, -1, f"it closed on 1 Mar 2026, 11:00 {ZONE}"),
]


@pytest.mark.parametrize(("opens", "deadline", "closes", "own", "told"), DATES)
def test_what_is_taken_when(act, opens, deadline, closes, own, told):
    hours = {"opens": opens, "deadline": deadline, "closes": closes}
    dates = {name: at(value) for name, value in hours.items() if value is not None}
    assigned = assign(act, **dates)
    if own is not None:
        courses.extend(act.db, assigned.id, ["ada"], at(own))
    assert submissions.explain_closed(act.db, assigned, "ada", NOW) == told


def test_an_extension_is_given_taken_back_and_graded_with(act):
    assigned = assign(act, deadline=at(0))
    courses.extend(act.db, assigned.id, ["ada"], at(5))
    courses.extend(act.db, assigned.id, ["ada"], at(7))
    own = assignments.find(assigned.source)
    found = making.apply_course_settings(own, assigned, courses.extensions(act.db, assigned.id))
    assert found.late.of(["ada"]).deadline == NOW + datetime.timedelta(hours=7)
    assert found.late.of(["ben"]).deadline == NOW
    courses.extend(act.db, assigned.id, ["ada"], "")
    assert courses.extensions(act.db, assigned.id) == {}


GROUPS = "student,group\nada,one\nben,one\ncyd,\n"


def handed_in(service, act, assigned, key, tmp_path, content=b"x"):
    members = courses.MEMBERS.all(act.db, course=assigned.course, role=STUDENT)
    (member,) = (one for one in members if one.key == key)
    path = tmp_path / "a.tgz"
    path.write_bytes(content)
    kept = submissions.keep(service.store, path, "a.tgz", 100)
    return submissions.take(act, assigned, member, kept)


def test_a_group_hands_in_as_one(service, act, tmp_path):
    assigned = assign(act, GROUPS)
    first = handed_in(service, act, assigned, "ada", tmp_path)
    second = handed_in(service, act, assigned, "ben", tmp_path)
    alone = handed_in(service, act, assigned, "cyd", tmp_path)
    assert (first.key, second.key, alone.key) == ("one", "one", "cyd")
    found = {one.key: one for one in submissions.entries(act.db, service.store, assigned)}
    assert [student.key for student in found["one"].students] == ["ada", "ben"]
    assert (len(found["one"].files), len(found["cyd"].files)) == (2, 1)


def test_what_is_withdrawn_does_not_count_and_is_not_checked(service, act, tmp_path):
    assigned = assign(act)
    first, last = (handed_in(service, act, assigned, "ada", tmp_path) for _ in range(2))
    assert submissions.history_of(act.db, assigned, "ada").last == last
    submissions.withdraw(act, assigned, "ada", last)
    assert submissions.history_of(act.db, assigned, "ada").last == first
    assert queue.of(act.db, last.id) == []
    assert [one.kind for one in queue.of(act.db, first.id)] == [CHECK]
    submissions.withdraw(act, assigned, "ada", first)
    assert submissions.history_of(act.db, assigned, "ada").last is None


def test_a_file_that_is_not_taken(service, tmp_path):
    path = tmp_path / "a.tgz"
    for size, said in ((0, "the file is empty"), (101, "the limit is 100")):
        path.write_bytes(bytes(size))
        with pytest.raises(UsageError, match=said):
            submissions.keep(service.store, path, "a.tgz", 100)


WRONG = [
    ({"deadline": "tomorrow"}, "deadline: found 'tomorrow', expected a local time"),
    ({"deadline": "0001-01-01T00:00+01:00"}, "expected a local time"),
    ({"deadline": "2026-01-02", "closes": "2026-01-01"}, "closes: this is before the deadline"),
    ({"deduction": "101"}, "deduction: found '101', expected a percentage"),
    ({"deduction": "1/0"}, "expected a percentage"),
]


@pytest.mark.parametrize(("dates", "said"), WRONG)
def test_an_assignment_with_a_wrong_date_is_not_made(act, dates, said):
    with pytest.raises(UsageError, match=said):
        assign(act, **dates)


def test_a_date_with_an_offset_is_kept_as_the_local_time(act):
    local = assign(act, deadline=NOW.astimezone(datetime.UTC).isoformat()).deadline
    assert local == NOW.isoformat()
