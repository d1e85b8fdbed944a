"""An assignment is changed, hidden or removed, a course renamed or removed: nothing is lost."""

import json
import re

import pytest

from harness.core.errors import UsageError
from harness.service.courses import changes, submissions
from harness.service.local_times import add_offset, describe_date
from harness.service.storage import courses, uploads
from tests.harness import small_class
from tests.service.serving import Browser, hand_in, make_course, marks, rows, work
from tests.service.test_api_gradings import Asker
from tests.service.test_late_terms import at

ROSTER = "student,name,group\nada,Ada,\nben,Ben,\ncyd,Cyd,duo\ndan,Dan,duo\n"


@pytest.fixture
def course(service, counting):
    return make_course(service, ROSTER, deadline=at(5), deduction="50")


def submit(service, course, *students):
    data = small_class.submission("return 2 * n")
    for one in students:
        hand_in(Browser(service).enter(course.links[one]), course, data)


def row_of(service, course):
    with service.database.reading() as db:
        return courses.ASSIGNMENTS.find(db, id=course.assignment.rpartition("/")[2])


def fields(course):
    """Return what the form has."""
    text = course.teacher.get(f"{course.assignment}/change").text
    names = ("title", "opens", "deadline", "closes", "deduction", "grace", "filled")
    return {name: re.search(rf'name="{name}"[^>]*value="([^"]*)"', text)[1] for name in names}


def send(course, **changed):
    page = f"{course.assignment}/change"
    return course.teacher.post(page, page, **{**fields(course), **changed})


def confirm(course, answer):
    """Send the form of a page that tells what would change."""
    told = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', answer.text))
    told.pop("form_token")
    return course.teacher.post(f"{course.assignment}/change", course.assignment, **told)


def audit(service, what):
    with service.database.reading() as db:
        return [one for one in service.database.log.entries(db) if one.what == what]


def asker(service, course, path):
    """Return the teacher with a token."""
    with service.database.reading() as db:
        (tess,) = courses.MEMBERS.all(db, course=course.course.rpartition("/")[2], role="teacher")
    return Asker(service, tess.person, path)


def test_before_anybody_has_submitted_a_change_is_made_at_once(service, course):
    dates = {"title": "Set 1", "opens": at(-1), "deadline": at(7), "closes": at(9)}
    answer = send(course, **dates, deduction="12.5", grace="10")
    assert answer.url.path == course.assignment and "<h1>Set 1</h1>" in answer.text
    assert describe_date(at(7)) in answer.text and "12.5 % of the points" in answer.text
    one = row_of(service, course)
    assert one[2:9] == ("Set 1", one.source, *(dates[n] for n in ("opens", "deadline", "closes")),
                        "12.5", 10)  # fmt: skip
    (entry,) = audit(service, "assignment changed")
    assert "grace: 0 → 10" in entry.details and describe_date(at(9)) in entry.details
    assert send(course).status_code == 200  # as it is
    assert len(audit(service, "assignment changed")) == 1


def test_who_would_be_late_is_seen_before_it_is_so(service, course):
    submit(service, course, "ada", "cyd")
    page = f"{course.assignment}/students/duo"
    course.teacher.post(f"{page}/extension", page, deadline=at(8))
    seen = send(course, deadline=at(-2), title="Set 1")
    assert "Nothing has been changed yet" in seen.text
    assert [row[0] for row in rows(seen.text)] == ["ada"]
    assert re.search(r"in time</td><td[^>]*>late by", seen.text)
    assert row_of(service, course).deadline == at(5)
    assert audit(service, "assignment changed") == []
    answer = confirm(course, seen)
    assert answer.url.path == course.assignment and "late by" in answer.text
    one = row_of(service, course)
    assert (one.deadline, one.title) == (at(-2), "Set 1")
    (entry,) = audit(service, "assignment changed")
    assert "ada: in time → late by" in entry.details

    back = send(course, deadline=at(9))
    assert re.search(r"late by[^<]*</td><td[^>]*>in time", back.text)
    assert "extensions would end" in back.text and "cyd, dan" in back.text
    confirm(course, back)
    with service.database.reading() as db:
        assert courses.extensions(db, one.id) == {}  # else the group had less time than all


def test_what_was_seen_and_is_no_longer_so_is_not_done(service, course):
    submit(service, course, "ada")
    seen = send(course, deadline=at(-2))
    submit(service, course, "ben")
    answer = confirm(course, seen)
    assert answer.status_code == 409 and "look once more" in answer.text
    assert row_of(service, course).deadline == at(5)
    assert f'value="{at(-2)}"' in answer.text  # what was typed


