"""The first teacher is called Teacher, until the teacher says another name."""

import json

from harness.service.courses import staff
from harness.service.records import STUDENT
from harness.service.storage import courses, people
from tests.service.serving import make_course


def test_a_person_changes_the_own_name(service, counting):
    course = make_course(service, "student,name\nada,Ada\n")
    tess = course.teacher
    assert '<a href="/me">Your name</a>' in tess.get("/").text
    answer = tess.post("/me", "/me", name="  Tess \t<b>Tea</b> ")
    assert answer.url.path == "/me" and "Tess &lt;b&gt;Tea&lt;/b&gt;" in answer.text
    with service.database.reading() as db:
        (member,) = staff.list_staff(db, course.course.rpartition("/")[2])
        person = people.PEOPLE.find(db, id=member.person)
        (noted,) = (o for o in service.database.log.entries(db) if o.what == "name changed")
        (ada,) = courses.MEMBERS.all(db, role=STUDENT)
    assert member.name == person.name == "Tess <b>Tea</b>" and ada.name == "Ada"
    assert noted.person == noted.about == person.id
    assert json.loads(noted.details) == {"was": "Tess Teacher", "now": "Tess <b>Tea</b>"}
    tess.post("/me", "/me", name="Tess <b>Tea</b>")  # the same name is no change
    with service.database.reading() as db:
        found = [o for o in service.database.log.entries(db) if o.what == "name changed"]
    assert len(found) == 1
