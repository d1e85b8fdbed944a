"""Other points: each mark that would change is seen before anything is in force."""

from fractions import Fraction

import pytest

from harness.assignments import assignment as assignments
from harness.errors import UsageError
from harness.service.courses import making
from harness.service.storage import courses
from tests.harness import small_class
from tests.service.serving import (
    KINDS,
    Browser,
    counting,
    made,
    marks,
    opened,
    rows,
    settings_of,
    work,
)
from tests.service.test_story import hand_in

__all__ = ["counting"]
pytestmark = pytest.mark.processes

ROSTER = "student,name\nada,Ada Right\nben,Ben Wrong\ncyd,Cyd Absent\n"
OTHER = {"part files": "1", "part public": "8", "part private": "2"}
WRONG = "return 2 * n if n != 2 else 5"  # one of four tests


@pytest.fixture(params=KINDS)
def service(request, tmp_path):
    with opened(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


def test_marks_change_after_they_were_seen_and_accepted_alone(service, counting):
    course = made(service, ROSTER, deadline="2999-01-01T00:00")
    tess, points = course.teacher, f"{course.assignment}/points"
    ada, ben = (Browser(service).enter(course.links[name]) for name in ("ada", "ben"))
    hand_in(ada, course, small_class.submission("return 2 * n"))
    hand_in(ben, course, small_class.submission(WRONG))
    first = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    before = {"ada": "7 of 7", "ben": "6 of 7", "cyd": "0 of 7"}
    assert marks(tess.get(first).text) == before

    seen = tess.post(points, points, **OTHER).url.path
    assert "being compared" in tess.get(seen).text
    assert tess.post(f"{seen}/set", seen).status_code == 409
    assert work(service) == 1
    changed = {row[0]: row[2] for row in rows(tess.get(seen).text)[3:]}
    assert changed["ada"].startswith("7 of 7 becomes 11 of 11.")
    assert changed["ben"].startswith("6 of 7 becomes 9 of 11.")
    assert changed["cyd"].startswith("0 of 7 becomes 0 of 11.")
    assert marks(tess.get(first).text) == before  # nothing is in force
    assert points_of(service, course) == ""

    second = tess.post(f"{seen}/set", seen).url.path
    work(service)
    page = tess.get(second).text
    assert marks(page) == before and "Ben Wrong: 6 of 7 becomes 9 of 11" in page
    tess.post(f"{second}/accept", second)
    work(service)
    assert marks(tess.get(second).text) == {"ada": "11 of 11", "ben": "9 of 11", "cyd": "0 of 11"}
    assert 'value="8"' in tess.get(points).text
    for asked in ("accept", "release", "again"):  # marks of before do not come back
        assert tess.post(f"{first}/{asked}", second).status_code == 409
    with service.database.reading() as db:
        told = [one for one in service.database.log.entries(db) if one.what == "points set"]
    assert len(told) == 1 and '"public": "8"' in told[0].details


def test_before_any_grading_nothing_would_change(service, counting):
    course = made(service, ROSTER)
    tess, points = course.teacher, f"{course.assignment}/points"
    seen = tess.post(points, points, **OTHER).url.path
    work(service)
    assert "Marks that would change: 0 of 0" in tess.get(seen).text


def points_of(service, course):
    with service.database.reading() as db:
        return courses.ASSIGNMENTS.find(db, id=course.assignment.split("/")[-1]).points


def test_points_are_kept_exactly(counting):
    own = assignments.find("counting")
    told = making.read_points(own, {"files": "0.1", "public": "1/3", "private": "0"})
    found = making.with_points(own, told)
    assert [part.points for part in found.marks] == [Fraction(1, 10), Fraction(1, 3), Fraction(0)]
    assert making.with_points(own, {}) == own


NO_POINTS = [
    ({"files": "1", "public": "x", "private": "1"}, "public: found 'x'"),
    ({"files": "1", "public": "-1", "private": "1"}, "public: found '-1'"),
    ({"files": "1", "public": "4"}, "private: found ''"),
    ({"files": "0", "public": "0", "private": "0"}, "expected at least more than 0"),
    ({"files": "1e9", "public": "0", "private": "0"}, "files: found '1e9'"),
]


@pytest.mark.parametrize(("told", "said"), NO_POINTS)
def test_points_that_are_none(counting, told, said):
    with pytest.raises(UsageError, match=said):
        making.read_points(assignments.find("counting"), told)


def test_points_are_not_less_than_what_a_silent_engine_gets(counting):
    own = assignments.find("counting")._replace(does_not_run=Fraction(2))
    with pytest.raises(UsageError, match="found 1 together, expected at least 2"):
        making.read_points(own, {"files": "1", "public": "0", "private": "0"})
