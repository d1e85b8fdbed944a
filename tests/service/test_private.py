"""Private cases never reach a student: by no page, the API, an event, a file, an error, the log.

Nor by how long something takes: what a student waits for never runs one.
"""

import re
import sys
from contextlib import contextmanager

import pytest
from fastapi.routing import APIRoute

from harness.core.errors import UsageError
from harness.service.app import application
from harness.service.jobs import job_handlers
from harness.service.storage import queue
from tests.harness import small_class
from tests.service.serving import (
    KINDS,
    KINDS_AT_LENGTH,
    Browser,
    hand_in,
    make_course,
    open_service,
    settings_of,
    work,
)
from tests.service.test_api_submissions import token_of

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


@pytest.mark.long(4)
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_no_answer_to_a_student_has_a_word_of_a_private_case(service, counting):
    course = make_course(service, "student\nada\nbea\n")
    tess = course.teacher
    files = {"file": ("secret.gtp", PRIVATE.encode())}
    assert tess.post(f"{course.assignment}/private", files=files).status_code == 200
    ada, thief = (Browser(service).enter(course.links[name]) for name in ("ada", "bea"))
    body = THIEF.format(data=str(service.settings.data))
    stolen = hand_in(thief, course, small_class.submission(body))
    own = hand_in(ada, course, small_class.submission("return 2 * n if n < 1000 else exit(n)"))
    work(service)
    assert "False" in thief.get(stolen.url.path).text  # it saw no such folder
    grading = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    tess.post(f"{grading}/release", early="yes")

    assert SECRET in tess.get(f"{grading}/files/class.json").text + "".join(
        tess.get(f"{grading}/files/{name}").text for name in _evidence(tess, grading)
    )
    for name, student, page in (("ada", ada, own), ("bea", thief, stolen)):
        token = token_of(service, name)
        for method, path in _routes(course, page, grading):
            _check_silent(student, token, method, path)
    assert "scope" not in ada.get("/api/v1/me").text  # a session is none for the API, so:
    token = token_of(service, "ada")
    answers = [_ask(ada, token, "GET", path) for path in _api(course, own)]
    assert {one.status_code for one in answers} == {200}


def _check_silent(student, token, method, path):
    """See that an answer, whatever it is, has no word of the private case."""
    answer = _ask(student, token, method, path)
    told = f"{answer.headers} {answer.text}"
    assert answer.status_code < 500 or path == "/ready"  # no worker lives here
    assert not [one for one in (SECRET, DOUBLED, "secret.gtp") if one in told], (method, path)


def _ask(student, token, method, path):
    if path.startswith("/api/"):
        return student._client.request(method, path, headers={"authorization": f"Bearer {token}"})
    return student.get(path) if method == "GET" else student.post(path)


def _api(course, page):
    upload = page.url.path.rpartition("/")[2]
    submissions = f"/api/v1{course.assignment}/submissions"
    yield from (f"/api/v1{course.assignment}", submissions, f"{submissions}/{upload}")


@pytest.mark.parametrize("settings_kind", KINDS)
def test_a_fault_of_a_grading_is_told_to_the_staff_alone(
    settings_kind, request, tmp_path, counting, monkeypatch
):
    """The sentence of an error names the case file, and may quote it."""

    def breaks(*_):
        raise UsageError(f"secret.gtp:1: found {SECRET}")

    with open_service(settings_of(settings_kind, request, tmp_path / "data")) as service:
        course, ada, page = _handed_in(service)
        monkeypatch.setitem(job_handlers.KINDS, "grade", breaks)
        grading = course.teacher.post(f"{course.assignment}/gradings").url.path
        work(service)
        assert SECRET in course.teacher.get(grading).text
        token = token_of(service, "ada")
        for method, path in _routes(course, page, grading):
            _check_silent(ada, token, method, path)


def _handed_in(service):
    course = make_course(service, "student\nada\n")
    files = {"file": ("secret.gtp", PRIVATE.encode())}
    assert course.teacher.post(f"{course.assignment}/private", files=files).status_code == 200
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course)
    work(service)
    return course, ada, page


def test_what_a_student_waits_for_runs_public_cases_alone(service, counting):
    """So neither its time nor what is told meanwhile can tell anything of a private one."""
    _, ada, page = _handed_in(service)
    with service.database.reading() as db:
        counted = queue.load_figures(db)
    attempts = [sum(one.counts) for (name, _), one in counted.items() if "attempt" in name]
    assert sum(attempts) == len(small_class.CASES)
    told = ada.get(f"{page.url.path}/events").text
    assert [name for name in small_class.CASES if name in told] == [*small_class.CASES]
    assert told.count("event: word") == len(small_class.CASES)


