"""Launches from a platform: who gets in where, and as what."""

from harness.service.records import STUDENT
from harness.service.storage import courses
from tests.service.lti.campus import LEARNER
from tests.service.lti.conftest import Visitor


def test_a_teacher_makes_the_course_and_a_student_joins_it(service, campus, open_course):
    tess, course = open_course()
    assert "Games 2026" in tess.get(course).text
    ada = Visitor(service, campus)
    page = ada.launch("ada", [LEARNER], name="Ada Right")
    assert page.url.path == course
    with service.database.reading() as db:
        (member,) = courses.MEMBERS.all(db, role=STUDENT)
    assert (member.key, member.name) == ("s-ada", "Ada Right")
