"""The API against its own schema, with a token of each role: no 5xx, nothing undocumented."""

from contextlib import contextmanager

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi import checks

from harness.service.api.schema import schema_of
from harness.service.app import application, guarded
from harness.service.people import entering
from harness.service.records import ASSISTANT, STUDENT, TEACHER
from tests.service import test_access
from tests.service.serving import BASE, KINDS, opened, settings_of

PATHS = sorted(
    (method.upper(), path)
    for path, item in schema_of(application(None))["paths"].items()
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
EXAMPLES = 4  # of each route, for each role


@pytest.fixture(scope="module")
def world(request, tmp_path_factory):
    with asked("sqlite", request, tmp_path_factory.mktemp("service")) as found:
        yield found


@pytest.fixture(params=KINDS)
def anywhere(request, tmp_path):
    with asked(request.param, request, tmp_path) as found:
        yield found


@contextmanager
def asked(kind, request, folder):
    """Give a service, what is in it, and a token of each role that may ask as it likes."""
    made = settings_of(kind, request, folder)
    with opened(made._replace(rate=1_000_000, largest=1 << 12)) as service:
        people = {}
        with service.database.acting() as act:
            ids = test_access._course(act, people, "", made)
            tokens = {
                name: entering.token(act._replace(by=people[name]), "ci", "all")[1].text
                for name in (TEACHER, ASSISTANT, STUDENT)
            }
        service.store.path("0" * 64).write_bytes(b"x")
        yield guarded(service), ids, tokens


@pytest.mark.processes
@pytest.mark.parametrize("role", [TEACHER, ASSISTANT, STUDENT])
@pytest.mark.parametrize(("method", "path"), PATHS)
def test_every_answer_is_as_the_schema_says(world, method, path, role):
    app, ids, tokens = world
    schema = schemathesis.openapi.from_dict(schema_of(application(None)))
    schema.app = app
    operation = schema[path][method]
    known = {name: value for name, value in ids.items() if f"{{{name}}}" in path}

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), is_known=st.sampled_from([True, True, False]))
    def check(case, is_known):
        if is_known:
            case.path_parameters = {**(case.path_parameters or {}), **known}
        if method == "DELETE":
            case.path_parameters = dict.fromkeys(known, "0")  # the others need what there is
        answer = case.call(headers={"authorization": f"Bearer {tokens[role]}"})
        case.validate_response(answer, checks=CHECKS)

    check()


@pytest.mark.processes
@settings(max_examples=40, deadline=None, database=None, suppress_health_check=[*HealthCheck])
@given(data=st.binary(max_size=5000), name=st.text(max_size=210), key=st.text(max_size=70))
def test_no_upload_breaks_the_service(anywhere, data, name, key):
    app, ids, tokens = anywhere
    course, assignment = ids["course"], ids["assignment"]
    path = f"/api/v1/courses/{course}/assignments/{assignment}/submissions"
    headers = {
        "authorization": f"Bearer {tokens[STUDENT]}",
        "idempotency-key": key.encode("utf-8", "replace"),
    }
    client = TestClient(app, base_url=BASE, raise_server_exceptions=False)
    answer = client.post(path, params={"name": name}, content=data, headers=headers)
    assert answer.status_code in (201, 409, 413, 422)
    assert (answer.status_code == 201) == answer.headers["content-type"].endswith("/json")


def test_the_schema_is_given_to_whoever_asks(world):
    found = TestClient(world[0], base_url=BASE).get("/api/v1/openapi.json")
    assert found.status_code == 200
    assert found.json() == schema_of(application(None))


@pytest.mark.processes
@pytest.mark.parametrize("place", ["courses/%00", "courses?after=%00", "tokens?after=%00"])
def test_a_zero_byte_breaks_no_database(anywhere, place):
    app, _, tokens = anywhere
    client = TestClient(app, base_url=BASE, raise_server_exceptions=False)
    headers = {"authorization": f"Bearer {tokens[STUDENT]}"}
    assert client.get(f"/api/v1/{place}", headers=headers).status_code in (404, 422)
