"""Private cases never reach a student: no page, event, file or header has a word of them."""

import re

import pytest
from fastapi.routing import APIRoute

from harness.service.app import application
from tests.harness import small_class
from tests.service.serving import KINDS, Browser, counting, made, opened, settings_of, work
from tests.service.test_story import hand_in

__all__ = ["counting"]
pytestmark = pytest.mark.processes

SECRET = "4815162342"  # what a private test asks for
PRIVATE = f"1 twice {SECRET}\n#? [9630324684]\n"
DOUBLED = str(2 * int(SECRET))
# Looks for private cases wherever the service has them, and answers what it finds.
THIEF = """\
import glob
    found = [open(p, errors='replace').read() for p in glob.glob({data!r} + '/**', recursive=True)
             if os.path.isfile(p)] + [str(os.path.exists({data!r}))]
    return ' '.join(''.join(found).split())[:4000]"""


@pytest.fixture(params=KINDS)
def service(request, tmp_path):
    with opened(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


def test_no_answer_to_a_student_has_a_word_of_a_private_case(service, counting):
    course = made(service, "student\nada\nbea\n")
    tess = course.teacher
    files = {"file": ("secret.gtp", PRIVATE.encode())}
    assert tess.post(f"{course.assignment}/private", files=files).status_code == 200
    ada, thief = (Browser(service).enter(course.links[name]) for name in ("ada", "bea"))
    body = THIEF.format(data=str(service.settings.data))
    stolen = hand_in(thief, course, small_class.submission(body))
    own = hand_in(ada, course, small_class.submission("return 2 * n if n < 1000 else exit(n)"))
    work(service)
    assert "False" in thief.get(stolen.url.path).text  # it saw that there is no such folder
    grading = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    tess.post(f"{grading}/release")

    assert SECRET in tess.get(f"{grading}/files/class.json").text + "".join(
        tess.get(f"{grading}/files/{name}").text for name in _evidence(tess, grading)
    )
    for student, page in ((ada, own), (thief, stolen)):
        for path in _paths(course, page, grading):
            answer = student.get(path)
            told = f"{answer.headers} {answer.text}"
            assert SECRET not in told and DOUBLED not in told, path
            assert "secret.gtp" not in told, path


def _evidence(tess, grading):
    return re.findall(r"evidence/[^\"<]+\.html", tess.get(grading).text)


def _paths(course, page, grading):
    """Return the addresses of all routes, about what is the student's own."""
    names = ("course", "assignment", "upload")
    ids = dict(zip(names, page.url.path.split("/")[2::2], strict=True))
    ids |= {"grading": grading.rpartition("/")[2], "name": "class.json", "student": "ada"}
    for route in application(None).routes:
        if isinstance(route, APIRoute) and "GET" in route.methods:
            yield re.sub(r"\{(\w+)(:\w+)?\}", lambda found: ids.get(found[1], "0"), route.path)
