"""Withdrawing ends with the deadline and the mark: nobody chooses the better try afterwards."""

import datetime
import time
from fractions import Fraction

import pytest

from harness.core.errors import UsageError
from harness.grading.records import Marks
from harness.service.courses import making, roster, submissions
from harness.service.pages import forms
from harness.service.people import accounts
from harness.service.records import (
    STUDENT,
    CourseAssignment,
    Grading,
    MarkRecipient,
    StudentMark,
    Upload,
)
from harness.service.storage import courses, uploads
from harness.work import canonical_json
from tests.service.serving import Browser, hand_in, make_course, read_roster
from tests.service.test_api_submissions import client_of, place

NOW = datetime.datetime(2026, 3, 1, 12, 0)
MARK = canonical_json.dumps(Marks((), Fraction(), "", Fraction(4), Fraction(5)))
ZONE = f"{NOW.astimezone():%Z}"


def at(minutes):
    """Return a date so many minutes from NOW; None: no date."""
    return "" if minutes is None else (NOW + datetime.timedelta(minutes=minutes)).isoformat()


ENDS = [  # minutes to the deadline, to the close, to ada's own, of grace; what ada is told
    (None, None, None, 0, ""),
    (5, None, None, 0, ""),
    (-5, None, None, 0, f"the deadline was 1 Mar 2026, 11:55 {ZONE}"),
    (-5, None, None, 10, ""),
    (-5, 60, None, 0, f"the deadline was 1 Mar 2026, 11:55 {ZONE}"),
    (-5, -1, None, 0, f"it closed on 1 Mar 2026, 11:59 {ZONE}"),
    (-5, None, 60, 0, ""),
    (-90, None, -30, 0, f"the deadline was 1 Mar 2026, 11:30 {ZONE}"),
    (-90, None, -30, 40, ""),
]


@pytest.mark.parametrize(("deadline", "closes", "own", "grace", "told"), ENDS)
def test_until_when_a_submission_may_be_withdrawn(service, deadline, closes, own, grace, told):
    with service.database.acting() as act:
        by = act._replace(by=accounts.add_person(act, "Tess").id)
        course = making.course(by, "Games").id
        roster.take(by, course, read_roster(b"student\nada\nben\n"))
        dates = {"deadline": at(deadline), "closes": at(closes), "opens": "", "deduction": ""}
        wanted = CourseAssignment("", course, "", "gosensei", grace=grace, made=0.0, **dates)
        assigned = making.assign(by, wanted)
        upload = add_upload(act, assigned)
        if own is not None:
            courses.extend(act.db, assigned.id, ["ada"], at(own))
        assert submissions.explain_bound(act.db, assigned, "ada", upload, NOW) == told


def add_upload(act, assigned):
    """Add a submission of ada's, without bytes."""
    ada = courses.MEMBERS.find(act.db, course=assigned.course, role=STUDENT, key="ada")
    upload = Upload("u", assigned.id, "ada", ada.person, "a.tgz", "0" * 64, 1, 1.0)
    uploads.UPLOADS.add(act.db, upload)
    uploads.give_to(act.db, upload.id, ["ada"])
    return upload


@pytest.mark.parametrize("what", ["deadline", "mark"])
def test_what_is_over_is_not_withdrawn_by_page_or_api(service, counting, what):
    course = make_course(service, "student\nada\nben\n", deadline="2099-01-01T12:00")
    ada, ben = (Browser(service).enter(course.links[key]) for key in ("ada", "ben"))
    of_ada, of_ben = (hand_in(one, course, b"x").url.path for one in (ada, ben))
    said = end(service, course, what)
    assert said in ada.get(of_ada).text and ">Withdraw<" not in ada.get(of_ada).text
    answer = ada.post(f"{of_ada}/withdraw", of_ada)
    assert answer.status_code == 409 and said in answer.text
    with client_of(service, "ada") as client, pytest.raises(UsageError, match=said):
        client._ask("POST", f"{place(course).path}/{of_ada.rpartition('/')[2]}/withdraw")
    if what == "mark":  # ben got none
        assert ">Withdraw<" in ben.get(of_ben).text
        assert ben.post(f"{of_ben}/withdraw", of_ben, sure="yes").status_code == 200
    with service.database.reading() as db:
        taken_back = [one.key for one in uploads.UPLOADS.all(db) if one.withdrawn]
    assert taken_back == (["ben"] if what == "mark" else [])


def test_a_deadline_that_ends_while_somebody_withdraws_counts(service, counting, monkeypatch):
    course = make_course(service, "student\nada\n", deadline="2099-01-01T12:00")
    ada = Browser(service).enter(course.links["ada"])
    first = hand_in(ada, course, b"x").url.path

    def say_yes(_here):
        end(service, course, "deadline")
        return True

    monkeypatch.setattr(forms, "is_sure", say_yes)
    answer = ada.post(f"{first}/withdraw", first)
    assert answer.status_code == 409 and "the deadline was 1 Jan 2026" in answer.text


def test_what_was_submitted_after_a_release_may_be_withdrawn(service, counting):
    """The mark that is known is that of the one before, and the deadline still runs."""
    course = make_course(service, "student\nada\n", deadline="2099-01-01T12:00")
    ada = Browser(service).enter(course.links["ada"])
    first = hand_in(ada, course, b"x").url.path
    said = end(service, course, "mark")
    second = hand_in(ada, course, b"y").url.path
    assert ">Withdraw<" in ada.get(second).text
    assert ada.post(f"{second}/withdraw", second, sure="yes").status_code == 200
    answer = ada.post(f"{first}/withdraw", first)
    assert answer.status_code == 409 and said in answer.text
    third = hand_in(ada, course, b"z").url.path.rpartition("/")[2]
    with client_of(service, "ada") as client:
        client._ask("POST", f"{place(course).path}/{third}/withdraw")


def end(service, course, what):
    """Let the deadline be over, or ada's mark be released; return what she is told."""
    assignment = course.assignment.rpartition("/")[2]
    with service.database.acting() as act:
        if what == "deadline":
            courses.ASSIGNMENTS.change(act.db, {"deadline": "2026-01-01T12:00"}, id=assignment)
            return "the deadline was 1 Jan 2026, 12:00"
        tess = accounts.add_person(act, "Tess").id
        now = time.time()
        uploads.GRADINGS.add(
            act.db, Grading("g", assignment, tess, now, concluded=now, released=now)
        )
        uploads.MARKS.add(act.db, StudentMark("g", "ada", MARK, MARK))
        uploads.RECEIVED_BY.add(act.db, MarkRecipient("g", "ada", "ada"))
    return "its mark is released"
