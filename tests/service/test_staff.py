"""A course is taught by several: teachers and assistants are added, changed and removed."""

import re
import threading

import pytest

from harness.core.errors import UsageError
from harness.service.courses import making, staff
from harness.service.courses.staff import NewStaff
from harness.service.people import accounts
from harness.service.records import ASSISTANT, RIGHTS, TEACHER
from harness.service.storage import courses, people
from tests.service.serving import BASE, Browser, add_person, make_course
from tests.service.test_api_gradings import Asker

LAST = "this is the only teacher of the course"


@pytest.fixture
def tess(service):
    """Who may make courses, and is to be asked by the API."""
    person = add_person(service, "Tess", is_admin=True)
    return Asker(service, person.id)


@pytest.fixture
def course(tess):
    """Make a course; return its id. Its teacher asks for what is in it."""
    made_ = tess.post("/courses", {"title": "Games"})["id"]
    tess.base = f"/courses/{made_}"
    return made_


def of_staff(asker):
    """Return who is of the staff, as the API lists them: roles by names."""
    return {one["name"]: one["role"] for one in asker.get("/staff")["items"]}


def find_id(asker, name):
    return next(one["id"] for one in asker.get("/staff")["items"] if one["name"] == name)


def noted(service):
    """Return what the audit log says of the staff, the first line first: what, and the details."""
    with service.database.reading() as db:
        found = service.database.log.entries(db)[::-1]
    words = ("teacher", "assistant", "role")
    return [(one.what, one.details) for one in found if one.what.startswith(words)]


# --- by the API --------------------------------------------------------------------------------


def test_the_last_teacher_stays(service, tess, course):
    own = f"/staff/{find_id(tess, 'Tess')}"
    assert LAST in tess.ask("DELETE", own, 422)["detail"]
    assert LAST in tess.ask("PUT", own, 422, json={"role": ASSISTANT})["detail"]
    assert tess.ask("PUT", own, json={"role": TEACHER})["role"] == TEACHER
    tess.post("/staff", {"name": "Ann", "role": ASSISTANT})  # who does not count
    assert LAST in tess.ask("DELETE", own, 422)["detail"]
    tess.post("/staff", {"name": "Tom", "role": TEACHER})
    tess.ask("DELETE", own, 204)


def test_an_assistant_becomes_a_teacher_and_an_assistant_again(service, tess, course):
    made_ = tess.post("/staff", {"name": "Ann", "role": ASSISTANT, "may": ["comment"]})
    ann, own = Asker(service, made_["id"], tess.base), f"/staff/{made_['id']}"
    ann.post("/staff", {"name": "Tom", "role": TEACHER}, 403)
    ann.ask("PUT", own, 403, json={"role": TEACHER})
    assert tess.ask("PUT", own, json={"role": TEACHER})["may"] == [*RIGHTS]
    assert tess.get("/assistants")["items"] == []
    ann.ask("POST", "/roster", content=b"student\nada\n")
    found = ann.ask("PUT", own, json={"role": ASSISTANT, "may": ["grade", "extend"]})
    assert (found["role"], found["may"]) == (ASSISTANT, ["extend", "grade"])
    ann.ask("POST", "/roster", 403, content=b"student\nada\n")
    (shown,) = tess.get("/assistants")["items"]
    assert shown == {"id": made_["id"], "name": "Ann", "may": ["extend", "grade"]}


def test_a_student_is_not_of_the_staff(service, tess, course):
    tess.ask("POST", "/roster", content=b"student\nada\n")
    with service.database.reading() as db:
        ada = courses.MEMBERS.find(db, key="ada").person
    for method in ("PUT", "DELETE"):
        tess.ask(method, f"/staff/{ada}", 404, json={"role": TEACHER})
    Asker(service, ada, tess.base).get("/staff", 403)


def test_each_change_of_the_staff_is_in_the_audit_log(service, tess, course):
    made_ = tess.post("/staff", {"name": "Ann", "role": ASSISTANT, "may": ["comment"]})
    own, ann = f"/staff/{made_['id']}", made_["id"]
    tess.ask("PUT", own, json={"role": ASSISTANT})
    tess.ask("PUT", own, json={"role": TEACHER})
    tess.ask("PUT", own, json={"role": TEACHER})  # which changes nothing
    tess.ask("DELETE", own, 204)
    tom = tess.post("/staff", {"name": "Tom", "role": TEACHER})["id"]
    assert noted(service) == [
        ("assistant added", f'{{"assistant": "{ann}", "may": "comment"}}'),
        ("assistant's rights changed", f'{{"assistant": "{ann}", "may": ""}}'),
        ("role changed", f'{{"teacher": "{ann}"}}'),
        ("teacher removed", f'{{"teacher": "{ann}"}}'),
        ("teacher added", f'{{"teacher": "{tom}"}}'),
    ]