@pytest.mark.parametrize("submitted", [(), ("ada",)])
def test_a_form_that_was_filled_before_another_change_is_refused(service, course, submitted):
    submit(service, course, *submitted)
    opened = fields(course)
    send(course, title="Set 1")
    answer = send(course, **{**opened, "deadline": at(9)})
    assert answer.status_code == 409
    assert "Somebody has changed this assignment since you opened the page." in answer.text
    assert "Title: Set 1; " in answer.text and f'value="{at(9)}"' in answer.text
    one = row_of(service, course)
    assert (one.title, one.deadline) == ("Set 1", at(5))
    again = re.search(r'name="filled" value="(\w+)"', answer.text)[1]
    answer = send(course, **{**opened, "deadline": at(9), "filled": again})
    if submitted:
        answer = confirm(course, answer)
    assert answer.status_code == 200 and row_of(service, course).deadline == at(9)


def test_a_preview_carries_what_its_form_was_filled_from(service, course):
    submit(service, course, "ada")
    seen = send(course, deadline=at(-2))
    send(course, title="Set 1")
    answer = confirm(course, seen)
    assert answer.status_code == 409 and "Somebody has changed" in answer.text
    assert row_of(service, course).title == "Set 1"


@pytest.mark.processes
def test_marks_follow_the_new_dates_with_the_next_grading(service, course):
    submit(service, course, "ada")
    work(service)
    first = course.teacher.post(f"{course.assignment}/gradings", public_only="yes").url.path
    work(service)
    assert marks(course.teacher.get(first).text)["ada"] == "5 of 5"
    confirm(course, send(course, deadline=at(-2)))
    assert marks(course.teacher.get(first).text)["ada"] == "5 of 5"
    second = course.teacher.post(f"{course.assignment}/gradings", public_only="yes").url.path
    work(service)
    assert "5 of 5 becomes 2.5 of 5" in course.teacher.get(second).text


WRONG = [
    ({"deadline": "soon"}, "Deadline: found &#39;soon&#39;"),
    ({"closes": "2020-01-01T00:00"}, "Closed after: this is before the deadline"),
    ({"opens": "2998-01-01T00:00"}, "Opens: this is after the last time to submit"),
    ({"title": " "}, "Title: found 0 characters"),
    ({"deduction": "200"}, "Late penalty: found &#39;200&#39;"),
]


def test_a_change_that_cannot_be_is_refused(service, course):
    before = row_of(service, course)
    for told, said in WRONG:
        answer = send(course, **told)
        assert answer.status_code == 422 and said in answer.text
    assert row_of(service, course) == before


@pytest.mark.stored
def test_a_hidden_assignment_is_there_for_the_staff_alone(service, course):
    submit(service, course, "ada")
    assert send(course, hidden="yes").url.path == course.assignment
    ada = Browser(service).enter(course.links["ada"])
    assert ada.get(course.assignment).status_code == 404
    assert course.assignment not in ada.get(course.course).text
    with service.database.reading() as db:
        person = courses.MEMBERS.find(db, key="ada").person
    student = Asker(service, person, course.course)
    assert student.get("/assignments")["items"] == []
    assert "Hidden from students" in course.teacher.get(course.assignment).text
    assert asker(service, course, course.course).get("/assignments")["items"][0]["hidden"]
    send(course)
    assert ada.get(course.assignment).status_code == 200


def test_an_assignment_is_removed_only_while_nobody_has_submitted(service, course):
    tess, page = course.teacher, f"{course.assignment}/change"
    assert tess.post(f"{course.assignment}/remove", page).status_code == 422  # no tick
    submit(service, course, "ada")
    refused = tess.post(f"{course.assignment}/remove", page, sure="yes")
    assert refused.status_code == 409
    assert "1 submission" in refused.text and "hide it from students" in refused.text
    assert "Remove it" not in tess.get(page).text
    refused = tess.post(f"{course.course}/remove", f"{course.course}/settings", sure="yes")
    assert refused.status_code == 409 and "1 submission" in refused.text
    assert row_of(service, course)
    with service.database.reading() as db:
        assert len(uploads.UPLOADS.all(db)) == 1


def test_an_assignment_that_nobody_has_submitted_to_goes_with_its_files(service, course):
    tess, page = course.teacher, f"{course.assignment}/private"
    tess.post(page, page, {"file": ("mine.gtp", b"1 twice 5\n#? [10]\n")})
    student = f"{course.assignment}/students/ada"
    tess.post(f"{student}/extension", student, deadline=at(9))
    work(service)
    told = tess.get(f"{course.assignment}/change").text
    assert "1 private case file" in told and "1 extension" in told
    folder = service.settings.assignment_folder(row_of(service, course).id)
    assert folder.exists()
    answer = tess.post(f"{course.assignment}/remove", course.assignment, sure="yes")
    assert answer.url.path == course.course and course.assignment not in answer.text
    assert not folder.exists() and tess.get(course.assignment).status_code == 404
    assert len(audit(service, "assignment removed")) == 1


