"""What the staff do for one student or group: on the pages, and what comes of it in the mark."""

import csv
import datetime
import json
import re
from fractions import Fraction

import pytest

from harness.core.errors import UsageError
from harness.grading.exports import exporters
from harness.grading.records import Marks
from harness.service.courses import deadlines, gradings
from harness.service.local_times import describe_date
from harness.service.records import CourseAssignment, Override
from harness.service.storage import courses
from tests.service.serving import (
    KINDS_AT_LENGTH,
    Browser,
    grade_public,
    hand_in,
    make_course,
    marks,
    rows,
    work,
)

pytestmark = pytest.mark.processes

ROSTER = "student,name,group\nada,Ada Right,\nben,Ben Wrong,\ncyd,Cyd,duo\ndan,Dan,duo\n"


def at(hours):
    now = datetime.datetime.now().replace(second=0, microsecond=0)
    return (now + datetime.timedelta(hours=hours)).isoformat()


def test_an_extension_counts_for_who_has_it_alone(service, counting):
    """Handed in late by all; half of the points is the price."""
    course, end = make_course(service, ROSTER, deadline=at(-2), deduction="50"), at(3)
    who = {name: Browser(service).enter(course.links[name]) for name in ("ada", "ben", "cyd")}
    for student in who.values():
        hand_in(student, course)
    for key in ("ada", "duo"):
        page = f"{course.assignment}/students/{key}"
        answer = course.teacher.post(f"{page}/extension", page, deadline=end)
        assert answer.status_code == 200 and describe_date(end) in answer.text
    _, found = grade_public(service, course)
    assert found == {"ada": "5 of 5", "ben": "2.5 of 5", "duo": "5 of 5"}
    assert "Your deadline" in who["cyd"].get(course.assignment).text
    assert "Your deadline" not in who["ben"].get(course.assignment).text

    page = f"{course.assignment}/students/ada"
    assert course.teacher.post(f"{page}/extension", page, deadline="").status_code == 200
    grading, found = grade_public(service, course)
    assert found["ada"] == "5 of 5"  # which is in force, until somebody says that it changes
    course.teacher.post(f"{grading}/accept", grading)
    work(service)
    assert marks(course.teacher.get(grading).text)["ada"] == "2.5 of 5"
    with service.database.reading() as db:
        told = [(one.what, one.details) for one in service.database.log.entries(db)]
    assert any("deadline extended" in what and '"duo"' in how for what, how in told)


def test_an_extension_opens_what_is_closed(service, counting):
    course = make_course(service, ROSTER, deadline=at(-3), closes=at(-2))
    ada = Browser(service).enter(course.links["ada"])
    hand_in(ada, course, status=422)
    page = f"{course.assignment}/students/ada"
    course.teacher.post(f"{page}/extension", page, deadline=at(1))
    hand_in(ada, course)


WRONG = [
    ("2026-01-01T12:00", "expected a time after that of all"),
    ("2026-01-02T00:00", "expected a time after that of all"),
    ("soon", "expected a local time"),
]


def test_a_deadline_that_is_none_is_not_taken(service, counting):
    course = make_course(service, ROSTER, deadline="2026-01-02T00:00")
    page = f"{course.assignment}/students/ada"
    for own, said in WRONG:
        answer = course.teacher.post(f"{page}/extension", page, deadline=own)
        assert answer.status_code == 422 and said in answer.text
    with service.database.reading() as db:
        assert courses.extensions(db, course.assignment.split("/")[-1]) == {}


def test_there_may_be_nothing_to_extend(service):
    """An assignment without dates; one that only closes may be extended after that."""
    with service.database.acting() as act:
        assigned = CourseAssignment("a", "", "", "", "", "", "", "", 0, 0.0)
        with pytest.raises(UsageError, match="has none that could be extended"):
            deadlines.extend(act, assigned, "ada", "2026-01-02T00:00")
        closing = assigned._replace(closes="2026-01-02T00:00")
        with pytest.raises(UsageError, match="after that of all, 2 Jan 2026, 00:00"):
            deadlines.extend(act, closing, "ada", "2026-01-01T00:00")


