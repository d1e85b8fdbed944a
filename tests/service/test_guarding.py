"""What is said with every answer, what is never shown by a browser, and how long secrets hold."""

import asyncio
import copy
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.responses import StreamingResponse

import harness
from harness.core.errors import UsageError
from harness.service.app import guard_application
from harness.service.jobs.result_files import folder_of
from harness.service.people import accounts
from harness.service.records import Grading, new_id
from harness.service.settings import Settings, own_names
from harness.service.storage import people, uploads
from harness.service.web.middleware import HeadRequests
from tests.service.asking import Client
from tests.service.serving import (
    BASE,
    KINDS,
    Browser,
    add_person,
    client_of,
    link_for,
    make_course,
    open_service,
    settings_of,
    teacher,
)

ALWAYS = ("content-security-policy", "x-content-type-options", "referrer-policy", "cache-control")
LARGEST = 20_000


@pytest.fixture(scope="module", params=KINDS)
def service(request, tmp_path_factory):
    settings = settings_of(request.param, request, tmp_path_factory.mktemp("data"))
    with open_service(settings._replace(largest=LARGEST)) as found:
        yield found


@pytest.fixture(scope="module")
def course(service):
    return make_course(service, "student\nada\n", source="gosensei")


@pytest.fixture(scope="module")
def ada(service, course):
    return Browser(service).enter(course.links["ada"])


PATHS = ["/", "/sign-in", "/enter/no", "/nowhere", "/health", "/api/v1/me", "/static/page.js"]


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_what_protects_browsers(service, path):
    answer = Browser(service).get(path)
    assert set(ALWAYS) <= set(answer.headers)
    policy = answer.headers["content-security-policy"]
    for part in ("script-src 'self';", "style-src 'self';", "default-src 'none'"):
        assert part in policy


HARNESS = Path(harness.__file__).parent
# All but the one around the pages of reports, which have their script and style inside, by digest.
TEMPLATES = {*HARNESS.rglob("*.html"), *(HARNESS / "service/web/templates").glob("*")}
TEMPLATES -= {HARNESS / "report/html/page.html"}


class Scripts(HTMLParser):
    """Finds what a browser would run, load from elsewhere or not apply, in a template."""

    def __init__(self, text):
        super().__init__()
        self.found = [word for word in ("|safe", "autoescape", "Markup") if word in text]
        self.feed(re.sub(r"{%.*?%}", "", re.sub(r"{{.*?}}", "told", text, flags=re.S), flags=re.S))

    def handle_starttag(self, tag, attrs):
        is_inline = tag == "script" and "src" not in dict(attrs)
        if tag in ("iframe", "object", "embed", "base", "style") or is_inline:
            self.found.append(tag)
        for name, value in ((name, value or "") for name, value in attrs):
            if name.startswith(("on", "hx-on")) or re.match(r"(?i)\s*(javascript|data):", value):
                self.found.append(name)
            if name in ("src", "href") and re.match(r"(?i)(https?:)?//", value):
                self.found.append(value)


def test_no_template_has_script_in_it():
    assert len(TEMPLATES) >= 80
    assert {path: Scripts(path.read_text()).found for path in TEMPLATES} == {
        path: [] for path in TEMPLATES
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<script>{{ x }}</script>", ["script"]),
        ("<script src=\"{{ file('a.js') }}\"></script>", []),
        ('{% if x %}<a\n onclick="f()">', ["onclick"]),
        ('<a href=" JavaScript:f()">', ["href"]),
        ('<script src="//example.org/a.js"></script>', ["//example.org/a.js"]),
        ("<p>{{ name|safe }}</p>", ["|safe"]),
    ],
)
def test_script_in_a_template_is_found(text, found):
    assert Scripts(text).found == found


def test_what_goes_wrong_is_told_as_a_problem_to_programs(service):
    answer = Browser(service).get("/api/v1/me")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json() == {
        "title": "Unauthorized",
        "status": 401,
        "detail": f"no API token was sent: make one on the page {BASE}/tokens",
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("GET", "/api/v1/nothing", 404, "there is no resource at this address"),
        ("DELETE", "/api/v1/me", 405, "method: found DELETE, expected one of GET, HEAD, PATCH"),
    ],
)
def test_an_address_that_programs_mistype_is_told_in_a_sentence(
    service, method, path, status, said
):
    answer = client_of(service).request(method, path)
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.json()["detail"] == said
    assert answer.headers.get("allow", "") == ("GET, HEAD, PATCH" if status == 405 else "")