@pytest.mark.long(2)
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_nothing_that_a_student_waits_for_reads_a_private_case(service, counting):
    """What is not even opened can make no difference to how long anything takes."""
    course = make_course(service, "student\nada\n")
    tess, files = course.teacher, {"file": ("secret.gtp", PRIVATE.encode())}
    folder = service.settings.assignment_folder(course.assignment.rpartition("/")[2]) / "private"
    with _hear_reads(folder) as heard:
        tess.post(f"{course.assignment}/private", files=files)
    assert heard  # or nothing is heard of what is read
    work(service)
    ada = Browser(service).enter(course.links["ada"])
    with _hear_reads(folder) as heard:
        page = hand_in(ada, course)
        work(service)
        ada.get(f"{page.url.path}/events")
    grading = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    tess.post(f"{grading}/release", early="yes")
    token = token_of(service, "ada")
    with _hear_reads(folder) as more:
        answers = [_ask(ada, token, *one) for one in _routes(course, page, grading)]
    assert heard == more == []
    assert sum(one.status_code == 200 for one in answers) > 20


_EARS: list[tuple[str, list[str]]] = []  # folders, and what was read there


def _hear(event, arguments):
    if _EARS and event in ("open", "os.listdir", "os.scandir") and arguments:
        for folder, heard in _EARS:
            if str(arguments[0]).startswith(folder):
                heard.append(f"{event} {arguments[0]}")


@contextmanager
def _hear_reads(folder):
    """Give the list of what this process reads in a folder, and of what it lists."""
    if not _EARS and not getattr(_hear, "is_added", False):
        sys.addaudithook(_hear)  # which can never be taken away
        _hear.is_added = True
    _EARS.append((str(folder), []))
    try:
        yield _EARS[-1][1]
    finally:
        _EARS.pop()


# What differs between two services in which the same was done.
_OWN = re.compile(
    r"[0-9a-f]{12,64}|\d{4}-\d\d-\d\d[T ][\d:.+Z]*|\b\d+(\.\d+)? m?s\b|\d\d:\d\d(:\d\d)?"
)


@pytest.mark.long(2)
@pytest.mark.parametrize("kind", KINDS_AT_LENGTH)
def test_what_a_student_is_told_is_the_same_whatever_is_private(kind, request, tmp_path, counting):
    """Case files of three kinds: none, one that is passed, and many that are not."""
    told = []
    for number, private in enumerate(((), (b"1 twice 5\n#? [10]\n",), [PRIVATE.encode()] * 7)):
        with open_service(settings_of(kind, request, tmp_path / str(number))) as service:
            # In time: how late a submission is would differ by the time that the test takes.
            course = make_course(service, "student\nada\n", deadline="2999-01-01T00:00")
            for place, text in enumerate(private):
                files = {"file": (f"secret{place}.gtp", text)}
                course.teacher.post(f"{course.assignment}/private", files=files)
            work(service)
            told.append(_read_told(service, course))
    # Numbers of events: what runs for long enough is told of, and its number is used up.
    told = [[re.sub(r"^id: \d+$", "", one, flags=re.MULTILINE) for one in texts] for texts in told]
    assert told[0] == told[1] == told[2]
    assert "4 passed" in str(told[0])


def _read_told(service, course):
    """Return all that a student is told of a submission, before and after it is checked."""
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course)
    token, found = token_of(service, "ada"), [page.text]
    work(service)
    paths = (course.assignment, page.url.path, f"{page.url.path}/events", *_api(course, page))
    for path in paths:
        answer = _ask(ada, token, "GET", path)
        found += [answer.text, *map(str, sorted(answer.headers.items()))]
    return [_OWN.sub("-", one) for one in found if "content-length" not in one]


def test_the_log_has_no_word_of_a_private_case(service, counting):
    course, _, _ = _handed_in(service)
    course.teacher.post(f"{course.assignment}/gradings")
    work(service)
    text = "".join(path.read_text() for path in service.settings.logs.glob("*"))
    assert '"kind": "conclude"' in text
    assert not [one for one in (SECRET, DOUBLED, "secret.gtp") if one in text]


# Ends the session, or what is asked about.
_ENDING = ("/leave", "/withdraw")


def _evidence(tess, grading):
    return re.findall(r"evidence/[^\"<]+\.html", tess.get(grading).text)


def _routes(course, page, grading):
    """Yield the methods and addresses of all routes, about what is the student's own."""
    names = ("course", "assignment", "upload")
    ids = dict(zip(names, page.url.path.split("/")[2::2], strict=True))
    ids |= {"grading": grading.rpartition("/")[2], "name": "class.json", "student": "ada"}
    for route in application(None).routes:
        if isinstance(route, APIRoute) and not route.path.endswith(_ENDING):
            path = re.sub(r"\{(\w+)(:\w+)?\}", lambda found: ids.get(found[1], "0"), route.path)
            yield from ((method, path) for method in sorted(route.methods))