def test_a_mark_is_overridden_with_a_reason_and_the_computed_one_is_kept(service, counting):
    course = make_course(service, ROSTER, deadline=at(9))
    ada, ben, cyd = (Browser(service).enter(course.links[key]) for key in ("ada", "ben", "cyd"))
    for student in (ada, cyd):
        hand_in(student, course)
    page, tess = f"{course.assignment}/students/duo", course.teacher
    told = {"points": "3.5", "reason": "=a trade\nof <b>names</b>"}
    assert tess.post(f"{page}/override", page, **told).status_code == 409  # nothing to override
    grading, before = grade_public(service, course)
    for student in (page, f"{course.assignment}/students/ada"):
        assert tess.post(f"{student}/comment", student, text="<i>seen</i>").status_code == 200
    answer = tess.post(f"{page}/override", page, **told).text
    assert "<b>3.5 of 5</b>" in answer and "which was 5 of 5" in answer
    assert "of &lt;b&gt;names&lt;/b&gt;" in answer
    assert marks(tess.get(grading).text) == before  # and the computed one stays
    assert ["duo", "5 of 5", "3.5 of 5", ""] in rows(tess.get(grading).text)

    mark = f"{course.assignment}/mark"
    assert cyd.get(mark).status_code == 404  # not released
    tess.post(f"{grading}/release", early="yes")
    assert "<b>3.5 of 5</b>" in cyd.get(mark).text and "of &lt;b&gt;names" in cyd.get(mark).text
    assert "Your mark is 5 of 5." in ada.get(mark).text and "names" not in ada.get(mark).text
    assert "&lt;i&gt;seen" in ada.get(mark).text and "seen" not in ben.get(mark).text
    assert tess.get(f"{grading}/given").text.splitlines() == [
        "student,group,computed,given,of,reason",
        "ada,,5,5,5,",
        "ben,,0,0,5,",
        "cyd,duo,5,3.5,5,'=a trade ⏎ of <b>names</b>",
        "dan,duo,5,3.5,5,'=a trade ⏎ of <b>names</b>",
    ]
    work(service)
    assert read_exported(tess, grading) == {"ada": ("5", "5"), "ben": ("0", "0"),
                                       "cyd": ("5", "3.5"), "dan": ("5", "3.5")}  # fmt: skip
    class_page = tess.get(f"{grading}/files/class.html").text
    assert "given 3.5 by a person" in class_page and "Cyd: 3.5 instead of 5 of 5" in class_page
    assert "(5 of 5): =a trade" in cyd.get(f"{mark}/feedback").text
    assert "Given by a person" not in ada.get(f"{mark}/feedback").text
    with service.database.reading() as db:
        (entry,) = (one for one in service.database.log.entries(db) if "overrid" in one.what)
    details = {"computed": "5 of 5", "key": "duo", "points": "7/2", "why": told["reason"]}
    details["students"] = ["cyd", "dan"]
    assert (entry.what, json.loads(entry.details)) == ("mark overridden", details)

    tess.post(f"{page}/override/end", page, sure="yes")
    assert "Your mark is 5 of 5." in cyd.get(mark).text
    assert "being rewritten" in tess.get(grading).text
    work(service)
    assert "being rewritten" not in tess.get(grading).text
    assert {total for _, total in read_exported(tess, grading).values()} == {"5", "0"}


def test_the_feedback_has_the_mark_that_counts_while_a_later_grading_is_not_released(
    service, counting
):
    course = make_course(service, ROSTER, deadline=at(9))
    ada, page = Browser(service).enter(course.links["ada"]), f"{course.assignment}/students/ada"
    hand_in(ada, course)
    grading, _ = grade_public(service, course)
    course.teacher.post(f"{grading}/release", early="yes")
    feedback = f"{course.assignment}/mark/feedback"
    computed = ada.get(feedback).text
    course.teacher.post(f"{page}/override", page, points="3", reason="first reason")
    work(service)
    assert "first reason" in ada.get(feedback).text
    grade_public(service, course)
    course.teacher.post(f"{page}/override", page, points="4", reason="second reason")
    work(service)
    shown = ada.get(feedback).text
    assert "second reason" in shown and "first reason" not in shown
    course.teacher.post(f"{page}/override/end", page, sure="yes")
    work(service)
    assert ada.get(feedback).text == computed