def test_a_new_link_is_for_the_same_person_and_ends_the_one_before(service, tess, course):
    made_ = tess.post("/staff", {"name": "Ann", "role": ASSISTANT, "may": ["comment"]})
    for name in ("Ann", " aNN "):
        said = tess.post("/staff", {"name": name, "role": TEACHER}, 422)["detail"]
        assert said.startswith("name: Ann is of the staff already (assistant). A new link")
    again = tess.ask("POST", f"/staff/{made_['id']}/link", 201)
    assert (again["id"], again["may"]) == (made_["id"], ["comment"])
    assert of_staff(tess) == {"Ann": ASSISTANT, "Tess": TEACHER}
    assert Browser(service).get(made_["link"].removeprefix(BASE)).status_code == 404
    Browser(service).enter(again["link"])


def test_no_link_is_made_for_somebody_with_rights_elsewhere(service, tess, course):
    """A teacher could sign in as an administrator, or in another course."""
    tom = tess.post("/staff", {"name": "Tom", "role": TEACHER})
    by_tom = Asker(service, tom["id"], tess.base)
    an_admin, of_two = (f"/staff/{one}/link" for one in (find_id(tess, "Tess"), tom["id"]))
    assert "rights elsewhere" in by_tom.ask("POST", an_admin, 422)["detail"]
    tess.ask("POST", of_two, 201)
    with service.database.acting() as act:
        other = making.course(act._replace(by=find_id(tess, "Tess")), "Go")
        staff.make_teacher(act, other.id, people.PEOPLE.find(act.db, id=tom["id"]))
    assert "rights elsewhere" in tess.ask("POST", of_two, 422)["detail"]


# --- on pages ----------------------------------------------------------------------------------


def test_a_page_with_a_link_that_is_loaded_again_adds_nobody(service):
    course = make_course(service, "student\nada\n", source="gosensei")
    tess, here = course.teacher, f"{course.course}/staff"
    for status in (200, 422):
        answer = tess.post(here, f"{here}/new", name="Ann", role="assistant")
        assert answer.status_code == status
    assert "Name: Ann is of the staff already (assistant)" in answer.text
    (ann,) = {*re.findall(r'name="person" value="(\w+)"', tess.get(here).text)}
    assert "/enter/" in tess.post(f"{here}/link", here, person=ann, sure="yes").text
    assert tess.get(here).text.count("Remove Ann") == 1
    with service.database.reading() as db:
        (herself,) = people.PEOPLE.all(db, name="Tess Teacher")
    refused = tess.post(f"{here}/link", here, person=herself.id)
    assert refused.status_code == 422 and "Tess Teacher has rights elsewhere" in refused.text


def test_a_second_teacher_is_added_and_the_first_leaves(service):
    course = make_course(service, "student\nada\n", source="gosensei")
    tess, here = course.teacher, f"{course.course}/staff"
    told = tess.get(here).text
    assert "The only teacher." in told and "Remove Tess Teacher" not in told
    answer = tess.post(here, f"{here}/new", name="Tom", role=TEACHER, email="").text
    tom = Browser(service).enter(re.search(r"<code>(.*)</code>", answer)[1])
    told = tom.get(here).text
    assert "Tom (you)" in told and "Remove Tess Teacher" in told
    ids = dict(re.findall(r'data-l="Name">(\w+).*?/staff/(\w+)/change"', told, re.DOTALL))
    change = f"{here}/change"
    left = tess.post(change, here, person=ids["Tess"], remove="yes", sure="yes")
    assert left.status_code == 200 and left.url.path == "/courses"
    assert tess.get(here).status_code == 404
    assert "The only teacher." in tom.get(here).text
    for wrong in ({"remove": "yes"}, {"role": ASSISTANT}, {"role": "king"}):
        assert tom.post(change, here, person=ids["Tom"], **wrong).status_code == 422
    ada = Browser(service).enter(course.links["ada"])
    assert ada.get(here).status_code == 403


# --- at the same time, and from before ---------------------------------------------------------


def test_two_teachers_who_remove_each_other_at_the_same_time_leave_one(service):
    with service.database.acting() as act:
        tess = accounts.add_person(act, "Tess")
        course = making.course(act._replace(by=tess.id), "Games").id
        tom = staff.add(act, course, NewStaff("Tom", TEACHER)).person
    refused = []

    def remove_tess():
        try:
            with service.database.acting(tom) as act:
                staff.remove(act, course, tess.id)
        except UsageError as error:
            refused.append(str(error))

    other = threading.Thread(target=remove_tess)
    with service.database.acting(tess.id) as act:
        staff.remove(act, course, tom)
        other.start()
        other.join(0.5)
        assert other.is_alive()  # it waits for what is done here
    other.join(30)
    assert len(refused) == 1 and LAST in refused[0]
    with service.database.reading() as db:
        assert [one.name for one in staff.list_staff(db, course)] == ["Tess"]
