"""A service in this process, on either database: people who ask it, and a worker."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from fastapi.testclient import TestClient

from harness import shipped
from harness.service.app import guarded
from harness.service.people import entering
from harness.service.records import Person
from harness.service.settings import Settings
from harness.service.web.service import Service
from harness.service.work.worker import Worker
from tests.harness import small_class

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.processes)]
BASE = "http://testserver"
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


def settings_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> Settings:
    """Return settings for a new service on a database of a kind."""
    database = request.getfixturevalue("database") if kind == "postgresql" else ""
    return Settings(folder, database, address=BASE)


@contextmanager
def opened(settings: Settings) -> Iterator[Service]:
    service = Service.opened(settings)
    try:
        yield service
    finally:
        service.close()


class Browser:
    """Somebody with a browser: keeps cookies, sends forms as they are on the page before."""

    def __init__(self, service: Service) -> None:
        self._client = TestClient(guarded(service), base_url=BASE, follow_redirects=True)

    def get(self, path: str, **rest) -> httpx.Response:
        return self._client.get(path, **rest)

    def post(self, path: str, page: str = "/", files=None, **fields) -> httpx.Response:
        """Send a form of a page."""
        found = _TOKEN.search(self.get(page).text)
        data = {**fields, **({"form_token": found[1]} if found else {})}
        return self._client.post(path, data=data, files=files)

    def enter(self, link: str) -> Browser:
        """Sign in by a link, as people do."""
        path = link.removeprefix(BASE)
        assert self.get(path).status_code == 200
        assert self.post(path, page=path).status_code == 200
        return self

    @property
    def cookies(self) -> httpx.Cookies:
        return self._client.cookies


_CELL = re.compile(r"<td[^>]*>(.*?)</td>")


def rows(text: str) -> list[list[str]]:
    """Return the cells of all tables of a page, row by row."""
    return [_CELL.findall(row) for row in re.findall(r"<tr>(.*?)</tr>", text) if "<td" in row]


def marks(text: str) -> dict[str, str]:
    """Return the marks on the page of a grading, by the keys of submissions."""
    return {row[0]: row[1] for row in rows(text)}


def link_for(service: Service, person: Person) -> str:
    with service.database.acting() as act:
        secret = entering.link(act, person.id, entering.FIRST_LINK, once=True)
    return f"{BASE}/enter/{secret.text}"


def teacher(service: Service, name: str = "Tess Teacher") -> Browser:
    """Return somebody who may make courses, signed in."""
    with service.database.acting() as act:
        person = entering.add_person(act, name, is_admin=True)
    return Browser(service).enter(link_for(service, person))


class Made(NamedTuple):
    """A course, made by a teacher on pages."""

    teacher: Browser
    course: str  # its path
    assignment: str  # its path
    links: dict[str, str]  # by student


def made(service: Service, roster: str, **assigned: str) -> Made:
    """Make a course with the small class's assignment and a roster."""
    tess = teacher(service)
    course = _path(tess.post("/courses", title="Games"))
    files = {"file": ("roster.csv", roster.encode())}
    assert tess.post(f"{course}/roster", files=files).status_code == 200
    rows = tess.post(f"{course}/links").text.splitlines()[1:]
    wanted = {"source": "counting", **assigned}
    assignment = _path(tess.post(f"{course}/assignments", **wanted))
    return Made(tess, course, assignment, {row.split(",")[0]: row.split(",")[-1] for row in rows})


def _path(response: httpx.Response) -> str:
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
    room = small_class.make(tmp_path / "shipped")
    shutil.rmtree(room / "submissions")
    monkeypatch.setattr(shipped, "folder", lambda: room)
    return room / "counting"