def read_exported(teacher, grading):
    """Return by student the computed mark and the one that counts, as the sheet has them."""
    text = teacher.get(f"{grading}/files/marks.csv").text
    rows = {row["key"]: row for row in csv.DictReader(text.splitlines())}
    return {key: (row.get("computed", row["total"]), row["total"]) for key, row in rows.items()}


def test_a_mark_given_while_the_sheets_are_written_is_in_them_soon(service, counting, monkeypatch):
    course = make_course(service, ROSTER, deadline=at(9))
    page, write = f"{course.assignment}/students/ben", exporters.write
    grade_public(service, course)

    def slowly(result, folder, sheets, **told_of):
        if not result.given:  # another worker would be at it for long
            told = {"points": "2", "reason": "seen"}
            assert course.teacher.post(f"{page}/override", page, **told).status_code == 200
        return write(result, folder, sheets, **told_of)

    monkeypatch.setattr(exporters, "write", slowly)
    grading, _ = grade_public(service, course)
    assert read_exported(course.teacher, grading)["ben"] == ("0", "2")


MARKS = Marks((), Fraction(0), "", Fraction(4), Fraction(5))
NO_OVERRIDE = [
    ("5.01", "x", "points: found '5.01', expected 0 to 5"),
    ("-1", "x", "expected 0 to 5"),
    ("", "x", "expected 0 to 5"),
    ("1e999999999", "x", "expected 0 to 5"),
    ("1/0", "x", "expected 0 to 5"),
    ("nan", "x", "expected 0 to 5"),
    ("4", " \n", "reason: found 0 characters"),
    ("4", "x" * 4001, "reason: found 4001 characters"),
]


def test_a_mark_that_nobody_can_give(service):
    assigned = CourseAssignment("a", "", "", "", "", "", "", "", 0, 0.0)
    for points, reason, said in NO_OVERRIDE:
        with service.database.acting() as act, pytest.raises(UsageError, match=said):
            gradings.override(act, assigned, "ada", MARKS, gradings.Decision(points, reason))


GIVEN = [
    (MARKS, None, "4 of 5"),
    (MARKS._replace(withheld=True), None, ""),
    (MARKS, "0", "0 of 5"),
    (MARKS._replace(withheld=True), "9/2", "4.5 of 5"),
]


@pytest.mark.parametrize(("marks", "points", "said"), GIVEN)
def test_the_mark_that_counts(marks, points, said):
    own = points and Override("a", "ada", points, "", "why", "", 0.0)
    assert gradings.format_counting_mark(marks, own) == said


def test_a_comment_is_removed_once_it_was_asked(service, counting):
    """Its author and teachers see a button; a student, and whoever may not, see none."""
    course = make_course(service, ROSTER, deadline=at(9))
    tess, page, mark = (
        course.teacher,
        f"{course.assignment}/students/duo",
        f"{course.assignment}/mark",
    )
    cyd = Browser(service).enter(course.links["cyd"])
    hand_in(cyd, course)
    grading, _ = grade_public(service, course)
    tess.post(f"{grading}/release", early="yes")
    tess.post(f"{page}/comment", page, text="For ada.\n<i>Sorry</i>")
    assert "For ada." in cyd.get(mark).text and "Remove" not in cyd.get(mark).text
    shown = tess.get(page).text
    (remove,) = re.findall(r'action="([^"]*/comment/\w+/remove)"', shown)
    assert 'aria-label="Remove the comment: For ada.' in shown

    asked = tess.post(remove, page).text
    assert "Remove this comment for duo?" in asked and "&lt;i&gt;Sorry" in asked
    assert "For ada." in cyd.get(mark).text  # still there
    answer = tess.post(remove, page, sure="yes")
    assert answer.url.path == page and "<h2>Comments</h2>" not in answer.text
    assert "author: Tess Teacher, text: For ada." in answer.text.partition("<h2>History</h2>")[2]
    assert "For ada." not in cyd.get(mark).text
    assert tess.post(remove, page, sure="yes").status_code == 404


