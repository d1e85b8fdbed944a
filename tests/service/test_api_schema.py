"""The API against its own schema, with a token of each role: no 5xx, nothing undocumented."""

import functools
from contextlib import contextmanager
from fractions import Fraction

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi import checks

from harness.assignments import assignment as assignments
from harness.grading import tournament
from harness.grading.records import Marks, PartMark
from harness.service.api.requests import schema_of
from harness.service.app import application, guard_application
from harness.service.courses import making
from harness.service.jobs.candidates import CandidateQuery, find_scenes
from harness.service.jobs.drafts import DraftFolder, KeptCandidates
from harness.service.jobs.previews import Preview, PreviewResult
from harness.service.jobs.result_files import folder_of
from harness.service.people import accounts
from harness.service.records import PLAN, ROLES, STUDENT, TEACHER, MarkRecipient, StudentMark
from harness.service.storage import courses, people, queue, uploads
from harness.work import canonical_json
from tests.service import test_access
from tests.service.asking import Client
from tests.service.serving import BASE, KINDS, open_service, settings_of
from tests.service.test_own_files import FILES, NEWER, zip_files
from tests.service.test_suites import F, P, document

SCHEMA = schema_of(application(None))
PATHS = sorted(
    (method.upper(), path)
    for path, item in SCHEMA["paths"].items()
    for method in item
    if method in ("get", "post", "put", "delete", "patch")
)
CHECKS = [  # who gets in is test_access's to say
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
ASKERS = (*ROLES, test_access.ADMIN)


@pytest.fixture(scope="module", params=KINDS)
def world(request, tmp_path_factory):
    with fill_application(request.param, request, tmp_path_factory.mktemp("service")) as found:
        yield found


@contextmanager
def fill_application(kind, request, folder):
    """Give an application, what is in it, tokens of each role to ask at will; a service."""
    made = settings_of(kind, request, folder)
    with open_service(made._replace(rate=1_000_000, largest=1 << 12)) as service:
        people = {}
        with service.database.acting() as act:
            ids = test_access._course(act, people, "", made)
            people[test_access.ADMIN] = accounts.add_person(act, "Root", is_admin=True).id
            tokens = {
                name: accounts.make_token(act._replace(by=people[name]), "ci", "all")[1].text
                for name in ASKERS
            }
        service.store.path("0" * 64).write_bytes(b"x")
        yield guard_application(service), ids, tokens, service


@functools.cache
def schema_for(app):
    """Return the schema, asked of an application; to read it takes longer than to ask a route."""
    schema = schemathesis.openapi.from_dict(SCHEMA)
    schema.app = app
    return schema


def operation(app, method, path):
    """Return what the schema says of a route, asked of an application."""
    return schema_for(app)[path][method]


@pytest.mark.processes
@pytest.mark.parametrize(("method", "path"), PATHS)
@pytest.mark.soak(30)
@settings(
    max_examples=2, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
)
@given(data=st.data())
def test_every_answer_is_as_the_schema_says(world, method, path, data):
    """Two roles ask the same: to draw what is asked takes most of the time."""
    app, ids, tokens, _ = world
    case = data.draw(operation(app, method, path).as_strategy())
    known = {name: value for name, value in ids.items() if f"{{{name}}}" in path}
    if data.draw(st.sampled_from([True, True, False])):
        case.path_parameters = {**(case.path_parameters or {}), **known}
    if method == "DELETE":
        case.path_parameters = dict.fromkeys(known, "0")  # the others need what there is
    for role in (TEACHER, STUDENT):
        answer = case.call(BASE, headers={"authorization": f"Bearer {tokens[role]}"})
        case.validate_response(answer, checks=CHECKS)


@pytest.mark.processes
@settings(max_examples=20, deadline=None, database=None, suppress_health_check=[*HealthCheck])
@given(data=st.binary(max_size=5000), name=st.text(max_size=210), key=st.text(max_size=70))
def test_no_upload_breaks_the_service(world, data, name, key):
    app, ids, tokens, service = world
    course, assignment = ids["course"], ids["assignment"]
    with service.database.changing() as db:  # another test may have hidden it
        courses.ASSIGNMENTS.change(db, {"hidden": 0}, id=assignment)
    path = f"/api/v1/courses/{course}/assignments/{assignment}/submissions"
    headers = {
        "authorization": f"Bearer {tokens[STUDENT]}",
        "idempotency-key": key.encode("utf-8", "replace"),
    }
    client = Client(app, base_url=BASE, raise_server_exceptions=False)
    answer = client.post(path, params={"name": name}, content=data, headers=headers)
    assert answer.status_code in (201, 409, 413, 422)
    assert (answer.status_code == 201) == answer.headers["content-type"].endswith("/json")


def test_the_schema_is_given_to_whoever_asks(world):
    found = Client(world[0], base_url=BASE).get("/api/v1/openapi.json")
    assert found.status_code == 200
    assert found.json() == SCHEMA


@pytest.mark.processes
@pytest.mark.parametrize("place", ["courses/%00", "courses?after=%00", "tokens?after=%00"])
def test_a_zero_byte_breaks_no_database(world, place):
    app, _, tokens, _ = world
    client = Client(app, base_url=BASE, raise_server_exceptions=False)
    headers = {"authorization": f"Bearer {tokens[STUDENT]}"}
    assert client.get(f"/api/v1/{place}", headers=headers).status_code in (404, 422)


# --- asked as it should be ---------------------------------------------------------------------

TASK = "/api/v1/courses/{course}/assignments/{assignment}"
COURSE, OF_ONE, SUITE = (
    "/api/v1/courses/{course}",
    f"{TASK}/students/{{student}}",
    "/api/v1/suites",
)
# What a route is asked with, if that is not nothing; and who asks, if not a teacher.
GRADEBOOK = "Student,ID,Section,A 1\nAda,1,A,\n"
ASKED = {
    f"POST {TASK}/gradings/{{grading}}/tournament": {"json": {"points": "3"}},
    f"POST {SUITE}": {"json": {"title": "Mine"}},
    f"PATCH {SUITE}/{{suite}}": {"json": {"title": "Mine"}},
    f"POST {SUITE}/{{suite}}/runs": {"content": document([P, F])},
    f"PUT {SUITE}/{{suite}}/cases": {
        "params": {"name": "a.zip", "command": "python3 {folder}/e.py"},
        "content": zip_files({"a.gtp": "1 name\n#? [a]\n"}),
    },
    "POST /api/v1/tokens": {"json": {"name": "ci", "scope": "read"}},
    "PATCH /api/v1/me": {"json": {"name": "Tess Teacher"}},
    "POST /api/v1/courses": {"json": {"title": "Go"}},
    f"PATCH {COURSE}": {"json": {"title": "Go"}},
    f"PATCH {TASK}": {"json": {"title": "Set 1"}},
    f"POST {COURSE}/assignments": {"json": {"source": "gosensei"}},
    f"POST {COURSE}/roster": {"content": b"student\nzoe\n"},
    f"POST {COURSE}/staff": {"json": {"name": "Tom", "role": "teacher"}},
    f"PUT {COURSE}/staff/{{staff}}": {"json": {"role": "assistant", "may": ["grade"]}},
    f"POST {COURSE}/assistants": {"json": {"name": "Ann", "may": ["extend"]}},
    f"PUT {COURSE}/assistants/{{assistant}}/rights": {"json": {"may": ["comment"]}},
    f"POST {TASK}/gradings": {"json": {"all_the_same": True}},
    f"POST {TASK}/points/{{preview}}/set": {"params": {"all_the_same": "true"}},
    f"POST {TASK}/points": {"json": {"points": {}}},
    f"POST {COURSE}/assignments/own": {"params": {"name": "a.zip"}, "content": zip_files(FILES)},
    f"POST {TASK}/source": {"params": {"name": "a.zip"}, "content": zip_files(NEWER)},
    f"PUT {TASK}/gradings/{{grading}}/gradebooks/{{name}}": {
        "params": {"columns": "A 1"},
        "content": GRADEBOOK,
    },
    f"PUT {TASK}/overlay": {"params": {"name": "a.zip"}, "content": zip_files({"a.py": ""})},
    f"POST {TASK}/drafts": {"params": {"tests": "4"}},
    f"POST {TASK}/drafts/{{draft}}/drop": {"json": {"position": 0}},
    f"POST {TASK}/drafts/{{draft}}/exchange": {"json": {"position": 1}},
    f"POST {TASK}/drafts/{{draft}}/take-back": {"json": {"position": 2}},
    f"POST {TASK}/drafts/{{draft}}/write": {"json": {"name": "drawn"}},
    f"POST {TASK}/submissions": {"params": {"name": "a.tgz"}, "content": b"x"},
    f"PUT {TASK}/private/{{name}}": {"content": b"1 name\n"},
    f"POST {OF_ONE}/comments": {"json": {"text": "Well done."}},
    f"PUT {OF_ONE}/extension": {"json": {"deadline": ""}},
    f"PUT {OF_ONE}/override": {"json": {"points": "1", "reason": "A trade."}},
}
# Of an assignment that was uploaded, and that nobody has submitted to.
OF_OWN = (f"POST {TASK}/source", f"PUT {TASK}/overlay", f"DELETE {TASK}")
BY = {
    "POST /api/v1/courses": test_access.ADMIN,
    f"GET {TASK}/mark": STUDENT,
    f"GET {TASK}/comments": STUDENT,
    f"POST {TASK}/submissions": STUDENT,
    f"POST {TASK}/submissions/{{upload}}/withdraw": STUDENT,
}
MARKS = Marks((PartMark("files", Fraction(1), Fraction(2), "Fine."),), Fraction(0), "", 1, 2, "")
ORDER = ("PUT", "PATCH", "POST", "GET", "DELETE")  # what is made is there to be shown, and goes


@pytest.mark.long(2)
@pytest.mark.parametrize("kind", KINDS)
def test_each_route_answers_as_the_schema_says_what_is_asked_as_it_should_be(
    kind, request, tmp_path, monkeypatch
):
    monkeypatch.setattr(tournament, "rules_of", lambda _: None)  # Go Sensei plays no games
    with fill_application(kind, request, tmp_path) as (app, ids, tokens, service):
        client = Client(app, base_url=BASE)
        ids["name"] = "mine.gtp"
        _fill(service, ids)
        own = _upload(client, ids, tokens[TEACHER])
        empty = client.post(
            SUITE, json={"title": "Cases"}, headers={"authorization": f"Bearer {tokens[TEACHER]}"}
        ).json()["id"]
        client.post(  # the run that later ones are compared with
            f"{SUITE}/{ids['suite']}/runs",
            content=document([P, P]),
            headers={"authorization": f"Bearer {tokens[TEACHER]}"},
        ).raise_for_status()
        for method, path in sorted(PATHS, key=lambda one: (ORDER.index(one[0]), -len(one[1]))):
            route = f"{method} {path}"
            asker = BY.get(route, TEACHER)
            is_released = asker == STUDENT and not path.endswith("/withdraw")  # which it ends
            is_released |= path.endswith("/tournament")
            _conclude(service, ids, is_released=is_released)
            named = {"assignment": own} if route in OF_OWN else {}
            named |= {"suite": empty} if path.endswith("/cases") else {}
            named |= {"name": "canvas"} if path.endswith("/gradebooks/{name}") else {}
            named |= {"course": new_course(service)} if route == f"DELETE {COURSE}" else {}
            answer = client.request(
                method,
                path.format(**{**ids, **named}),
                headers={"authorization": f"Bearer {tokens[asker]}"},
                **ASKED.get(route, {}),
            )
            assert answer.is_success, (route, answer.text)
            operation(app, method, path).validate_response(answer)
            _use(ids, route, answer)


def new_course(service):
    """Make a course of the teacher's that nobody has submitted in; return its id."""
    with service.database.acting() as act:
        (teacher,) = people.PEOPLE.all(act.db, name=[TEACHER, "Tess Teacher"])
        return making.course(act._replace(by=teacher.id), "Empty").id


def _fill(service, ids):
    """Let a grading have a mark and a page, and a preview its result."""
    made = service.settings.assignment_folder(ids["assignment"])
    folder = folder_of(made, ids["grading"])
    folder.mkdir(parents=True)
    (folder / ids["name"]).write_text("{}")
    (folder / "canvas.csv").write_text(GRADEBOOK)
    played = made / "tournaments" / ids["grading"]
    played.mkdir(parents=True)
    (played / tournament.TABLE).write_text(
        f"student,rank,won,drawn,lost,elo,points\n{STUDENT},1,2,0,0,9,1\n"
    )
    Preview(made, ids["preview"]).write(PreviewResult((), 0))
    text = canonical_json.dumps(MARKS)
    with service.database.changing() as db:
        uploads.MARKS.add(db, StudentMark(ids["grading"], STUDENT, text, text))
        uploads.RECEIVED_BY.add(db, MarkRecipient(ids["grading"], STUDENT, STUDENT))

    draft = DraftFolder(made, ids["draft"])
    draft.begin(4, [])
    gosensei = assignments.find("gosensei")
    draft.keep(find_scenes(CandidateQuery(gosensei, gosensei.specification, (), 4, (), (), "")))
    draft.choose(KeptCandidates((0, 1), (2,)))


def _upload(client, ids, token):
    """Make an assignment of an archive; return its id."""
    wanted = {**FILES, "assignment.toml": WITH_FOLDER}
    answer = client.post(
        f"/api/v1/courses/{ids['course']}/assignments/own",
        params={"name": "a.zip"},
        content=zip_files(wanted),
        headers={"authorization": f"Bearer {token}"},
    )
    assert answer.is_success, answer.text
    return answer.json()["id"]


WITH_FOLDER = FILES["assignment.toml"].replace('engine.py"\n', 'engine.py"\noverlay = "util"\n', 1)


def _conclude(service, ids, *, is_released):
    """Let the grading have its marks, and none that was begun since be running."""
    values = {"concluded": 9e9, "released": float(is_released)}
    with service.database.changing() as db:
        uploads.GRADINGS.change(db, values, id=ids["grading"])
        queue.JOBS.remove(db, kind=PLAN, assignment=ids["assignment"])


def _use(ids, route, answer):
    """Ask about what was made from now on."""
    if route == "POST /api/v1/tokens":
        ids["token"] = answer.json()["id"]
    if route == f"POST {SUITE}/{{suite}}/runs":
        ids["run"] = answer.json()["id"]
