"""Other points: each mark that would change is seen before anything is in force."""

import json
import re
from fractions import Fraction

import pytest

from harness.assignments import assignment as assignments
from harness.core.errors import UsageError
from harness.service.courses import point_weights
from harness.service.courses.point_weights import PointWeights
from harness.service.storage import courses
from harness.service.web import rendering
from tests.harness import small_class
from tests.service.serving import KINDS_AT_LENGTH, Browser, hand_in, make_course, marks, rows, work
from tests.service.test_gradebooks import api_of

pytestmark = pytest.mark.processes

ROSTER = "student,name\nada,Ada Right\nben,Ben Wrong\ncyd,Cyd Absent\n"
OTHER = {"part files": "1", "part public": "8", "part private": "2"}
WRONG = "return 2 * n if n != 2 else 5"  # one of four tests


def test_a_mark_that_was_given_for_other_points_is_told_until_it_is_given_again(service, counting):
    """It stays 3 when 11 instead of 7 points can be reached."""
    course = make_course(service, ROSTER)
    tess, points = course.teacher, f"{course.assignment}/points"
    first = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    told = "ada: 3 of 7, and now 11 can be reached"
    for student in ("cyd", "ada"):
        page = f"{course.assignment}/students/{student}"
        tess.post(f"{page}/override", page, points="3", reason="A talk.")
    seen = tess.post(points, points, **OTHER).url.path
    work(service)
    second = tess.post(f"{seen}/set", seen).url.path
    work(service)
    assert told not in tess.get(second).text  # no mark has changed
    tess.post(f"{second}/accept", second)
    work(service)
    assert told in tess.get(second).text and told not in tess.get(first).text
    tess.post(f"{page}/override", page, points="5", reason="A talk.")
    listed = api_of(service, "Tess Teacher")("GET", f"/api/v1{course.assignment}/gradings").json()[
        "items"
    ]
    assert [one["outdated_overrides"] for one in listed] == [[], [told.replace("ada", "cyd")]]
    assert [one["is_last"] for one in listed] == [False, True]


@pytest.mark.long(5)
def test_marks_change_after_they_were_seen_and_accepted_alone(service, counting):
    course = make_course(service, ROSTER, deadline="2999-01-01T00:00")
    tess, points = course.teacher, f"{course.assignment}/points"
    ada, ben = (Browser(service).enter(course.links[name]) for name in ("ada", "ben"))
    hand_in(ada, course)
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
    assert ["public", "4", "8"] in rows(tess.get(seen).text)  # it said 8 twice
    for asked in ("accept", "release", "again"):  # marks of before do not come back
        assert tess.post(f"{first}/{asked}", second).status_code == 409
    with service.database.reading() as db:
        told = [one for one in service.database.log.entries(db) if one.what == "points set"]
    assert len(told) == 1 and '"public": "8"' in told[0].details


DROPPED = {"weight public one.gtp%3A2": "0", "weight public two.gtp%3A1": "1/3"}


