"""A service in this process, on either database: people who ask it, and a worker."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from harness.reading import shipped
from harness.service.app import guard_application
from harness.service.courses import making, roster, roster_files
from harness.service.jobs.worker import Worker
from harness.service.people import accounts
from harness.service.records import CourseAssignment, Person
from harness.service.settings import OWN_SCHEMA, Settings
from harness.service.storage.database import Database
from harness.service.web.access import COOKIE
from harness.service.web.rendering import POLICY
from harness.service.web.service import Service
from tests.harness import small_class
from tests.postgresql import USER, Running
from tests.service.asking import Client

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.processes)]
# Of tests that take long for another reason than the database: PostgreSQL in the slow tier alone.
KINDS_AT_LENGTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
BASE = "http://localhost"  # whose client sends tokens without encryption
_DOMAIN = "localhost.local"  # as a cookie of it has it
FUTURE = "2999-01-01T00:00"  # later than the small class's own deadline, which is over
RIGHT = small_class.submission("return 2 * n")
FORM_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


def settings_of(
    kind: str, request: pytest.FixtureRequest, folder: Path, *, has_tables: bool = True
) -> Settings:
    """Return settings for a new service on a database of a kind, which goes with who asks.

    ``has_tables``: the tables are copied, which takes a fifth of the time.
    """
    if kind != "postgresql":
        settings = Settings(folder, address=BASE)
        if has_tables:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            settings.own_place().path.write_bytes(_file_with_tables())
        return settings
    server = request.getfixturevalue("postgresql")
    own = ExitStack()
    like = {"like": _with_tables(server)} if has_tables else {}
    address = own.enter_context(server.new_database(**like))
    request.addfinalizer(own.close)
    return Settings(folder, address, address=BASE)


def read_log(settings: Settings) -> Iterator[dict[str, object]]:
    """Yield what the files of the log have, the oldest first."""
    for path in sorted(settings.logs.glob("*.jsonl")):
        yield from map(json.loads, path.read_text(encoding="ascii").splitlines())


_FORGET_THE_KEY = "DELETE FROM {}audit_end"


@functools.cache
def _file_with_tables() -> bytes:
    """Return a file with the service's tables, and no key of anybody's."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(Path(folder))
        Database(settings).close()
        path = settings.own_place().path
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(_FORGET_THE_KEY.format(""))
        return path.read_bytes()


@functools.cache
def _with_tables(server: Running) -> str:
    """Make a database with the service's tables, and no key of anybody's; return its name."""
    name = f"service_{os.getpid()}"
    server.execute(f"CREATE DATABASE {name} OWNER {USER}")
    with tempfile.TemporaryDirectory() as folder:
        Database(Settings(Path(folder), server.address(name))).close()
    server.execute(_FORGET_THE_KEY.format(f"{OWN_SCHEMA}."), name)
    return name


@contextmanager
def open_service(settings: Settings) -> Iterator[Service]:
    service = Service(settings)
    try:
        yield service
    finally:
        service.close()


def client_of(service: Service, *, follow_redirects: bool = True) -> Client:
    """Return what asks a service."""
    return Client(guard_application(service), base_url=BASE, follow_redirects=follow_redirects)


class Browser:
    """Somebody with a browser: keeps cookies, sends forms with the token that pages give them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._client = client_of(service)
        self._token = ""  # of forms: it is the same on all pages of a session

    def get(self, path: str, **rest) -> httpx.Response:
        return self._see(self._client.get(path, **rest))

    def post(self, path: str, page: str = "/", files=None, **fields) -> httpx.Response:
        """Send a form of a page, which is opened before if no page was: it has the token."""
        if not self._token:
            self.get(page)
        data = {**fields, **({"form_token": self._token} if self._token else {})}
        return self._see(self._client.post(path, data=data, files=files))

    def _see(self, answer: httpx.Response) -> httpx.Response:
        """Return an answer, and keep the token of the forms that it has."""
        if found := FORM_TOKEN.search(answer.text):
            self._token = found[1]
        return _has_no_style_element(answer)

    def enter(self, link: str) -> Browser:
        """Sign in by a link; :meth:`enter_on_pages` does it as people do."""
        code = link.rpartition("/")[2]
        with self._service.database.acting() as act:
            entered = accounts.enter_by_link(act, code)
        assert entered, "the link does not hold"
        session = entered[1].text
        self.cookies.set(COOKIE, session, domain=_DOMAIN)
        self._token = accounts.form_token(session)
        return self

    def enter_on_pages(self, link: str) -> Browser:
        """Sign in by a link, as people do."""
        path = link.removeprefix(BASE)
        assert self.get(path).status_code == 200
        assert self.post(path, page=path).status_code == 200
        return self

    @property
    def headers(self) -> httpx.Headers:
        return self._client.headers

    @property
    def cookies(self) -> httpx.Cookies:
        return self._client.cookies


def _has_no_style_element(answer: httpx.Response) -> httpx.Response:
    """Return an answer; a page with the service's policy would have its style refused."""
    is_page = answer.headers.get("content-type", "").startswith("text/html")
    if is_page and answer.headers["content-security-policy"] == POLICY:
        assert "<style" not in answer.text.lower()
    return answer