def test_what_is_sent_without_end_ends_at_once_for_head():
    said = []

    async def speak(scope, receive, send):
        assert (scope["method"], await receive()) == ("GET", AN_EMPTY_BODY)
        answer = StreamingResponse(endless(), headers={"x-one": "1"})
        await answer(scope, receive, send)
        scope["route"] = "/one"

    async def endless():
        while True:
            yield b"x"
            await asyncio.sleep(0)

    async def hear(message):
        said.append(message)

    scope = {"type": "http", "method": "HEAD"}
    asyncio.run(asyncio.wait_for(HeadRequests(speak)(scope, None, hear), 60))
    assert [one["type"] for one in said] == ["http.response.start", "http.response.body"]
    assert (b"x-one", b"1") in said[0]["headers"] and not said[1]["body"]
    assert scope == {"type": "http", "method": "HEAD", "route": "/one"}  # as the log has it


AN_EMPTY_BODY = {"type": "http.request", "body": b"", "more_body": False}


def test_a_submission_is_an_attachment_with_its_very_bytes(course, ada):
    data = b"<script>alert(1)</script>"
    page = ada.post(
        f"{course.assignment}/uploads", course.assignment, {"file": ("a<b>.html", data)}
    )
    assert "a&lt;b&gt;.html" in page.text
    answer = ada.get(f"{page.url.path}/file")
    assert answer.content == data
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment;")


@pytest.mark.parametrize(
    ("size", "status"), [(LARGEST, 200), (LARGEST + 1, 422), (LARGEST + (2 << 20), 413)]
)
def test_a_submission_has_its_most(course, ada, size, status):
    files_ = {"file": ("a.tgz", bytes(size))}
    answer = ada.post(f"{course.assignment}/uploads", course.assignment, files_)
    assert answer.status_code == status


@pytest.mark.parametrize(
    "name", ["../../../../keys/service.key", "..%2f..%2f..%2fservice.sqlite", "/etc/passwd", ""]
)
def test_nothing_but_what_a_grading_wrote_is_given(service, course, name):
    with service.database.acting() as act:
        person = people.PEOPLE.find(act.db, is_admin=1)
        own = course.assignment.rpartition("/")[2]
        grading = uploads.GRADINGS.add(act.db, Grading(new_id(), own, person.id, 1.0))
    folder_of(service.settings.assignment_folder(own), grading.id).mkdir(parents=True)
    answer = course.teacher.get(f"{course.assignment}/gradings/{grading.id}/files/{name}")
    assert answer.status_code == 404


# --- links, sessions, tokens -------------------------------------------------------------------


def test_a_link_that_is_only_looked_at_is_not_used_up(service):
    with service.database.acting() as act:
        link = link_for_person(act)
    path = link.removeprefix(BASE)
    for _ in range(3):  # as a mail filter does
        assert Browser(service).get(path).status_code == 200
    assert "Courses" in Browser(service).enter_on_pages(link).get("/").text
    assert Browser(service).get(path).status_code == 404  # it was for once


def link_for_person(act):
    person = accounts.add_person(act, "Ada")
    return f"{BASE}/enter/{accounts.make_link(act, person.id, 60, once=True).text}"


@pytest.mark.parametrize("lasts", [-1.0, 60.0])
def test_a_link_holds_for_its_time(service, lasts):
    with service.database.acting() as act:
        person = accounts.add_person(act, "Ada")
        secret = accounts.make_link(act, person.id, lasts, once=False)
    assert (Browser(service).get(f"/enter/{secret.text}").status_code == 200) is (lasts > 0)


def test_a_session_ends_with_signing_out_and_by_itself(service, monkeypatch):
    tess = teacher(service)
    cookies = dict(tess.cookies)
    assert tess.post("/leave").url.path == "/sign-in"
    again = Browser(service)
    again.cookies.update(cookies)
    assert again.get("/").url.path == "/sign-in"

    tess = teacher(service)
    assert tess.get("/").url.path == "/courses"
    later = time.time() + accounts.SESSION + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert tess.get("/").url.path == "/sign-in"


