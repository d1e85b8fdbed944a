"""The API of ``gtp-harness serve``: its schema, its answers, and its problems."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from harness.service.people import accounts
from harness.service.settings import Settings
from tests.contract import graded_class
from tests.contract.product import check, dump
from tests.service.asking import Client
from tests.service.serving import BASE, client_of, open_service


class Asker(NamedTuple):
    """Asks a service with the tokens of its people."""

    client: Client
    tokens: dict[str, str]

    def ask(self, who: str, method: str, path: str, body: Any = None) -> tuple[int, str, Any]:
        """Return the status, the type and the document of an answer."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = {"content-type": "application/json" if data is not body else "text/plain"}
        if who:
            headers["authorization"] = f"Bearer {self.tokens[who]}"
        exact = path.replace("..", "%2E%2E")  # which the client would take for the folder above
        answer = self.client.request(method, f"/api/v1/{exact}", content=data, headers=headers)
        kind = answer.headers.get("content-type", "")
        return answer.status_code, kind, answer.json() if "json" in kind else answer.text


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """A service with a teacher, and a student of nobody's course."""
    settings = Settings(tmp_path_factory.mktemp("service"), address=BASE)
    with open_service(settings) as found, client_of(found) as client:
        with found.database.acting() as act:
            people = [accounts.add_person(act, "Teacher", is_admin=True)]
            people.append(accounts.add_person(act, "Nobody"))
            tokens = {
                one.name: accounts.make_token(act._replace(by=one.id), "ci", "all")[1].text
                for one in people
            }
        yield Asker(client, tokens)


# --- the schema --------------------------------------------------------------------------------

_WORDS = frozenset({"description", "summary", "operationId", "tags", "title"})