@pytest.mark.long(2)
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_wrong_test_is_left_out_after_it_was_seen_whose_marks_change(service, counting):
    """Ben fails one test of four; as the teacher finds out, it is the test that is wrong."""
    course = make_course(service, ROSTER, deadline="2999-01-01T00:00")
    tess, points = course.teacher, f"{course.assignment}/points"
    ada, ben = (Browser(service).enter(course.links[name]) for name in ("ada", "ben"))
    hand_in(ada, course)
    hand_in(ben, course, small_class.submission(WRONG))
    first = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    assert marks(tess.get(first).text)["ben"] == "6 of 7"

    same = {"part files": "1", "part public": "4", "part private": "2"}
    seen = tess.post(points, points, **same, **DROPPED).url.path
    assert work(service) == 1
    text = tess.get(seen).text
    assert "Marks that would change: 1 of 3" in text
    told = {row[0]: row[1:] for row in rows(text)}
    assert told["public: one.gtp:2"] == ["1", "0"] and told["public: two.gtp:1"] == ["1", "1/3"]
    assert told["ben"][1].startswith("6 of 7 becomes 7 of 7.")
    second = tess.post(f"{seen}/set", seen).url.path
    work(service)
    tess.post(f"{second}/accept", second)
    work(service)
    assert marks(tess.get(second).text) == {"ada": "7 of 7", "ben": "7 of 7", "cyd": "0 of 7"}
    assert field(tess.get(points).text, "weight public one.gtp%3A2") == "0"
    tess.post(f"{second}/release", early="yes")
    reason = "3 of 3 tests passed, by weight 2.33 of 2.33; 1 left out by weight 0."
    assert reason in ben.get(f"{course.assignment}/mark/feedback").text

    # What the form says is exact: sent as it is, it changes nothing.
    kept = {name: field(tess.get(points).text, name) for name in (*same, *DROPPED)}
    assert kept == same | DROPPED
    seen = tess.post(points, points, **kept).url.path
    work(service)
    assert "Marks that would change: 0 of 3" in tess.get(seen).text
    tess.post(f"{seen}/set", seen)
    assert json.loads(row_of(service, course).weights) == {
        "public": {"one.gtp:2": "0", "two.gtp:1": "1/3"}
    }
    with service.database.reading() as db:
        told = [one for one in service.database.log.entries(db) if one.what == "points set"]
    assert '"one.gtp:2": "0"' in told[0].details


def field(text, name):
    """Return the value of a field of a form."""
    return re.search(rf'name="{re.escape(name)}" value="([^"]*)"', text)[1]


def test_a_private_test_is_left_out_and_its_file_may_go(service, counting):
    course = make_course(service, ROSTER)
    tess, points = course.teacher, f"{course.assignment}/points"
    same = {"part files": "1", "part public": "4", "part private": "2"}
    place = "weight private mine.gtp%3A1"
    page = f"{course.assignment}/private"
    tess.post(page, page, {"file": ("mine.gtp", b"1 twice 5\n#? [10]\n2 twice 6\n#? [12]\n")})
    assert field(tess.get(points).text, place) == "1"
    seen = tess.post(points, points, **same, **{place: "0"}).url.path
    work(service)
    tess.post(f"{page}/remove", page, name="mine.gtp", sure="yes")
    answer = tess.post(f"{seen}/set", seen)
    assert answer.status_code == 422 and "there is no test &#39;mine.gtp:1&#39;" in answer.text
    assert row_of(service, course).weights == ""


def read(own, points, weights=None):
    """Read points and weights of an assignment that has no private case files."""
    return point_weights.read(
        own,
        point_weights.list_weighed_parts(own, own.place / "none"),
        PointWeights(points, weights or {}),
    )


def points_of(service, course):
    return row_of(service, course).points


def row_of(service, course):
    with service.database.reading() as db:
        return courses.ASSIGNMENTS.find(db, id=course.assignment.split("/")[-1])


def test_points_are_kept_exactly(counting):
    own, told = assignments.find("counting"), {"files": "0.1", "public": "1/3", "private": "0"}
    found = point_weights.apply_weights(own, read(own, told))
    assert [part.points for part in found.marks] == [Fraction(1, 10), Fraction(1, 3), Fraction(0)]
    assert point_weights.apply_weights(own, PointWeights()) == own


NO_POINTS = [
    ({"files": "1", "public": "x", "private": "1"}, "public: found 'x'"),
    ({"files": "1", "public": "-1", "private": "1"}, "public: found '-1'"),
    ({"files": "1", "public": "4", "private": ""}, "private: found ''"),
    ({"privat": "1"}, "there is no part 'privat'; there are: files, public, private"),
    ({"files": "0", "public": "0", "private": "0"}, "expected at least more than 0"),
    ({"files": "1e9", "public": "0", "private": "0"}, "files: found '1e9'"),
]


@pytest.mark.parametrize(("told", "said"), NO_POINTS)
def test_points_that_are_none(counting, told, said):
    with pytest.raises(UsageError, match=said):
        read(assignments.find("counting"), told)