def test_the_cookie_is_for_no_script_and_no_other_site(service):
    browser = Browser(service)
    person = add_person(service, "Ada")
    path = link_for(service, person).removeprefix(BASE)
    answer = browser.post(path, page=path)
    told = answer.history[0].headers["set-cookie"].lower()
    assert "httponly" in told
    assert "samesite=lax" in told


FOREIGN = [
    *("evil.example:80", "localhost.evil.example", "evil.example#localhost", "localhost:x"),
    *("localhost:80@evil.example", "LOCALHOST/evil", " ", "evil.example, localhost", "10.0.0.1"),
]
WITH_SLASH = ("/sign-in/", "/api/v1/me/", "/health/", "//evil.example/", "/nowhere")


@pytest.mark.parametrize("address", ["", "https://tests.example.org"])
@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_told_so_and_sent_nowhere(service, address, host):
    asking = client_of(_with(service, address=address), follow_redirects=False)
    for path in (*WITH_SLASH, "/sign-in", "/api/v1/me", "/static/page.js"):
        for method in ("GET", "HEAD", "POST"):
            answer = asking.request(method, path, headers={"host": host})
            assert answer.status_code == 400
            assert "location" not in answer.headers
            assert set(ALWAYS) <= set(answer.headers)
    for path in ("/sign-in", "/api/v1/me"):
        text = asking.get(path, headers={"host": host, "x-forwarded-host": host}).text
        assert "--allowed-host" in text
        assert "evil" not in text


# Of a service with an address, a host that is asked, and where its addresses lead.
OWN = [
    ("", "localhost:8017", "http://localhost:8017"),
    ("", "LocalHost.", "http://localhost"),
    ("", "127.0.0.1:9000", "http://127.0.0.1:9000"),  # of a tunnel
    ("", "[::1]:8017", "http://[::1]:8017"),
    ("", "lab.example.org:8017", "http://lab.example.org:8017"),  # --allowed-host
    ("https://tests.example.org", "tests.example.org", "https://tests.example.org"),
    ("https://tests.example.org", "tests.example.org:666", "https://tests.example.org"),
    ("https://tests.example.org:8443", "tests.example.org", "https://tests.example.org:8443"),
    ("https://tests.example.org", "localhost:8017", "http://localhost:8017"),
    ("https://[2001:db8::1]", "[2001:db8::1]", "https://[2001:db8::1]"),
]


@pytest.mark.parametrize(("address", "host", "base"), OWN)
def test_addresses_are_made_of_the_service_s_own_names(service, address, host, base):
    settings = {"address": address, "allowed_hosts": "lab.example.org"}
    asking = client_of(_with(service, **settings), follow_redirects=False)
    answer = asking.get("/sign-in/", headers={"host": host, "x-forwarded-host": "evil.example"})
    assert (answer.status_code, answer.headers["location"]) == (307, f"{base}/sign-in")
    assert asking.get("/sign-in", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_machine_asks_by_any_name_whether_the_service_lives(service, path):
    host = "service.namespace.svc:8017"
    asking = client_of(_with(service, address="https://tests.example.org"))
    answer = asking.get(path, headers={"host": host})
    assert answer.status_code in (200, 503)  # no worker lives here
    assert "location" not in answer.headers
    assert host not in answer.text


REACHED = [
    ("10.0.0.1", "10.0.0.1:8017", 200),
    ("::ffff:10.0.0.1", "10.0.0.1", 200),
    ("2001:db8::1", "[2001:0DB8::1]:8017", 200),
    ("10.0.0.1", "10.0.0.2", 400),
    ("/run/socket", "10.0.0.1", 400),
]


@pytest.mark.parametrize(("server", "host", "status"), REACHED)
def test_the_number_at_which_a_connection_arrived_is_the_service_s(service, server, host, status):
    app = guard_application(_with(service, address=""))

    async def arrive(scope, receive, send):
        await app({**scope, "server": (server, 8017)}, receive, send)

    asking = Client(arrive, base_url=BASE)
    assert asking.get("/sign-in", headers={"host": host}).status_code == status


@pytest.mark.parametrize("name", ["https://lab.example.org", "lab.example.org:80", "a b", "*"])
def test_a_name_that_is_added_is_no_more_than_that(name, tmp_path):
    with pytest.raises(UsageError, match="--allowed-host"):
        own_names(Settings(tmp_path, allowed_hosts=name))


def _with(service, **settings):
    other = copy.copy(service)
    other.settings = service.settings._replace(**settings)
    return other
