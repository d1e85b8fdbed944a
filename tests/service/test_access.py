"""Every route, asked by everybody: each role, nobody, and the right role of another course.

The table says who may use a route. A route that is not in it fails the test, and so does a line of
the table without a route.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import httpx
import pytest
from fastapi.routing import APIRoute

from harness.service import monitoring
from harness.service.app import application
from harness.service.courses import making, staff
from harness.service.courses.point_weights import PointWeights
from harness.service.jobs import previews
from harness.service.jobs.previews import Preview
from harness.service.people import accounts
from harness.service.people.accounts import form_token
from harness.service.records import (
    ASSISTANT,
    DRAFT,
    FORMER,
    PREVIEW,
    RIGHTS,
    ROLES,
    STUDENT,
    TEACHER,
    Comment,
    CourseAssignment,
    Grading,
    Job,
    Member,
    Suite,
    SuiteRun,
    Upload,
    new_id,
)
from harness.service.storage import courses, queue, uploads
from harness.service.web import access
from harness.service.web.access import COOKIE, Routes, require_rules
from harness.service.web.service import Service
from tests.service.asking import Client
from tests.service.serving import KINDS, client_of, open_service, settings_of

NOBODY, ADMIN, MATE = "nobody", "admin", "mate"  # a mate: another student of the course
SECOND = "second teacher"  # of the course, about whom others ask
LEAVER, GONE = "leaver", "gone"  # a student to be removed, and a removed one
# The people who ask. Those of the other course have the same roles there.
ASKERS = (NOBODY, ADMIN, *ROLES, MATE, GONE, f"other {TEACHER}", f"other {STUDENT}")
ALL, SIGNED_IN = set(ASKERS), set(ASKERS) - {NOBODY}
# A removed student asks as somebody of another course does.
HERE = {TEACHER, ASSISTANT, STUDENT, MATE}
STAFF = {TEACHER, ASSISTANT}
OWN = STAFF | {STUDENT}
ONE = "/courses/{course}/assignments/{assignment}"
UPLOAD, GRADING = f"{ONE}/uploads/{{upload}}", f"{ONE}/gradings/{{grading}}"
FREE = {"student": STUDENT, "code": "0", "name": "page.js", "token": "0", "badge": "0"}
SUITE = "/suites/{suite}"
RUN = f"{SUITE}/runs/{{run}}"
FORMS = ("POST /courses", "POST /suites")
ENTRANT = f"{ONE}/students/{{student}}"
DRAFTED = f"{ONE}/private/drafts/{{draft}}"
API = "/api/v1/courses/{course}"
TASK = f"{API}/assignments/{{assignment}}"
SUBMISSIONS = f"{TASK}/submissions"
OF_ONE = f"{TASK}/students/{{student}}"
DRAFT_OF = f"{TASK}/drafts/{{draft}}"
HELPER = f"{API}/assistants/{{assistant}}"
COLLEAGUE = f"{API}/staff/{{staff}}"

MAY = {
    "GET /": SIGNED_IN,
    "GET /sign-in": ALL,
    "POST /sign-in/link": ALL,
    "GET /sign-in/oidc": ALL,
    "GET /sign-in/oidc/back": ALL,
    "GET /enter/{code}": ALL,
    "POST /enter/{code}": ALL,
    "POST /leave": SIGNED_IN,
    "GET /static/{name}": ALL,
    "GET /health": ALL,
    "GET /ready": ALL,
    "GET /api/v1/metrics": {ADMIN},
    "GET /courses": SIGNED_IN,
    "GET /courses/new": {ADMIN},
    "POST /courses": {ADMIN},
    "GET /courses/{course}": HERE,
    "GET /courses/{course}/assignments/new": {TEACHER},
    "GET /courses/{course}/assignments/new/dates": {TEACHER},
    "GET /courses/{course}/assignments/new/visibility": {TEACHER},
    "POST /courses/{course}/assignments": {TEACHER},
    "GET /courses/{course}/settings": {TEACHER},
    "POST /courses/{course}/change": {TEACHER},
    "POST /courses/{course}/remove": {TEACHER},
    f"GET {ONE}/change": {TEACHER},
    f"POST {ONE}/change": {TEACHER},
    f"POST {ONE}/remove": {TEACHER},
    "POST /courses/{course}/assignments/own": {TEACHER},
    f"GET {ONE}/course-folder": {TEACHER},
    f"POST {ONE}/overlay": {TEACHER},
    f"POST {ONE}/source": {TEACHER},
    "GET /courses/{course}/students": STAFF,
    "GET /courses/{course}/students/import": {TEACHER},
    "GET /courses/{course}/students/links": {TEACHER},
    "POST /courses/{course}/roster": {TEACHER},
    "POST /courses/{course}/students/remove": {TEACHER},
    "POST /courses/{course}/students/restore": {TEACHER},
    "POST /courses/{course}/links": {TEACHER},
    "POST /courses/{course}/links/send": {TEACHER},
    "GET /courses/{course}/staff": STAFF,
    "GET /courses/{course}/staff/new": {TEACHER},
    "GET /courses/{course}/staff/{staff}/change": {TEACHER},
    "POST /courses/{course}/staff": {TEACHER},
    "POST /courses/{course}/staff/change": {TEACHER},
    "POST /courses/{course}/staff/link": {TEACHER},
    f"GET {ONE}": HERE,
    f"POST {ONE}/uploads": {STUDENT, MATE},
    f"GET {ONE}/private": STAFF,
    f"GET {ONE}/private/files/{{name}}": STAFF,
    f"POST {ONE}/private": {TEACHER},
    f"POST {ONE}/private/remove": {TEACHER},
    f"POST {ONE}/private/drafts": {TEACHER},
    f"GET {DRAFTED}": STAFF,
    f"POST {DRAFTED}/drop": {TEACHER},
    f"POST {DRAFTED}/exchange": {TEACHER},
    f"POST {DRAFTED}/take-back": {TEACHER},
    f"POST {DRAFTED}/write": {TEACHER},
    f"GET {ONE}/points": STAFF,
    f"POST {ONE}/points": {TEACHER},
    f"GET {ONE}/points/{{preview}}": STAFF,
    f"POST {ONE}/points/{{preview}}/set": {TEACHER},
    f"GET {UPLOAD}": OWN,
    f"GET {UPLOAD}/events": OWN,
    f"GET {UPLOAD}/file": OWN,
    f"POST {UPLOAD}/withdraw": {STUDENT},
    f"POST {UPLOAD}/again": STAFF,
    f"POST {ONE}/gradings": {TEACHER},
    f"GET {GRADING}": STAFF,
    f"GET {GRADING}/files/{{name:path}}": STAFF,
    f"POST {GRADING}/release": {TEACHER},
    f"POST {GRADING}/accept": {TEACHER},
    f"POST {GRADING}/again": {TEACHER},
    f"GET {ONE}/mark": {STUDENT, MATE},
    f"POST {ONE}/class/extension": {TEACHER},
    f"POST {ONE}/class/comment": {TEACHER},
    f"POST {ONE}/class/check": STAFF,
    f"GET {ENTRANT}": STAFF,
    f"POST {ENTRANT}/extension": {TEACHER},
    f"POST {ENTRANT}/comment": {TEACHER},
    f"POST {ENTRANT}/comment/{{comment}}/remove": {TEACHER},
    f"POST {ENTRANT}/override": {TEACHER},
    f"POST {ENTRANT}/override/end": {TEACHER},
    f"GET {GRADING}/given": STAFF,
    f"POST {GRADING}/tournament": {TEACHER},
    f"POST {GRADING}/tournament/count": {TEACHER},
    f"GET {TASK}/gradings/{{grading}}/tournament": STAFF,
    f"POST {TASK}/gradings/{{grading}}/tournament": {TEACHER},
    f"POST {TASK}/gradings/{{grading}}/tournament/count": {TEACHER},
    f"GET {GRADING}/tournament/{{name:path}}": STAFF,
    f"POST {GRADING}/gradebooks": {TEACHER},
    f"GET {GRADING}/gradebooks/{{name}}": {TEACHER},
    f"GET {ONE}/mark/feedback": {STUDENT, MATE},
    f"GET {ONE}/mark/tournament/{{name:path}}": {STUDENT, MATE},
    "GET /cluster": {ADMIN},
    "GET /lti": {ADMIN},
    "POST /lti/platforms": {ADMIN},
    "POST /lti/platforms/remove": {ADMIN},
    "POST /lti/registrations": {ADMIN},
    "POST /lti/keys/rotate": {ADMIN},
    "GET /lti/keys": ALL,
    # Whoever has what a platform signed, or a secret that was made for it.
    "GET /lti/login": ALL,
    "POST /lti/login": ALL,
    "POST /lti/launch": ALL,
    "POST /lti/confirm": ALL,
    "POST /lti/link": ALL,
    "GET /lti/opened/{code}": ALL,
    "POST /lti/window/{code}": ALL,
    "GET /lti/register/{code}": ALL,
    "POST /lti/register/{code}": ALL,
    "GET /courses/{course}/lti": STAFF,
    "POST /courses/{course}/lti/code": {TEACHER},
    "POST /courses/{course}/lti/now": {TEACHER},
    "POST /courses/{course}/lti/unlink": {TEACHER},
    "GET /courses/{course}/lti/pick": {TEACHER},
    "POST /courses/{course}/lti/pick": {TEACHER},
    "GET /me": SIGNED_IN,
    "POST /me": SIGNED_IN,
    "GET /tokens": SIGNED_IN,
    "POST /tokens": SIGNED_IN,
    "POST /tokens/{token}/revoke": SIGNED_IN,
    "GET /api/v1/openapi.json": ALL,
    "GET /api/v1/me": SIGNED_IN,
    "PATCH /api/v1/me": SIGNED_IN,
    "GET /api/v1/tokens": SIGNED_IN,
    "POST /api/v1/tokens": SIGNED_IN,
    "DELETE /api/v1/tokens/{token}": SIGNED_IN,
    "GET /api/v1/courses": SIGNED_IN,
    "GET /api/v1/courses/{course}": HERE,
    f"PATCH {API}": {TEACHER},
    f"DELETE {API}": {TEACHER},
    f"GET {API}/assignments": HERE,
    f"PATCH {TASK}": {TEACHER},
    f"DELETE {TASK}": {TEACHER},
    f"GET {API}/assignments/{{assignment}}": HERE,
    f"GET {TASK}/checklist": STAFF,
    f"GET {SUBMISSIONS}": HERE,
    f"POST {SUBMISSIONS}": {STUDENT, MATE},
    f"GET {SUBMISSIONS}/{{upload}}": OWN,
    f"GET {SUBMISSIONS}/{{upload}}/file": OWN,
    f"POST {SUBMISSIONS}/{{upload}}/withdraw": {STUDENT},
    f"GET {API}/staff": STAFF,
    f"POST {API}/staff": {TEACHER},
    f"POST {COLLEAGUE}/link": {TEACHER},
    f"PUT {COLLEAGUE}": {TEACHER},
    f"DELETE {COLLEAGUE}": {TEACHER},
    f"GET {API}/assistants": STAFF,
    f"POST {API}/assistants": {TEACHER},
    f"PUT {HELPER}/rights": {TEACHER},
    f"DELETE {HELPER}": {TEACHER},
    f"POST {API}/links": {TEACHER},
    f"GET {TASK}/comments": {STUDENT, MATE},
    f"GET {TASK}/overrides": STAFF,
    f"GET {OF_ONE}/comments": STAFF,
    f"POST {OF_ONE}/comments": {TEACHER},
    f"DELETE {OF_ONE}/comments/{{comment}}": {TEACHER},
    f"PUT {OF_ONE}/override": {TEACHER},
    f"DELETE {OF_ONE}/override": {TEACHER},
    f"GET {TASK}/private": STAFF,
    f"GET {TASK}/private/{{name}}": STAFF,
    f"PUT {TASK}/private/{{name}}": {TEACHER},
    f"DELETE {TASK}/private/{{name}}": {TEACHER},
    f"POST {API}/assignments/own": {TEACHER},
    f"GET {TASK}/source": STAFF,
    f"POST {TASK}/source": {TEACHER},
    f"GET {TASK}/overlay": STAFF,
    f"PUT {TASK}/overlay": {TEACHER},
    f"GET {TASK}/drafts": STAFF,
    f"POST {TASK}/drafts": {TEACHER},
    f"GET {DRAFT_OF}": STAFF,
    f"POST {DRAFT_OF}/drop": {TEACHER},
    f"POST {DRAFT_OF}/exchange": {TEACHER},
    f"POST {DRAFT_OF}/take-back": {TEACHER},
    f"POST {DRAFT_OF}/write": {TEACHER},
    f"GET {TASK}/points": STAFF,
    f"POST {TASK}/points": {TEACHER},
    f"GET {TASK}/points/{{preview}}": STAFF,
    f"POST {TASK}/points/{{preview}}/set": {TEACHER},
    "POST /api/v1/courses": {ADMIN},
    f"POST {API}/assignments": {TEACHER},
    f"GET {API}/students": STAFF,
    f"DELETE {API}/students/{{member}}": {TEACHER},
    f"GET {API}/former-students": STAFF,
    f"POST {API}/former-students/{{former}}/restore": {TEACHER},
    f"POST {API}/roster": {TEACHER},
    f"GET {TASK}/extensions": STAFF,
    f"PUT {TASK}/students/{{student}}/extension": {TEACHER},
    f"GET {TASK}/gradings": STAFF,
    f"POST {TASK}/gradings": {TEACHER},
    f"GET {TASK}/gradings/{{grading}}": STAFF,
    f"POST {TASK}/gradings/{{grading}}/release": {TEACHER},
    f"POST {TASK}/gradings/{{grading}}/accept": {TEACHER},
    f"POST {TASK}/gradings/{{grading}}/again": {TEACHER},
    f"GET {TASK}/gradings/{{grading}}/files": STAFF,
    f"GET {TASK}/gradings/{{grading}}/files/{{name:path}}": STAFF,
    f"GET {TASK}/gradings/{{grading}}/marks": STAFF,
    f"GET {TASK}/gradings/{{grading}}/gradebooks": {TEACHER},
    f"PUT {TASK}/gradings/{{grading}}/gradebooks/{{name}}": {TEACHER},
    f"GET {TASK}/gradings/{{grading}}/gradebooks/{{name}}": {TEACHER},
    f"GET {TASK}/mark": {STUDENT, MATE},
    # The suite is the teacher's, and nobody else may read it.
    "GET /suites": SIGNED_IN,
    "POST /suites": SIGNED_IN,
    f"GET {SUITE}": {TEACHER},
    f"POST {SUITE}/change": {TEACHER},
    f"POST {SUITE}/remove": {TEACHER},
    f"POST {SUITE}/runs": {TEACHER},
    f"POST {SUITE}/cases": {TEACHER},
    f"GET {SUITE}/history/{{name}}": {TEACHER},
    f"GET {RUN}": {TEACHER},
    f"GET {RUN}/document": {TEACHER},
    f"POST {RUN}/remove": {TEACHER},
    "GET /badges/{badge}.svg": ALL,
    "GET /api/v1/suites": SIGNED_IN,
    "POST /api/v1/suites": SIGNED_IN,
    f"GET /api/v1{SUITE}": {TEACHER},
    f"PATCH /api/v1{SUITE}": {TEACHER},
    f"DELETE /api/v1{SUITE}": {TEACHER},
    f"PUT /api/v1{SUITE}/cases": {TEACHER},
    f"GET /api/v1{SUITE}/runs": {TEACHER},
    f"POST /api/v1{SUITE}/runs": {TEACHER},
    f"GET /api/v1{RUN}": {TEACHER},
    f"GET /api/v1{RUN}/document": {TEACHER},
    f"GET /api/v1{RUN}/comparison": {TEACHER},
    f"DELETE /api/v1{RUN}": {TEACHER},
}
_TURNED_AWAY = (303, 401, 403, 404)  # 303: to where one signs in
NAMED = (
    *("staff", "assistant", "assignment", "upload", "grading", "student", "draft", "preview"),
    *("suite", "run", "member", "former", "comment"),
)
# An upload is called a submission; one of the staff is a teacher or an assistant.
_KINDS = "|".join(("course", "submission", "teacher", *NAMED))
_NOT_THERE = re.compile(rf"there is no such ({_KINDS})\b")


class World(NamedTuple):
    """Two courses that have the same in them."""

    service: Service
    people: dict[str, str]
    client: Client
    ids: dict[str, str]  # of what is in the first one, by the names in paths
    sessions: dict[str, str]
    tokens: dict[str, str]


@pytest.fixture(scope="module", params=KINDS)
def world(request, tmp_path_factory):
    settings = settings_of(request.param, request, tmp_path_factory.mktemp("service"))
    settings = settings._replace(rate=10**6, page_rate=10**6)  # one person asks for everything
    with open_service(settings) as service, monitoring.announce_worker(settings.workers_folder):
        people = {}
        with service.database.acting() as act:
            ids = _course(act, people, "", settings)
            _course(act, people, "other ", settings)
            people[ADMIN] = accounts.add_person(act, ADMIN, is_admin=True).id
            sessions, tokens = _let_in(act, people)
        service.store.path("0" * 64).write_bytes(b"x")
        client = client_of(service, follow_redirects=False)
        yield World(service, people, client, ids, sessions, tokens)


def _course(act, people, prefix, settings):
    """Make a course with somebody of each role, an upload and a grading."""
    names = [f"{prefix}{one}" for one in (*ROLES, MATE, SECOND, LEAVER, GONE)]
    people.update({name: accounts.add_person(act, name).id for name in names})
    by = act._replace(by=people[f"{prefix}{TEACHER}"])
    course = making.course(by, "Games").id
    for name in (ASSISTANT, STUDENT, MATE, LEAVER, GONE):
        role = {ASSISTANT: ASSISTANT, GONE: FORMER}.get(name, STUDENT)
        key = "" if role == ASSISTANT else name
        courses.MEMBERS.add(act.db, Member(course, people[f"{prefix}{name}"], role, key, name))
    courses.MEMBERS.add(act.db, Member(course, people[f"{prefix}{SECOND}"], TEACHER, name=SECOND))
    wanted = CourseAssignment("", course, "", "gosensei", "", "", "", "", 0, 0.0)
    assignment = making.assign(by, wanted).id
    owner = people[f"{prefix}{STUDENT}"]
    upload = Upload(new_id(), assignment, STUDENT, owner, "a.tgz", "0" * 64, 1, 1.0)
    uploads.UPLOADS.add(act.db, upload)
    uploads.give_to(act.db, upload.id, [STUDENT])
    grading = uploads.GRADINGS.add(act.db, Grading(new_id(), assignment, owner, 1.0))
    jobs = {
        kind: queue.put(act.db, Job("", kind, assignment, new_id())).about
        for kind in (DRAFT, PREVIEW)
    }
    before = previews.describe_in_force(settings, wanted)
    Preview(settings.assignment_folder(assignment), jobs[PREVIEW]).begin(PointWeights(), before)
    found = {"course": course, "assignment": assignment, "upload": upload.id}
    found |= {"assistant": people[f"{prefix}{ASSISTANT}"], "staff": people[f"{prefix}{SECOND}"]}
    found |= {"member": LEAVER, "former": GONE, "comment": new_id()}
    _comment(act.db, found)
    return {**found, "grading": grading.id, **jobs, **_suite(act.db, by.by), **FREE}


def _suite(db, owner, **ids):
    """Make a suite with a run, with these ids if they are told."""
    made = courses.SUITES.add(
        db, Suite(ids.get("suite") or new_id(), owner, "Engine", 1.0, runs=1)
    )
    run = SuiteRun(ids.get("run") or new_id(), made.id, 1, owner, 1.0, started="2026-01-29")
    return {"suite": made.id, "run": courses.RUNS.add(db, run).id}


def _comment(db, ids):
    """Let the assistant have said something to the student, under the id."""
    made = Comment(ids["comment"], ids["assignment"], STUDENT, ids["assistant"], 1.0, "Well done.")
    if not uploads.COMMENTS.find(db, id=made.id):
        uploads.COMMENTS.add(db, made)
        uploads.give_to(db, made.id, [STUDENT])


def _put_back(world):
    """Make anew what a teacher removed, under the same ids."""
    course = world.ids["course"]
    with world.service.database.acting() as act:
        for name, role in (("assistant", ASSISTANT), ("staff", TEACHER)):
            member = Member(course, world.ids[name], role, name=name)
            courses.MEMBERS.remove(act.db, course=course, person=member.person)
            courses.MEMBERS.add(act.db, member)
        for name, role in ((LEAVER, STUDENT), (GONE, FORMER)):
            courses.MEMBERS.change(act.db, {"role": role}, course=course, key=name)
        courses.RUNS.remove(act.db, id=world.ids["run"])
        courses.SUITES.remove(act.db, id=world.ids["suite"])
        _suite(act.db, world.people[TEACHER], **world.ids)
        _comment(act.db, world.ids)


def _let_in(act, people):
    sessions, tokens = {}, {}
    for name, person in people.items():
        secret = accounts.make_link(act, person, 60.0, once=True)
        entered = accounts.enter_by_link(act, secret.text)
        sessions[name] = entered[1].text
        _, token = accounts.make_token(act._replace(by=person), "ci", "all")
        tokens[name] = token.text
    return sessions, tokens


def _enter_again(world):
    """Let everybody in whose session has ended."""
    with world.service.database.acting() as act:
        world.sessions.update(_let_in(act, world.people)[0])


def routes():
    app = application(None)
    return [one for one in app.routes if isinstance(one, APIRoute)]


def names():
    return [f"{method} {one.path}" for one in routes() for method in sorted(one.methods)]


def ask(world: World, route: str, asker: str, **changed) -> httpx.Response:
    """Ask a route, with all that makes a request one of ours but the right to ask."""
    method, path = route.split()
    filled = re.sub(r"\{(\w+)(:\w+)?\}", lambda m: {**world.ids, **changed}[m[1]], path)
    world.client.cookies.clear()
    if filled.startswith("/api/"):
        token = world.tokens.get(asker, "")
        return world.client.request(method, filled, headers={"authorization": f"Bearer {token}"})
    session = world.sessions.get(asker, "")
    if session:
        world.client.cookies.set(COOKIE, session)
    data = {"form_token": form_token(session)} if method == "POST" else None
    return world.client.request(method, filled, data=data)


def is_turned_away(response: httpx.Response) -> bool:
    """Whether the rule let nobody in: what there is not may also be said by a route itself."""
    if response.status_code == 303:
        return response.headers["location"] == "/sign-in" and "set-cookie" not in response.headers
    if response.status_code == 404:
        return _NOT_THERE.search(response.text.lower()) is not None
    return response.status_code in _TURNED_AWAY


def test_the_table_has_every_route_and_no_other():
    assert sorted(names()) == sorted(MAY)


# A gradebook may have the marks of other assignments in it.
_NOT_FOR_ASSISTANTS = [
    f"GET {GRADING}/gradebooks/{{name}}",
    f"GET {TASK}/gradings/{{grading}}/gradebooks",
    f"GET {TASK}/gradings/{{grading}}/gradebooks/{{name}}",
    "GET /courses/{course}/lti/pick",  # the page of a choice
]


_FORMS = (
    *("/change", "/settings", "/new", "/dates", "/visibility", "/import", "/links"),
    "/course-folder",
)


def test_an_assistant_may_read_all_that_a_teacher_may_but_gradebooks():
    """All but the pages with the forms by which a teacher changes something."""
    found = [one for one in MAY if one.startswith("GET") and "{course}" in one]
    found = [one for one in found if not one.endswith(_FORMS)]
    assert {one for one in found if TEACHER in MAY[one] and ASSISTANT not in MAY[one]} == {
        *_NOT_FOR_ASSISTANTS
    }


@pytest.mark.parametrize("route", MAY)
def test_a_route_lets_in_whoever_may_and_nobody_else(world, route):
    answers = {asker: ask(world, route, asker) for asker in ASKERS}
    if route == "POST /leave":
        _enter_again(world)
    if route.startswith("DELETE") or route.endswith(("/remove", "/restore")):
        _put_back(world)
    assert {asker for asker, one in answers.items() if one.status_code >= 500} == set()
    assert {asker for asker, one in answers.items() if not is_turned_away(one)} == MAY[route]


HEADED = ["GET /", "GET /health", f"GET {UPLOAD}/file", f"GET {UPLOAD}/events", f"GET {TASK}"]


@pytest.mark.parametrize("route", HEADED)
def test_what_answers_get_answers_head_alike_without_a_body(world, route):
    may = sorted(MAY[route])[0]
    found, head = ask(world, route, may), ask(world, route.replace("GET", "HEAD"), may)
    assert (head.status_code, head.content) == (found.status_code, b"")
    for name in ("content-type", "content-security-policy", "location"):
        assert head.headers.get(name) == found.headers.get(name)


@pytest.mark.parametrize("route", [one for one in MAY if one.startswith(FORMS)])
def test_a_form_without_its_token_is_refused(world, route):
    may = sorted(MAY[route])[0]
    session = world.sessions[may]
    path = re.sub(r"\{(\w+)\}", lambda m: world.ids[m[1]], route.split()[1])
    world.client.cookies.clear()
    world.client.cookies.set(COOKIE, session)
    response = world.client.post(path, data={"form_token": form_token("another")})
    assert response.status_code == 403
    headers = {"origin": "https://evil.example.org"}
    data = {"form_token": form_token(session)}
    assert world.client.post(path, data=data, headers=headers).status_code == 403


@pytest.mark.parametrize("name", NAMED)
def test_what_is_of_another_course_is_not_there(world, name):
    asked = [one for one in MAY if f"{{{name}" in one]
    statuses = {one: ask(world, one, TEACHER, **{name: "0" * 16}).status_code for one in asked}
    assert {one for one, status in statuses.items() if status not in (403, 404)} == set()


def test_a_page_knows_no_token_and_the_api_no_session(world):
    world.client.cookies.clear()
    headers = {"authorization": f"Bearer {world.tokens[TEACHER]}"}
    assert world.client.get("/", headers=headers).status_code == 303
    world.client.cookies.set(COOKIE, world.sessions[TEACHER])
    assert world.client.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize(("scope", "status"), [("read", 200), ("all", 200), ("submit", 403)])
def test_a_token_may_only_what_its_scope_says(world, scope, status):
    with world.service.database.acting(world.people[STUDENT]) as act:
        _, secret = accounts.make_token(act, "ci", scope)
    headers = {"authorization": f"Bearer {secret.text}"}
    assert world.client.get("/api/v1/me", headers=headers).status_code == status


def test_a_route_without_a_rule_ends_the_start():
    app = application(None)
    app.add_api_route("/open", lambda: None)
    with pytest.raises(RuntimeError, match="/open does not say who may use it"):
        require_rules(app)


@pytest.mark.parametrize(
    ("path", "rule", "said"),
    [
        ("/courses/{kurs}", access.MEMBERS, "nobody looks up kurs"),
        ("/courses/{course}", access.SIGNED_IN, "does not fit its path"),
        ("/x", access.MEMBERS, "does not fit its path"),
        ("/{course}/{upload}", access.MEMBERS, "names no assignment"),
        ("/{run}", access.SIGNED_IN, "names no suite"),
        ("/suites", access.OWNERS, "does not fit its path"),
    ],
)
def test_a_path_that_nobody_looks_up_ends_the_start(path, rule, said):
    app, more = application(None), Routes()
    more.at("GET", path, rule)(lambda: None)
    app.router.routes.extend(more.routes)
    with pytest.raises(RuntimeError, match=said):
        require_rules(app)


RIGHT_OF = {  # what opens a route for an assistant; nothing else does
    f"POST {ENTRANT}/extension": "extend",
    f"POST {ENTRANT}/comment": "comment",
    f"POST {ENTRANT}/comment/{{comment}}/remove": "comment",  # the assistant's own
    f"POST {ONE}/class/extension": "extend",
    f"POST {ONE}/class/comment": "comment",
    f"POST {ENTRANT}/override": "override",
    f"POST {ENTRANT}/override/end": "override",
    f"POST {GRADING}/tournament/count": "override",
    f"POST {TASK}/gradings/{{grading}}/tournament/count": "override",
    **{one: "cases" for one in MAY if one.startswith(f"POST {ONE}/private")},
    f"POST {ONE}/gradings": "grade",
    f"PUT {TASK}/students/{{student}}/extension": "extend",
    f"POST {TASK}/gradings": "grade",
    f"POST {OF_ONE}/comments": "comment",
    f"DELETE {OF_ONE}/comments/{{comment}}": "comment",
    f"PUT {OF_ONE}/override": "override",
    f"DELETE {OF_ONE}/override": "override",
    f"PUT {TASK}/private/{{name}}": "cases",
    f"DELETE {TASK}/private/{{name}}": "cases",
    **{one: "cases" for one in MAY if one.startswith(f"POST {TASK}/drafts")},
}


@pytest.fixture
def allow(world):
    """Return what lets the assistant do some of what needs a right."""
    course, person = world.ids["course"], world.people[ASSISTANT]

    def change(*rights):
        with world.service.database.acting(world.people[TEACHER]) as act:
            staff.change(act, course, person, may=rights)

    yield change
    _put_back(world)


def list_open(world, routes):
    return {one for one in routes if not is_turned_away(ask(world, one, ASSISTANT))}


@pytest.mark.parametrize("right", RIGHTS)
def test_an_assistant_may_do_what_was_allowed_and_no_more(world, allow, right):
    allow(right)
    opened = {one for one, needed in RIGHT_OF.items() if needed == right}
    assert list_open(world, RIGHT_OF) == opened


def test_an_assistant_with_all_rights_may_do_no_more(world, allow):
    allow(*RIGHTS)
    posts = [one for one in MAY if not one.startswith("GET") and "/courses/" in one]
    always = {one for one in posts if ASSISTANT in MAY[one]}
    assert list_open(world, posts) == always | RIGHT_OF.keys()
