"""A service in this process, on either database: people who ask it, and a worker."""

from __future__ import annotations

import functools
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

from harness import shipped
from harness.service.app import guard_application
from harness.service.jobs.worker import Worker
from harness.service.people import accounts
from harness.service.records import Person
from harness.service.settings import Settings, own_schema
from harness.service.storage.database import Database
from harness.service.web.rendering import POLICY
from harness.service.web.service import Service
from tests.harness import small_class
from tests.postgresql import USER, Running
from tests.service.asking import Client

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.processes)]
# Of tests that take long for another reason than the database: PostgreSQL in the slow tier alone.
KINDS_AT_LENGTH = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
BASE = "http://localhost"  # whose client sends tokens without encryption
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
    server.execute(_FORGET_THE_KEY.format(f"{own_schema()}."), name)
    return name


@contextmanager
def open_service(settings: Settings) -> Iterator[Service]:
    service = Service.open(settings)
    try:
        yield service
    finally:
        service.close()


def client_of(service: Service, *, follow_redirects: bool = True) -> Client:
    """Return what asks a service."""
    return Client(guard_application(service), base_url=BASE, follow_redirects=follow_redirects)


class Browser:
    """Somebody with a browser: keeps cookies, sends forms as they are on the page before."""

    def __init__(self, service: Service) -> None:
        self._client = client_of(service)
        self._token = ""  # of forms, as the last page had it: it is the same on all of a session

    def get(self, path: str, **rest) -> httpx.Response:
        return self._see(self._client.get(path, **rest))

    def post(self, path: str, page: str = "/", files=None, **fields) -> httpx.Response:
        """Send a form of a page."""
        if page != "/" or not self._token:
            self._token = ""
            self.get(page)
        data = {**fields, **({"form_token": self._token} if self._token else {})}
        return self._see(self._client.post(path, data=data, files=files))

    def _see(self, answer: httpx.Response) -> httpx.Response:
        """Return an answer, and keep the token of the forms that it has."""
        if found := FORM_TOKEN.search(answer.text):
            self._token = found[1]
        return _has_no_style_element(answer)

    def enter(self, link: str) -> Browser:
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


def link_for(service: Service, person: Person) -> str:
    with service.database.acting() as act:
        secret = accounts.make_link(act, person.id, accounts.FIRST_LINK, once=True)
    return f"{BASE}/enter/{secret.text}"


def teacher(service: Service, name: str = "Tess Teacher") -> Browser:
    """Return somebody who may make courses, signed in."""
    with service.database.acting() as act:
        person = accounts.add_person(act, name, is_admin=True)
    return Browser(service).enter(link_for(service, person))


class Made(NamedTuple):
    """A course, made by a teacher on pages."""

    teacher: Browser
    course: str  # its path
    assignment: str  # its path
    links: dict[str, str]  # by student


def make_course(service: Service, roster: str, **assigned: str) -> Made:
    """Make a course with the small class's assignment and a roster."""
    tess = teacher(service)
    course = path_of(tess.post("/courses", title="Games"))
    files = {"file": ("roster.csv", roster.encode())}
    assert tess.post(f"{course}/roster", files=files).status_code == 200
    rows = tess.post(f"{course}/links").text.splitlines()[1:]
    wanted = {"source": "counting", **assigned}
    assignment = path_of(tess.post(f"{course}/assignments", **wanted))
    return Made(tess, course, assignment, {row.split(",")[0]: row.split(",")[-1] for row in rows})


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