def plain(value: Any, schemas: dict[str, Any], within: tuple[str, ...] = ()) -> Any:
    """Return a schema without prose, and without names of classes: each is put in its place."""
    if isinstance(value, list):
        return [plain(one, schemas, within) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return "(itself)" if name in within else plain(schemas[name], schemas, (*within, name))
    return {
        key: plain(one, schemas, within)
        for key, one in sorted(value.items())
        if key not in _WORDS or isinstance(one, dict)  # a property may be called so
    }


PROBLEM = json.dumps(
    {
        "content": {
            "application/problem+json": {
                "schema": {
                    "properties": {
                        "detail": {"type": "string"},
                        "status": {"type": "integer"},
                        "title": {"type": "string"},
                    },
                    "required": ["title", "status", "detail"],
                    "type": "object",
                }
            }
        }
    }
)


def test_the_schema(service):
    status, _, found = service.ask("", "GET", "openapi.json")
    assert status == 200
    paths = plain(found["paths"], found["components"]["schemas"])
    lines = []
    for path, item in sorted(paths.items()):
        for method, operation in item.items():
            lines.append(f"{method.upper()} {path}\n")
            for parameter in operation.pop("parameters", ()):
                lines.append(f"  {json.dumps(parameter, sort_keys=True)}\n")
            for status, answer in sorted(operation.pop("responses").items()):
                text = json.dumps(answer, sort_keys=True)
                lines.append(f"  {status} {'a problem' if text == PROBLEM else text}\n")
            lines.append(f"  {json.dumps(operation, sort_keys=True)}\n")
    check("service/schema.txt", "".join(lines))


# --- answers and problems ----------------------------------------------------------------------

COURSE = "courses/{course}"
TASK = COURSE + "/assignments/{assignment}"
STUDENT = TASK + "/students/ada"
ARCHIVE = graded_class.pack(graded_class.RIGHT)
# Who asks what, in this order; an answer's ``id`` is kept under the name before a colon.
STORY = (
    *(("", "GET", "me"), ("Teacher", "GET", "me"), ("Nobody", "GET", "me")),
    ("Nobody", "POST", "courses", {"title": "Go"}),
    ("Teacher", "POST", "courses", {"title": ""}),
    ("Teacher", "POST", "courses", {"name": "Go"}),
    ("Teacher", "POST", "courses", b"{"),
    ("Teacher", "POST", "course:courses", {"title": "Go"}),
    *(("Teacher", "GET", "courses"), ("Teacher", "GET", COURSE), ("Nobody", "GET", COURSE)),
    ("Teacher", "GET", "courses?limit=0"),
    ("Teacher", "GET", "courses/0000000000000000"),
    ("Teacher", "GET", "nothing"),
    ("Teacher", "DELETE", "me"),
    ("Teacher", "POST", COURSE + "/roster", b"student,name\nada,Ada\nbob,Bob\n"),
    ("Teacher", "POST", COURSE + "/roster", b"who\nada\n"),
    ("Teacher", "GET", COURSE + "/students"),
    ("Teacher", "POST", COURSE + "/assignments", {"source": "chess"}),
    ("Teacher", "POST", f"assignment:{COURSE}/assignments", {"source": "go-scoring"}),
    ("Teacher", "PATCH", TASK, {"deadline": "2100-01-29T23:55:00"}),
    ("Teacher", "PATCH", TASK, {"deadline": "soon"}),
    *(("Teacher", "GET", TASK), ("Nobody", "GET", TASK)),
    ("Teacher", "POST", TASK + "/submissions?name=a1.tgz", ARCHIVE),
    ("Teacher", "PUT", TASK + "/private/two.gtp", b"1 score\n#? [0\n"),
    ("Teacher", "PUT", TASK + "/private/..", b"1 score\n#? [0]\n"),
    ("Teacher", "GET", TASK + "/private"),
    ("Teacher", "PUT", STUDENT + "/override", {"points": "1/3", "reason": "A trade."}),
    ("Teacher", "PUT", STUDENT + "/override", {"points": "2.5", "reason": ""}),
    ("Teacher", "PUT", STUDENT + "/override", {"points": "2.5", "reason": "A trade."}),
    ("Teacher", "PUT", STUDENT + "/extension", {"deadline": "2100-02-01T12:00"}),
    ("Teacher", "POST", STUDENT + "/comments", {"text": "Well done."}),
    *(("Teacher", "GET", TASK + "/overrides"), ("Teacher", "GET", TASK + "/extensions")),
    ("Teacher", "POST", COURSE + "/staff", {"name": "Tom", "role": "king"}),
    ("Teacher", "POST", "suite:suites", {"title": "Mine"}),
    *(("Teacher", "GET", "suites"), ("Nobody", "GET", "suites/{suite}")),
    ("Teacher", "POST", "suites/{suite}/runs", b"{}"),
    *(("Teacher", "GET", TASK + "/gradings"), ("Teacher", "GET", TASK + "/mark")),
    *(("Teacher", "DELETE", TASK), ("Teacher", "GET", TASK)),
)


def test_answers_and_problems(service):
    known: dict[str, str] = {}
    lines = []
    for who, method, path, *body in STORY:
        name, _, asked = path.rpartition(":")
        status, kind, found = service.ask(who, method, asked.format(**known), *body)
        if name:
            known[name] = found["id"]
        shown = dump(found) if "json" in kind else f"{found}\n"
        lines.append(f"{who or 'anybody'}: {method} {asked}\n{status} {kind}\n{shown}\n")
    check("service/answers.txt", settle_ids("".join(lines)))


def settle_ids(text: str) -> str:
    """Return answers without what is drawn, and without times of today."""
    text = text.replace(BASE, "http://SERVICE").replace('"0.1.0"', '"VERSION"')
    text = re.sub(r'"(?:20[2-8]\d)-[\d-]+T[\d:.]+(?:Z|\+00:00)?"', '"TIME"', text)
    text = re.sub(r"/enter/[\w-]{20,}", "/enter/LINK", text)
    return re.sub(r"\b[0-9a-f]{16}\b", "ID", text)