def test_a_form_that_renames_a_course_somebody_has_renamed_is_refused(service, course):
    page, form = f"{course.course}/change", f"{course.course}/settings"
    tess, opened = course.teacher, filled(course.teacher.get(form).text)
    tess.post(page, form, title="Games 1", filled=opened)
    answer = tess.post(page, form, title="Games 2", filled=opened)
    assert answer.status_code == 409
    assert "Somebody has changed this course since you opened the page." in answer.text
    assert "Title: Games 1." in answer.text and 'value="Games 2"' in answer.text
    assert "<h1>Games 1</h1>" in tess.get(course.course).text
    done = tess.post(page, form, title="Games 2", filled=filled(answer.text))
    assert done.status_code == 200 and "<h1>Games 2</h1>" in done.text
    details = [json.loads(one.details) for one in audit(service, "course renamed")]
    assert {"title": "Games 2", "before": "Games 1"} in details


def filled(text):
    return re.search(r'name="filled" value="(\w+)"', text)[1]


@pytest.mark.stored
def test_a_course_is_renamed_at_its_address_and_removed_while_it_is_empty(service, course):
    tess, base = course.teacher, course.course
    page, form = f"{base}/change", f"{base}/settings"
    answer = tess.post(page, form, title="Games 2")
    assert answer.url.path == course.course and "<h1>Games 2</h1>" in answer.text
    assert tess.post(page, form, title=" ").status_code == 422
    assert len(audit(service, "course renamed")) == 1
    rosters = service.settings.data / "rosters" / course.course.rpartition("/")[2]
    rosters.mkdir(parents=True, exist_ok=True)
    answer = tess.post(f"{course.course}/remove", form, sure="yes")
    assert not rosters.exists()
    assert answer.url.path == "/courses" and "Games 2" not in answer.text
    assert tess.get(course.course).status_code == 404
    assert len(audit(service, "course removed")) == len(audit(service, "assignment removed")) == 1
    ada = Browser(service).enter(course.links["ada"])
    assert "not in a course yet" in ada.get("/").text


def test_the_api_does_the_same(service, course):
    submit(service, course, "ada")
    tess = asker(service, course, course.assignment)
    wanted = {"deadline": at(-2), "title": "Set 1"}
    seen = tess.ask("PATCH", "", json=wanted, params={"preview": "true"})
    (effect,) = seen["effects"]
    assert (effect["student"], effect["now"]) == ("ada", "in time")
    assert effect["then"].startswith("late by")
    assert row_of(service, course).deadline == at(5)
    done = tess.ask("PATCH", "", json=wanted)
    assert done == seen and done["assignment"]["deadline"] == add_offset(at(-2))
    assert (row_of(service, course).title, row_of(service, course).deduction) == ("Set 1", "50")
    assert "found 'soon'" in tess.ask("PATCH", "", 422, json={"opens": "soon"})["detail"]
    assert "1 submission" in tess.ask("DELETE", "", 409)["detail"]
    assert tess.ask("PATCH", "", json={"hidden": True})["assignment"]["hidden"]

    tess.base = course.course
    assert tess.ask("PATCH", "", json={"title": "Games 2"})["title"] == "Games 2"
    assert "1 submission" in tess.ask("DELETE", "", 409)["detail"]
    headers = {"idempotency-key": "a-1"}
    other = tess.post("/assignments", {"source": "counting"}, headers=headers)["id"]
    tess.ask("DELETE", f"/assignments/{other}", 204)
    tess.get(f"/assignments/{other}", 404)
    refused = tess.post("/assignments", {"source": "counting"}, 409, headers=headers)
    assert "the assignment that it made was removed" in refused["detail"]


def test_what_a_student_sends_to_a_removed_assignment_is_refused(service, course):
    one = row_of(service, course)
    with service.database.acting() as act:
        changes.remove_assignment(act, one)
        ada = courses.MEMBERS.find(act.db, key="ada")
        kept = submissions.StoredFile("a.tgz", "0" * 64, 1, service.settings.data / "none")
        with pytest.raises(UsageError, match="was removed"):
            submissions.take(act, one, ada, kept)


def test_a_request_goes_by_what_was_changed_while_it_was_read(service, course, monkeypatch):
    api, acting, changed = asker(service, course, course.assignment), service.database.acting, []
    ada = Browser(service).enter(course.links["ada"])

    def change_before(by=""):
        if changed:  # after the request has come, which may take long to be read
            api.ask("PATCH", "", json=changed.pop())
        return acting(by)

    monkeypatch.setattr(service.database, "acting", change_before)
    changed += [{"title": "Else", "deadline": at(9)}]
    api.ask("PATCH", "", json={"grace": 5})
    assert row_of(service, course)[2:9] == ("Else", "counting", "", at(9), "", "50", 5)
    changed += [{"deadline": at(12)}]
    api.ask("PUT", "/students/ada/extension", 422, json={"deadline": at(10)})
    changed += [{"deadline": at(-3), "closes": at(-2)}]
    refused = hand_in(ada, course, status=422)
    assert "does not accept submissions now: it closed on" in refused.text