def test_points_are_not_less_than_what_a_silent_engine_gets(counting):
    own = assignments.find("counting")._replace(does_not_run=Fraction(2))
    with pytest.raises(UsageError, match="found 1 together, expected at least 2"):
        read(own, {"files": "1", "public": "0", "private": "0"})


NO_WEIGHTS = [
    ({"public": {"one.gtp:2": "x"}}, "one.gtp:2: found 'x', expected a weight"),
    ({"public": {"one.gtp:2": "-1"}}, "one.gtp:2: found '-1'"),
    ({"public": {"one.gtp:9": "0"}}, "public: there is no test 'one.gtp:9'"),
    ({"public": {"three.gtp:1": "0"}}, "public: there is no test 'three.gtp:1'"),
    ({"secret": {"one.gtp:1": "0"}}, "there is no part 'secret'"),
    ({"private": {"three.gtp:1": "0", "three.gtp:2": "0"}}, "private: no test of it would"),
]


@pytest.mark.parametrize(("told", "said"), NO_WEIGHTS)
def test_weights_that_are_none(counting, told, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        read(assignments.find("counting"), {}, told)


def test_all_tests_may_be_left_out_of_a_part_that_is_worth_nothing(counting):
    told = {"private": {"three.gtp:1": "0", "three.gtp:2": "0"}}
    found = read(assignments.find("counting"), {"private": "0"}, told)
    assert found.weights == told


def test_a_weight_as_the_assignment_has_it_is_not_kept(counting):
    """So that another one in the assignment holds at once; and a weight can be taken back."""
    own = assignments.find("counting")
    public = own.marks[1]._replace(weights={"one.gtp": Fraction(3), "one.gtp:2": Fraction(1, 2)})
    own = own._replace(marks=(own.marks[0], public, own.marks[2]))
    now = {
        one.name: one.weight for one in point_weights.list_weighed_parts(own, own.place)[1].tests
    }
    assert now == {"one.gtp:1": 3, "one.gtp:2": Fraction(1, 2), "two.gtp:1": 1, "two.gtp:2": 1}
    told = {"public": {"one.gtp:1": "3", "one.gtp:2": "0.5", "two.gtp:1": "1"}}
    assert read(own, {}, told).weights == {}
    told["public"]["one.gtp:2"] = "1"
    assert read(own, {}, told).weights == {"public": {"one.gtp:2": "1"}}


CASES = """\
1 twice 1
#? [2]
1 twice 2
#? [4]
twice 3
#? [6]
2 once 4
#? [4]
3 twice 4
#? [8]*
4 twice 5
"""


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ((), {"one.gtp:1": 2, "one.gtp:-1": 1, "one.gtp:2": 1, "one.gtp:4": 1}),
        (("once",), {"one.gtp:2": 1}),
    ],
)
def test_the_tests_of_a_part_are_those_that_marks_are_made_of(counting, commands, expected):
    (counting / "one.gtp").write_text(CASES)
    own = assignments.find("counting")
    part = own.marks[1]._replace(commands=commands)
    (found,) = point_weights.list_weighed_parts(own._replace(marks=(part,)), counting / "none")
    told = {one.name: len(one.commands) for one in found.tests if one.name.startswith("one")}
    assert told == expected


@pytest.mark.parametrize("number", ["4", "0.5", "0.125", "1/3", "2/7", "0"])
def test_a_number_in_a_form_is_exact(number):
    assert Fraction(rendering.exactly(Fraction(number))) == Fraction(number)


STALE = "he points have changed since this preview was made: make a new preview"