_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)


def without_times(text: str) -> str:
    """Return a page with the text of each time alone, as it stands there without script."""
    return re.sub(r"</?time\b[^>]*>", "", text)


def rows(text: str) -> list[list[str]]:
    """Return the cells of all tables of a page, row by row, without links."""
    found = re.findall(
        r"<tr>(.*?)</tr>", re.sub(r"</?a\b[^>]*>", "", without_times(text)), re.DOTALL
    )
    return [_CELL.findall(row) for row in found if "<td" in row]


def marks(text: str) -> dict[str, str]:
    """Return the marks on the page of a grading, by the keys of submissions."""
    return {row[0]: row[1] for row in rows(text)}


def add_person(service: Service, name: str, email: str = "", *, is_admin: bool = False) -> Person:
    """Make somebody known to a service."""
    with service.database.acting() as act:
        return accounts.add_person(act, name, email, is_admin=is_admin)


def link_for(service: Service, person: Person) -> str:
    with service.database.acting() as act:
        secret = accounts.make_link(act, person.id, accounts.FIRST_LINK, once=True)
    return f"{BASE}/enter/{secret.text}"


def teacher(service: Service, name: str = "Tess Teacher") -> Browser:
    """Return somebody who may make courses, signed in."""
    person = add_person(service, name, is_admin=True)
    return Browser(service).enter(link_for(service, person))


class Made(NamedTuple):
    """A course, made by a teacher on pages."""

    teacher: Browser
    course: str  # its path
    assignment: str  # its path
    links: dict[str, str]  # by student


def read_roster(data: bytes, name: str = "") -> roster_files.RosterFile:
    """Return what a roster says."""
    with tempfile.NamedTemporaryFile(prefix="gtp-harness-roster-") as file:
        Path(file.name).write_bytes(data)
        return roster_files.read(Path(file.name), name)


def make_course(service: Service, text: str, **assigned: str) -> Made:
    """Make a course with a roster and an assignment, the small class's unless another is named."""
    with service.database.acting() as act:
        person = accounts.add_person(act, "Tess Teacher", is_admin=True)
        by = act._replace(by=person.id)
        course = making.course(by, "Games").id
        roster.take(by, course, read_roster(text.encode(), "roster.csv"))
        links = {one.student: one.link for one in roster.make_links(by, course, BASE)}
        own = making.AS_ITS_OWN
        wanted = CourseAssignment("", course, "", "counting", "", "", "", "", own, 0.0)
        made = making.assign(by, wanted._replace(**assigned))
    tess = Browser(service).enter(link_for(service, person))
    return Made(tess, f"/courses/{course}", f"/courses/{course}/assignments/{made.id}", links)


def hand_in(
    student: Browser, course: Made, data: bytes = RIGHT, name: str = "a1.tgz", status: int = 200
) -> httpx.Response:
    """Let a student submit a file, the small class's right one if none is told."""
    files = {"file": (name, data)}
    found = student.post(f"{course.assignment}/uploads", course.assignment, files)
    assert found.status_code == status, found.text
    return found


def grade(service: Service, course: Made) -> str:
    """Grade by public case files; return the path of the grading."""
    path = path_of(course.teacher.post(f"{course.assignment}/gradings", public_only="yes"))
    work(service)
    return path


def grade_public(service: Service, course: Made) -> tuple[str, dict[str, str]]:
    """Grade by public case files; return the path of the grading and the marks on its page."""
    path = grade(service, course)
    return path, marks(course.teacher.get(path).text)


def path_of(response: httpx.Response) -> str:
    """Return the path of the page that a form leads to; fail with its answer if it was refused."""
    assert response.status_code == 200, response.text
    return response.url.path


def work(service: Service) -> int:
    """Do all that is in the queue; return how many jobs that was."""
    worker, count = Worker(service.settings, service.database), 0
    while worker.step():
        count += 1
    return count


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small class's assignment, as if it shipped."""
    return ship_counting(tmp_path, monkeypatch)


def ship_counting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    room = small_class.make(folder / "shipped")
    shutil.rmtree(room / "submissions")
    monkeypatch.setattr(shipped, "folder", lambda: room)
    return room / "counting"
