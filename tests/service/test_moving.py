"""Students moved by a later roster: what they submitted, their dates and their marks go along."""

import datetime
import json

import pytest

from harness.core.errors import UsageError
from harness.service.courses import deadlines, making, roster, submissions
from harness.service.people import accounts
from harness.service.records import TEACHER, CourseAssignment
from harness.service.storage import courses
from tests.harness import small_class
from tests.service.serving import Browser, grade_public, make_course, read_roster, work
from tests.service.serving import hand_in as submit
from tests.service.serving import marks as read_marks
from tests.service.test_api_gradings import Asker

ALONE, DUO = "ada,\nben,\ncyd,\ndan,\n", "ada,\nben,\ncyd,duo\ndan,duo\n"
HEAD = "student,group\n"


def take_roster(act, course, lines):
    roster.take(act, course, read_roster(f"{HEAD}{lines}".encode()))


def begin(service, lines):
    """Make an assignment of a course with a roster."""
    with service.database.acting() as act:
        by = act._replace(by=accounts.add_person(act, "Tess").id)
        course = making.course(by, "Games").id
        take_roster(by, course, lines)
        told = CourseAssignment("", course, "", "gosensei", "", "", "", "0", 0, 0.0)
        return making.assign(by, told._replace(deadline="2026-01-01T00:00"))


def hand_in(service, assigned, who, name, folder):
    path = folder / "a.tgz"
    path.write_text(name)
    kept = submissions.keep(service.store, path, name, 100)
    with service.database.acting() as act:
        (member,) = (one for one in courses.students(act.db, assigned.course) if one.key == who)
        return submissions.take(act, assigned, member, kept)


def count_submissions(service, assigned):
    """Return by students and groups what would be graded now: the last name counts."""
    with service.database.reading() as db:
        found = submissions.entries(db, service.store, assigned)
    return {one.key: " ".join(file.name for file in one.files) for one in found}