def test_what_is_set_is_what_was_shown_and_a_weight_can_be_taken_back(service, counting):
    course = make_course(service, ROSTER)
    tess, points = course.teacher, f"{course.assignment}/points"
    same = {"part files": "1", "part public": "4", "part private": "2"}
    other = {"weight public two.gtp%3A2": "0"}
    first, second = (
        tess.post(points, points, **same, **told).url.path for told in (DROPPED, other)
    )
    work(service)
    tess.post(f"{first}/set", first)
    kept = {"one.gtp:2": "0", "two.gtp:1": "1/3"}
    assert json.loads(row_of(service, course).weights) == {"public": kept}
    work(service)
    refused = tess.post(f"{second}/set", second)  # its marks were compared with others
    assert refused.status_code == 409 and STALE in refused.text
    assert "Set these points and grade" not in refused.text
    api = api_of(service, "Tess Teacher")
    answer = api("POST", f"/api/v1{second}/set")
    assert answer.status_code == 409 and STALE in answer.json()["detail"]
    assert json.loads(row_of(service, course).weights) == {"public": kept}

    undone = dict.fromkeys(DROPPED, "1")
    second = tess.post(points, points, **same, **undone, **other).url.path
    work(service)
    grading = tess.post(f"{second}/set", second).url.path
    assert json.loads(row_of(service, course).weights) == {"public": {"two.gtp:2": "0"}}
    work(service)
    assert tess.post(f"{second}/set", second).url.path == grading
    again = api("POST", f"/api/v1{second}/set").json()
    assert again["id"] == grading.rpartition("/")[2] and work(service) == 0
    back = tess.post(points, points, **same, **dict.fromkeys(other, "1")).url.path
    work(service)
    told = {row[0]: row[1:] for row in rows(tess.get(back).text)}
    assert told["public: two.gtp:2"] == ["0", "1"]
    tess.post(f"{back}/set", back)
    assert json.loads(row_of(service, course).weights) == {}


BROKEN = b"1 twice 5\n#? [11]\n2 twice 6\n#? [12]\n"
MENDED = BROKEN.replace(b"11", b"10")
STILL = "Still left out"


def left_out(text):
    """Return the tests that a page says are still left out."""
    found = re.search(rf"<h2>{STILL}</h2>.*?</section>", text, re.DOTALL)
    return re.findall(r"<li>([^<]*)</li>", found[0]) if found else []


@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_who_corrects_a_file_is_told_what_is_still_left_out(service, counting):
    """Else a test that is right by now never counts, and nobody knows."""
    course = make_course(service, ROSTER)
    tess, points = course.teacher, f"{course.assignment}/points"
    page = f"{course.assignment}/private"
    same = {"part files": "1", "part public": "4", "part private": "2"}
    place = "weight private mine.gtp%3A1"

    def list_left_out():
        return [left_out(tess.get(one).text) for one in (course.assignment, page, points)]

    def preview(weight):
        seen = tess.post(points, points, **same, **{place: weight}).url.path
        work(service)
        return seen, left_out(tess.get(seen).text)

    tess.post(page, page, {"file": ("mine.gtp", BROKEN)})
    seen, still = preview("0")
    assert still == []
    tess.post(f"{seen}/set", seen)
    work(service)
    assert list_left_out() == [[], [], []]
    assert left_out(tess.post(page, page, {"file": ("mine.gtp", MENDED)}).text) == ["mine.gtp:1"]
    assert list_left_out() == [["mine.gtp:1"]] * 3
    back, still = preview("1")
    assert still == []
    seen, still = preview("0")  # a warned teacher may leave it out all the same
    assert still == ["mine.gtp:1"]
    tess.post(f"{seen}/set", seen)
    work(service)
    assert list_left_out() == [[], [], []]
    tess.post(f"{back}/set", back)
    tess.post(page, page, {"file": ("mine.gtp", BROKEN)})
    assert list_left_out() == [[], [], []]


def test_a_file_corrected_behind_a_preview_is_not_taken_for_the_one_that_was_seen(
    service, counting
):
    course = make_course(service, ROSTER)
    tess, points = course.teacher, f"{course.assignment}/points"
    page = f"{course.assignment}/private"
    same = {"part files": "1", "part public": "4", "part private": "2"}
    tess.post(page, page, {"file": ("mine.gtp", BROKEN)})
    seen = tess.post(points, points, **same, **{"weight private mine.gtp%3A1": "0"}).url.path
    work(service)
    tess.post(page, page, {"file": ("mine.gtp", MENDED)})
    assert left_out(tess.get(seen).text) == ["mine.gtp:1"]
    tess.post(f"{seen}/set", seen, all_the_same="yes")
    assert left_out(tess.get(points).text) == ["mine.gtp:1"]