def test_an_assistant_removes_own_comments_alone(service, counting):
    course = make_course(service, ROSTER, deadline=at(1))
    tess, here, page = course.teacher, course.course, f"{course.assignment}/students/ada"
    wanted = {"name": "Al", "role": "assistant", "may": ["comment"]}
    form = f"{here}/staff/new"
    answer = tess.post(f"{here}/staff", form, **wanted).text
    al = Browser(service).enter(re.search(r"<code>(.*)</code>", answer)[1])
    tess.post(f"{page}/comment", page, text="of Tess")
    al.post(f"{page}/comment", page, text="of Al")
    of_tess, of_al = re.findall(r'action="([^"]*/comment/\w+/remove)"', tess.get(page).text)
    assert re.findall(r'action="([^"]*/comment/\w+/remove)"', al.get(page).text) == [of_al]
    assert al.post(of_tess, page, sure="yes").status_code == 403
    assert al.post(of_al.replace("/ada/", "/ben/"), page, sure="yes").status_code == 404
    assert "of Al" not in al.post(of_al, page, sure="yes").text.partition("<h2>History</h2>")[0]
    assert "of Tess" in al.get(page).text


@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_links_lead_from_a_grading_to_students_and_from_there_to_the_evidence(service, counting):
    course = make_course(service, ROSTER, deadline=at(9))
    hand_in(Browser(service).enter(course.links["ada"]), course)
    hand_in(Browser(service).enter(course.links["cyd"]), course)
    tess = course.teacher
    page = f"{course.assignment}/private"
    tess.post(page, page, {"file": ("mine.gtp", b"1 twice 21\n#? [43]\n")})
    place = f"{course.assignment}/gradings"
    grading = tess.post(place, course.assignment, all_the_same="yes").url.path
    work(service)
    text = tess.get(grading).text
    students = re.findall(rf'href="({course.assignment}/students/[^"]+)"', text)
    assert [one.rpartition("/")[2] for one in students] == ["ada", "ben", "duo"]
    for student, found in ((students[0], 4), (students[2], 4), (students[1], 0)):
        text = tess.get(student).text
        assert f'href="{grading}"' in text
        links = re.findall(rf'href="({grading}/files/evidence/[^"#]+)#(\w+)"', text)
        assert len(links) == found
        for path, anchor in links:
            assert f'id="{anchor}"' in tess.get(path).text
        (whole,) = re.findall(rf'href="({grading}/files/evidence/[^"#]+)"', text)
        assert tess.get(whole).status_code == 200
        if found:
            told = rows(text)
            assert ["mine.gtp", '<span class="chip bad">Failed</span>', "0 of 1"] in told
            assert ["one.gtp", '<span class="chip good">Passed</span>', "2 of 2"] in told


def test_evidence_is_found_where_a_key_has_more_than_ascii(service, counting):
    course = make_course(service, "student,name,group\njürgen,Jürgen,\ncyd,Cyd,Übung 3\n")
    tess = course.teacher
    grading, _ = grade_public(service, course)
    listed = re.findall(rf'href="({grading}/files/[^"]*html)"', tess.get(grading).text)
    own = re.findall(r'href="(evidence/[^"#]*)', tess.get(f"{grading}/files/class.html").text)
    pages = [f"{grading}/files/{one}" for one in own]
    for key in ("jürgen", "Übung-3"):
        text = tess.get(f"{course.assignment}/students/{key}").text
        pages += re.findall(r'href="([^"]*)">All evidence', text)
    assert len({*pages}) == 2 and len({*listed}) == 5
    assert {tess.get(one).status_code for one in [*listed, *pages]} == {200}