# The roster before, who hands in what, the roster after; what of it is graded for whom, in order.
MOVES = {
    "alone, then a group is joined that goes on": (
        DUO, "cyd:1 ada:2", "ada,duo\n", {"ben": "", "duo": "1 2"}),
    "joined, and the group submitted last": (DUO, "ada:1 dan:2", "ada,duo\n", {"duo": "1 2"}),
    "left a group: it was both's, and still is": (
        DUO, "dan:1", "dan,\n", {"dan": "1", "duo": "1"}),
    "joined a group that submitted nothing": (DUO, "ada:1", "ada,duo\n", {"duo": "1"}),
    "from one group to another that submitted before": (
        "ada,one\nben,one\ncyd,two\ndan,two\n", "ada:1 cyd:2", "dan,one\n",
        {"one": "1", "two": "2"}),
    "from one group to another that submitted nothing": (
        "ada,one\nben,one\ncyd,two\ndan,two\n", "cyd:2", "dan,one\n", {"one": "2", "two": "2"}),
    "two groups merged: the last of all counts": (
        "ada,one\nben,one\ncyd,two\ndan,two\n", "cyd:1 ada:2", "cyd,one\ndan,one\n",
        {"one": "1 2"}),
    "merged under a new name": (
        "ada,one\nben,one\ncyd,two\ndan,two\n", "cyd:1 ada:2",
        "ada,six\nben,six\ncyd,six\ndan,six\n", {"six": "1 2"}),
    "groups got each other's names": (
        "ada,one\nben,one\ncyd,two\ndan,two\n", "ada:1 cyd:2",
        "ada,two\nben,two\ncyd,one\ndan,one\n", {"one": "2", "two": "1"}),
    "half of two groups changed places": (
        "ada,one\nben,one\ncyd,two\ndan,two\n", "ada:1 cyd:2", "ada,two\ncyd,one\n",
        {"one": "1", "two": "2"}),
    "a group is dissolved": (DUO, "cyd:1", "cyd,\ndan,\n", {"cyd": "1", "dan": "1"}),
    "a group is made of two that were alone": (
        ALONE, "ada:1 ben:2", "ada,new\nben,new\n", {"new": "1 2"}),
    "who is not in the roster stays": (DUO, "cyd:1 dan:2", "ada,\n", {"duo": "1 2"}),
    "somebody new in a group": (DUO, "cyd:1", "eve,duo\n", {"duo": "1"}),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_what_is_graded_after_a_later_roster(service, tmp_path, name):
    before, sent, after, expected = MOVES[name]
    assigned = begin(service, before)
    for who, file in (word.split(":") for word in sent.split()):
        hand_in(service, assigned, who, file, tmp_path)
    with service.database.acting() as act:
        take_roster(act, assigned.course, after)
    found = count_submissions(service, assigned)
    assert {key: found.get(key) for key in expected} == expected


def test_who_came_back_has_what_was_sent_alone(service, tmp_path):
    assigned = begin(service, DUO)
    hand_in(service, assigned, "ada", "1", tmp_path)
    with service.database.acting() as act:
        take_roster(act, assigned.course, "ada,duo\n")
    hand_in(service, assigned, "ada", "2", tmp_path)
    with service.database.acting() as act:
        take_roster(act, assigned.course, "ada,\n")
    assert count_submissions(service, assigned) == {"ada": "1", "ben": "", "duo": "2"}


def test_who_is_moved_while_a_file_is_sent_has_it_all_the_same(service, tmp_path):
    assigned = begin(service, DUO)
    path = tmp_path / "a.tgz"
    path.write_text("1")
    with service.database.acting() as act:
        before = courses.students(act.db, assigned.course)[0]
        take_roster(act, assigned.course, "ada,duo\n")
    with service.database.acting() as act:
        submissions.take(act, assigned, before, submissions.keep(service.store, path, "1", 100))
    assert count_submissions(service, assigned) == {"ben": "", "duo": "1"}


def test_what_one_sent_for_a_group_stays_when_that_one_is_removed(service, tmp_path):
    assigned = begin(service, DUO)
    upload = hand_in(service, assigned, "dan", "1", tmp_path)
    with service.database.changing() as db:
        courses.MEMBERS.remove(db, course=assigned.course, person=upload.person)
    assert count_submissions(service, assigned)["duo"] == "1"


EXTENSIONS = {  # hours by student; the roster after it; hours by student then
    "joined a group": ({"ada": 5}, "ada,duo\n", {"duo": 5, "ben": 0}),
    "joined a group that has a later one": ({"ada": 5, "duo": 7}, "ada,duo\n", {"duo": 7}),
    "joined a group that has an earlier one": ({"ada": 9, "duo": 7}, "ada,duo\n", {"duo": 9}),
    "left a group": ({"duo": 5}, "dan,\n", {"dan": 5, "duo": 5}),
    "changed groups": ({"duo": 5}, "dan,\ncyd,one\nada,one\n", {"dan": 5, "one": 5}),
    "another group gets the name": ({"duo": 5}, "cyd,\ndan,\nada,duo\nben,duo\n", {"duo": 0}),
}


@pytest.mark.parametrize("name", EXTENSIONS)
def test_an_extension_is_kept(service, name):
    given, after, expected = EXTENSIONS[name]
    assigned = begin(service, DUO)
    late = datetime.datetime.fromisoformat(assigned.deadline)
    with service.database.acting() as act:
        for key, hours in given.items():
            own = (late + datetime.timedelta(hours=hours)).isoformat()
            deadlines.extend(act, assigned, key, own)
        take_roster(act, assigned.course, after)
        rule = making.late(assigned, courses.extensions(act.db, assigned.id))
        members = courses.students(act.db, assigned.course)
    found = {
        key: rule.of(one.key for one in members if one.submits_as == key).deadline - late
        for key in expected
    }
    assert found == {key: datetime.timedelta(hours=value) for key, value in expected.items()}


def test_an_extension_of_a_group_ends_for_all_of_it(service):
    assigned = begin(service, DUO)
    with service.database.acting() as act:
        for key, own in (("ada", "2026-01-03"), ("duo", "2026-01-02"), ("duo", "")):
            deadlines.extend(act, assigned, key, own)
        assert set(courses.extensions(act.db, assigned.id)) == {"ada"}


NO_GROUPS = ["eve,ada\n", "eve,Ada\n"]


@pytest.mark.parametrize("lines", NO_GROUPS)
def test_a_group_that_is_called_as_a_student_is_refused(service, lines):
    """Else what one of them submits would be graded for both."""
    assigned = begin(service, ALONE)
    with service.database.acting() as act, pytest.raises(UsageError, match="call the group"):
        take_roster(act, assigned.course, lines)


def test_the_audit_log_tells_who_was_moved(service):
    assigned = begin(service, DUO)
    with service.database.acting() as act:
        take_roster(act, assigned.course, "ada,duo\nben,\ndan,\neve,duo\n")
        told = [one for one in service.database.log.entries(act.db) if one.what == "roster taken"]
    found = [json.loads(one.details)["moved"] for one in told]
    assert {"ada": ["", "duo"], "dan": ["duo", ""]} in found and {} in found


# --- the whole way -----------------------------------------------------------------------------

ROSTER = f"{HEAD}ada,\nben,\ncyd,duo\ndan,duo\n"
RIGHT, WRONG = "return 2 * n", "return n"


def send(student, course, body):
    return submit(student, course, small_class.submission(body)).url.path


def move(course, lines):
    files = {"file": ("roster.csv", f"{HEAD}{lines}".encode())}
    assert course.teacher.post(f"{course.course}/roster", files=files).status_code == 200


@pytest.mark.stored
@pytest.mark.processes
@pytest.mark.long(60)
def test_marks_pages_and_overrides_follow_who_is_moved(service, counting):
    tomorrow = (datetime.datetime.now() + datetime.timedelta(days=1)).isoformat()[:16]
    course = make_course(service, ROSTER, deadline=tomorrow)
    ada, _, cyd, dan = (Browser(service).enter(link) for link in course.links.values())
    first, theirs = send(ada, course, RIGHT), send(cyd, course, WRONG)
    tess, page = course.teacher, f"{course.assignment}/students"
    grading, marks = grade_public(service, course)
    assert (marks["ada"], marks["duo"]) == ("5 of 5", "1 of 5")
    told = {"points": "3", "reason": "spoken to cyd and dan"}
    assert tess.post(f"{page}/duo/override", f"{page}/duo", **told).status_code == 200
    tess.post(f"{page}/duo/comment", f"{page}/duo", text="for duo alone")
    tess.post(f"{grading}/release", early="yes")

    move(course, "ada,duo\ndan,\nben,\n")
    mark = f"{course.assignment}/mark"
    assert "Your mark is 5 of 5." in ada.get(mark).text  # which ada got: duo's is not hers
    assert "for duo alone" not in ada.get(mark).text
    for student in (cyd, dan):
        assert "Your mark is 3 of 5, given by your teacher" in student.get(mark).text
        assert "for duo alone" in student.get(mark).text
        assert student.get(f"{mark}/feedback").status_code == 200
    assert tess.get(f"{grading}/given").text.splitlines()[1:] == [
        "ada,,5,5,5,",
        "ben,,0,0,5,",
        "cyd,duo,1,3,5,spoken to cyd and dan",
        "dan,duo,1,3,5,spoken to cyd and dan",
    ]

    # What may be read, and withdrawn: duo's stays duo's, though dan may read it.
    assert ada.get(theirs).status_code == cyd.get(first).status_code == 200
    assert dan.get(theirs).status_code == 200 and dan.get(first).status_code == 404
    answer = dan.post(f"{theirs}/withdraw", theirs, sure="yes")
    assert answer.status_code == 409 and "continues" in answer.text

    # The next grading: ada's is in duo, whose last one counts; dan has what duo submitted.
    assert "this one counts" in dan.get(course.assignment).text
    _, marks = grade_public(service, course)
    assert marks == {"ben": "0 of 5", "dan": "1 of 5", "duo": "1 of 5"}
    send(ada, course, RIGHT)
    grading, marks = grade_public(service, course)
    assert marks == {"ben": "0 of 5", "dan": "1 of 5", "duo": "1 of 5"}  # in force, until accepted
    tess.post(f"{grading}/accept", grading)
    work(service)
    text_ = tess.get(grading).text
    assert read_marks(text_)["duo"] == "5 of 5"
    assert "cyd: 3 of 5" in text_ and "ada: 3" not in text_


def by_api(service, grading):
    """Return the marks of a grading as the API lists them, a page at a time."""
    with service.database.reading() as db:
        (tess,) = courses.MEMBERS.all(db, role=TEACHER)
    asker, marks, after = Asker(service, tess.person), [], ""
    while after is not None:
        page = asker.get(f"{grading}/marks", limit=2, after=after)
        marks, after = marks + page["items"], page["next"]
    assert "expected the next" in asker.get(f"{grading}/marks", 422, after="zoe")["detail"]
    return marks


@pytest.mark.long(3)
@pytest.mark.processes
def test_who_is_new_in_a_group_is_told_to_have_no_mark_yet(service, counting):
    """The group's mark stays with its remaining students; nobody has two, or another one's."""
    course = make_course(service, ROSTER, deadline="2999-01-01T00:00")
    ada, _, cyd, _ = (Browser(service).enter(link) for link in course.links.values())
    send(cyd, course, WRONG)
    _, marks = grade_public(service, course)
    assert (marks["ada"], marks["duo"]) == ("0 of 5", "1 of 5")

    move(course, "ada,duo\nben,\ncyd,duo\ndan,\n")
    send(ada, course, RIGHT)
    grading, marks = grade_public(service, course)
    assert marks == {"ben": "0 of 5", "dan": "1 of 5", "duo": "1 of 5", "ada": "none"}
    tess = course.teacher
    assert "new in duo: no mark until" in tess.get(grading).text
    assert "1 student without a mark yet" in tess.get(f"{grading}/files/class.html").text
    given = tess.get(f"{grading}/given").text.splitlines()[1:]
    assert given == ["ben,,0,0,5,", "cyd,duo,1,1,5,", "dan,,1,1,5,"]
    told = by_api(service, grading)
    assert [(one["student"], one["group"], one["points"], one["of"]) for one in told] == [
        ("ada", "duo", None, None), ("ben", "", "0", "5"),
        ("cyd", "duo", "1", "5"), ("dan", "", "1", "5"),
    ]  # fmt: skip
    assert told[0]["reason"].startswith("new in duo: no mark until")
    tess.post(f"{grading}/accept", grading)
    work(service)
    marks = read_marks(tess.get(grading).text)
    assert marks == {"ben": "0 of 5", "dan": "1 of 5", "duo": "5 of 5"}

    # A group whose students have all gone holds nobody's mark: nothing is to be accepted.
    move(course, "ada,\nben,duo\ncyd,\ndan,\n")
    grading, marks = grade_public(service, course)
    assert marks["duo"] == "0 of 5"
    assert "without a mark" not in tess.get(f"{grading}/files/class.html").text
