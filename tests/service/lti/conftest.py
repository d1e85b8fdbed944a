"""A service and a campus that know each other, and browsers that go from one to the other."""

from __future__ import annotations

import functools
import json
import re
import time
from contextlib import contextmanager
from typing import NamedTuple

import httpx2
import jwt.algorithms
import pytest
from cryptography.hazmat.primitives import serialization
from joserfc._rfc7517 import pem
from joserfc._rfc7518.rsa_key import RSABinding

from harness.service.lti import connection, platforms
from harness.service.people import accounts
from harness.service.records import Platform
from tests.service.lti.campus import TEACHER, Campus, query_of
from tests.service.serving import FORM_TOKEN, client_of, open_service, settings_of

BASE = "https://localhost"
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


class Linked(NamedTuple):
    """A service, a campus, and the course that their teacher has linked."""

    service: object
    campus: Campus
    tess: object
    course: str  # its path

    def visitor(self, **how):
        return Visitor(self.service, self.campus, **how)


class Visitor:
    """Somebody with a browser on the pages of a platform."""

    def __init__(self, service, campus, *, framed=False, cookies=True):
        self.service, self.campus = service, campus
        self.client = client_of(service)
        self.client.base_url = BASE
        self.framed, self.cookies = framed, cookies

    def ask(self, method, path, **rest):
        headers = {"sec-fetch-dest": "iframe" if self.framed else "document"}
        if self.cookies:
            return self.client.request(method, path, headers=headers, **rest)
        self.client.cookies.clear()
        answer = self.client.request(
            method, path, headers=headers, **{**rest, "follow_redirects": False}
        )
        leads_on = answer.headers.get("location", "").startswith("/")
        return self.ask("GET", answer.headers["location"]) if leads_on else answer

    def get(self, path):
        return self.ask("GET", path)

    def begin(self, target="", **more):
        """Open a link of the platform; return what the service asks the platform then."""
        query = {**query_of(self.campus.begin(target)), **more}
        self.asked = query
        return self.ask("GET", "/lti/login", params=query, follow_redirects=False)

    def launch(self, user, roles, target="", **more):
        """Open a link of the platform as somebody."""
        answer = self.begin(target)
        assert answer.status_code == 303, answer.text
        asked = query_of(answer.headers["location"])
        return self.send(self.campus.launch(asked, user, roles, target=target, **more))

    def send(self, form):
        data = {"state": form["state"], "id_token": form["id_token"]}
        return self.ask("POST", "/lti/launch", data=data)

    def submit(self, page, path, **fields):
        """Send a form of a page."""
        hidden = dict(HIDDEN.findall(page.text))
        token = FORM_TOKEN.search(page.text)
        data = {**hidden, **fields, **({"form_token": token[1]} if token else {})}
        return self.ask("POST", path, data=data)


_new_key = functools.cache(platforms._new_key)


@pytest.fixture(scope="package", autouse=True)
def _keys_read_once():
    """Read a private key once: each time its primes are tested, as long as a launch takes."""
    load = functools.cache(serialization.load_pem_private_key)
    by_number = {}

    def import_once(fields):
        name = json.dumps(fields, sort_keys=True)
        if name not in by_number:
            by_number[name] = imported(fields)
        return by_number[name]

    imported = RSABinding.import_private_key
    with pytest.MonkeyPatch.context() as patch:
        for module in (serialization, jwt.algorithms, pem):
            patch.setattr(module, "load_pem_private_key", load)
        patch.setattr(RSABinding, "import_private_key", import_once)
        yield


@contextmanager
def campus_of(service):
    """Give a campus that is registered at a service."""
    made = Campus(BASE)
    made.fetch_tool_keys = lambda: platforms.publish_keys(service.settings)
    connection._tokens.clear()
    connection._keys.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platforms, "_new_key", _new_key)  # to make one takes longer than a launch
        patch.setattr(
            connection, "open_client",
            lambda: httpx2.Client(transport=httpx2.MockTransport(made.answer)),
        )  # fmt: skip
        with service.database.acting() as act:
            platforms.register(act, service.settings, Platform("", **made.fields))
        yield made


@pytest.fixture
def settings(request, tmp_path):
    kind = getattr(request, "param", "sqlite")
    return settings_of(kind, request, tmp_path / "data")._replace(address=BASE)


@pytest.fixture
def service(settings):
    with open_service(settings) as found:
        yield found


@pytest.fixture
def campus(service):
    with campus_of(service) as found:
        yield found


@pytest.fixture
def visitor(service, campus):
    return Visitor(service, campus)


def open_course_of(service, campus, **how):
    """Link the course, by its teacher; return the teacher and the path of the course."""
    tess = Visitor(service, campus, **how)
    page = tess.launch("tess", [TEACHER])
    assert page.status_code == 200, page.text
    shown = tess.submit(page, "/lti/link")
    assert shown.status_code == 200, shown.text
    return tess, shown.url.path


@pytest.fixture(scope="module")
def linked(tmp_path_factory, request):
    """A service with a linked course, once for all that stay out of each other's way in it."""
    settings = settings_of("sqlite", request, tmp_path_factory.mktemp("linked") / "data")
    with (
        open_service(settings._replace(address=BASE)) as service,
        campus_of(service) as campus,
    ):
        tess, course = open_course_of(service, campus)
        yield Linked(service, campus, tess, course)


@pytest.fixture
def open_course(service, campus):
    return lambda **how: open_course_of(service, campus, **how)


def admin(service):
    """Return somebody who administers the service, signed in."""
    with service.database.acting() as act:
        person = accounts.add_person(act, "Ada Admin", is_admin=True)
        secret = accounts.make_link(act, person.id, 60.0, once=True)
    who = Visitor(service, None)
    path = f"/enter/{secret.text}"
    assert who.submit(who.get(path), path).status_code == 200
    return who


def now():
    return time.time()
