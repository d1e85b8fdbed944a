"""Whatever is uploaded, by any route and form, nothing of the service breaks: neither the answer,
nor what a worker makes of it, nor the page afterwards.

What is sent is a right file with some bytes changed, inside or outside its compression.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness.reading import shipped
from harness.service import web
from harness.service.api.requests import schema_of
from harness.service.app import application
from harness.service.people import accounts
from harness.service.records import FAULT
from harness.service.storage import courses, queue
from tests.harness import archives, small_class
from tests.service.serving import (
    FUTURE,
    KINDS,
    Browser,
    client_of,
    make_course,
    open_service,
    path_of,
    read_log,
    settings_of,
    work,
)
from tests.service.test_own_files import FILES, zip_files
from tests.service.test_suites import F, P, document

pytestmark = [pytest.mark.processes, pytest.mark.long(60)]

TEMPLATES = Path(web.__file__).parent / "templates"
TGZ = small_class.submission("return 2 * n")
ZIP = archives.make_zip({"assignment1/engine.py": small_class.ENGINE}.items())
ROSTER = b"student,name,group\nada,Ada,\nben,Ben,two\ncyd,Cyd,two\n"
CANVAS = b'Student,ID,SIS Login ID,Section\n    Points Possible,,,\n"Ada, A",17,ada,One\n'
GRADEBOOK = b"Student,ID,Section,Counting\nAda,17,One,\n"
SGF = b"(;GM[1]FF[4]SZ[9]KM[6.5];B[ee];W[gc];B[cg];W[gg];B[cc](;W[cd])(;W[dc];B[dd]))"
WITH_FOLDER = FILES["assignment.toml"].replace('engine.py"\n', 'engine.py"\noverlay = "util"\n', 1)
OWN, NEWER, NEWEST = (
    zip_files({**FILES, "assignment.toml": WITH_FOLDER, "one.gtp": f"1 twice {n}\n#? [{2 * n}]\n"})
    for n in (1, 2, 3)
)

SUITE = zip_files({"cases/one.tst": "10 twice 4\n#? [8]\n"})


class Route(NamedTuple):
    """Where something is uploaded."""

    name: str
    method: str
    path: str
    right: tuple[bytes, ...]  # files; one is changed
    page: str  # with the form; empty: by API
    field: str = "file"
    by: str = "teacher"
    fields: tuple[tuple[str, str], ...] = ()


ROUTES = [
    Route("submission", "POST", "{task}/uploads", (TGZ, ZIP), "{task}", by="ada"),
    Route("folder", "POST", "{task}/uploads", (b"print()",), "{task}", "files", "ada"),
    Route("submission by API", "POST", "{task}/submissions?name=a1.tgz", (TGZ, ZIP), "", by="ada"),
    Route("roster", "POST", "{course}/roster", (ROSTER, CANVAS), "{course}"),
    Route("roster by API", "POST", "{course}/roster", (ROSTER, CANVAS), ""),
    Route("own assignment", "POST", "{course}/assignments/own", (OWN,), "{course}"),
    Route("own by API", "POST", "{course}/assignments/own?name=a.zip", (OWN,), ""),
    Route("source", "POST", "{own}/source", (NEWER,), "{own}"),
    Route("source by API", "POST", "{own}/source?name=a.zip", (NEWEST,), ""),
    Route("overlay", "POST", "{own}/overlay", (zip_files({"a.py": "1"}),), "{own}"),
    Route("overlay by API", "PUT", "{own}/overlay?name=a.zip", (zip_files({"a.py": "1"}),), ""),
    Route("case file", "POST", "{task}/private", (b"1 twice 7\n#? [14]\n",), "{task}/private"),
    Route("case file by API", "PUT", "{task}/private/a.gtp", (b"1 twice 7\n#? [14]\n",), ""),
    Route("gradebook", "POST", "{grading}/gradebooks", (GRADEBOOK,), "{grading}",
          fields=(("platform", "canvas"),)),
    Route("gradebook by API", "PUT", "{grading}/gradebooks/canvas", (GRADEBOOK,), ""),
    Route("game record", "POST", "{go}/private/drafts", (SGF,), "{go}/private", "games",
          fields=(("tests", "1"),)),
    Route("game record by API", "POST", "{go}/drafts?tests=1", (SGF,), ""),
    Route("run", "POST", "{suite}/runs", (document([P, F]),), "{suite}"),
    Route("run by API", "POST", "{suite}/runs", (document([P, F]),), ""),
    Route("engine", "POST", "{suite}/runs", (TGZ,), "{suite}"),
    Route("own cases", "POST", "{suite}/cases", (SUITE,), "{suite}",
          fields=(("command", "python3 {folder}/engine.py"), ("build", ""))),
    Route("own cases by API", "PUT", "{suite}/cases?name=a.zip&command=python3%20%7Bfolder%7D/e",
          (SUITE,), ""),
]  # fmt: skip
NAMES = [one.name for one in ROUTES]
# A worker finds positions for seconds: in the slow tier alone.
_AT_LENGTH = ("game record", "game record by API")


class World(NamedTuple):
    """A service with a course, and who asks it."""

    service: object
    browsers: dict[str, Browser]
    tokens: dict[str, str]
    places: dict[str, str]

    def send(self, route: Route, name: str, data: bytes) -> httpx.Response:
        """Upload a file; return the last answer, that of the page after it if there is one."""
        path, page = (one.format(**self.places) for one in (route.path, route.page))
        if route.page:
            files = [(route.field, (name, data))]
            return self.browsers[route.by].post(path, page, files, **dict(route.fields))
        headers = {"authorization": f"Bearer {self.tokens[route.by]}"}
        return client_of(self.service).request(
            route.method, f"/api/v1{path}", content=data, headers=headers
        )

    def look(self, route: Route, answer: httpx.Response) -> httpx.Response:
        """Return the page where what was uploaded is shown."""
        if route.page:
            is_another = answer.is_success and route.name != "roster"  # whose answer is a summary
            own = answer.url.path if is_another else route.page.format(**self.places)
            return self.browsers[route.by].get(own)
        headers = {"authorization": f"Bearer {self.tokens[route.by]}"}
        place = route.path.partition("?")[0].format(**self.places)
        place = place.removesuffix("/own").removesuffix("/a.gtp").removesuffix("/cases")
        place = place.removesuffix("/canvas")
        if place.endswith("roster"):
            place = f"{self.places['course']}/students"
        return client_of(self.service).get(f"/api/v1{place}", headers=headers)

    def troubles(self) -> list[dict[str, object]]:
        """Return what the service told its operators of."""
        found = read_log(self.service.settings)
        return [one for one in found if one["what"] == "trouble"]


@pytest.fixture(scope="module", params=KINDS)
def world(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    room = small_class.make(folder / "shipped")
    (room / "go-scoring").symlink_to(shipped.folder() / "go-scoring")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shipped, "folder", lambda: room)
        own = settings_of(request.param, request, folder / "data")
        much = {"rate": 1_000_000, "page_rate": 1_000_000, "most_uploads": 1_000_000}
        with open_service(own._replace(**much)) as service:
            yield fill_service(service)


def fill_service(service) -> World:
    """Make a course with assignments of all sorts, and a suite."""
    course = make_course(service, "student\nada\n", deadline=FUTURE)
    tess = course.teacher
    own = path_of(
        tess.post(f"{course.course}/assignments/own", course.course, {"file": ("a.zip", OWN)})
    )
    go = path_of(tess.post(f"{course.course}/assignments", source="go-scoring", deadline=FUTURE))
    suite = path_of(tess.post("/suites", title="Mine"))
    # Only a suite with case files takes engines, whichever test comes first.
    engine = {"command": "python3 {folder}/engine.py", "build": ""}
    path_of(tess.post(f"{suite}/cases", suite, {"file": ("a.zip", SUITE)}, **engine))
    grading = path_of(tess.post(f"{course.assignment}/gradings", public_only="yes"))
    with service.database.acting() as act:
        ada = courses.MEMBERS.find(act.db, key="ada").person
        by = courses.MEMBERS.find(act.db, role="teacher").person
        tokens = {
            name: accounts.make_token(act._replace(by=person), "ci", "all")[1].text
            for name, person in (("ada", ada), ("teacher", by))
        }
    places = {"course": course.course, "task": course.assignment, "own": own,
              "go": go, "suite": suite, "grading": grading}  # fmt: skip
    browsers = {"teacher": tess, "ada": Browser(service).enter(course.links["ada"])}
    work(service)
    return World(service, browsers, tokens, places)


# --- what is drawn -----------------------------------------------------------------------------

_PIECES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from([b"\0", b"\xff\xfe", b"../", b"\n\n", b",", b"=1+1", b"(;", b"\\", b"9" * 30]),
)


@st.composite
def draw_changed_file(draw, right: bytes) -> bytes:
    """Draw a file like a right one: cut off, or with some bytes in the place of others."""
    data = right
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(data)))
        left_out = draw(st.sampled_from([0, 1, 8, 512, len(data)]))
        data = data[:place] + draw(_PIECES) + data[place + left_out :]
    return data


@st.composite
def uploads(draw, route: Route) -> bytes:
    """Draw what is uploaded; a compressed file may be changed before it is compressed."""
    right = draw(st.sampled_from(route.right))
    if right.startswith(b"\x1f\x8b") and draw(st.booleans()):
        return gzip.compress(draw(draw_changed_file(gzip.decompress(right))), mtime=0)
    return draw(draw_changed_file(right))


FILE_NAMES = st.one_of(
    st.sampled_from(["a1.tgz", "roster.csv", "a.zip", "games.sgf", "case.gtp", "../../a", "."]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=130),
)


def see(world: World, route: Route, name: str, data: bytes, *, works: bool) -> None:
    """Upload something, let a worker work at it or throw its job away, and look at the page."""
    before = len(world.troubles())
    answer = world.send(route, name, data)
    assert answer.status_code < 500, answer.text
    if works:
        work(world.service)
    with world.service.database.changing() as db:
        assert queue.JOBS.all(db, state=FAULT) == []
        queue.JOBS.remove(db, state="waiting")
    assert world.look(route, answer).status_code < 500
    assert world.troubles()[before:] == []


@pytest.mark.parametrize("route", ROUTES, ids=NAMES)
@pytest.mark.soak(100)
@settings(
    max_examples=3, deadline=None, database=None, phases=[Phase.generate],
    suppress_health_check=[*HealthCheck],
)  # fmt: skip
@given(data=st.data())
def test_no_upload_breaks_the_service(world, route, data, request):
    is_slow = request.config.getoption("tier") == "slow"
    seldom = st.sampled_from([True, False, False]) if is_slow else st.just(False)
    works = st.booleans() if route.name not in _AT_LENGTH else seldom
    see(
        world, route, data.draw(FILE_NAMES), data.draw(uploads(route)), works=data.draw(works)
    )  # fmt: skip


def test_a_file_of_a_folder_that_is_called_a_dot_is_refused(world):
    route = ROUTES[NAMES.index("folder")]
    for name in (".", "./", "/", ".."):
        assert world.send(route, name, b"x").status_code == 422


_NAMED = {"gradebooks": "canvas"}  # what routes of a kind call by a name; else a case file
_ADDRESS = re.compile(
    r'multipart/form-data" action="([^"]*)"'
    r"|ui\.form\(context, ([^,]*),[^%]*has_file=true"
    r'|action = base ~ \(("/own") if is_own'
)


def last(path: str) -> str:
    """Return the last part of an address."""
    return path.partition("?")[0].rpartition("/")[2]


def test_each_form_with_a_file_and_each_route_that_takes_bytes_is_one_of_these():
    texts = [path.read_text() for path in TEMPLATES.glob("*.html")]
    found = ["".join(one) for text in texts for one in _ADDRESS.findall(text)]
    found = ["private" if one == "own" else one for one in found]  # the address of its page
    forms = {last(one).strip('"') for one in found}
    assert forms == {last(one.path) for one in ROUTES if one.page}
    taken = {
        (method.upper(), last(path).replace("{name}", _NAMED.get(path.split("/")[-2], "a.gtp")))
        for path, item in schema_of(application(None))["paths"].items()
        for method, told in item.items()
        if set(told.get("requestBody", {}).get("content", {})) - {"application/json"}
    }
    documents = {("POST", "runs")}  # as JSON
    assert taken | documents == {(one.method, last(one.path)) for one in ROUTES if not one.page}


@pytest.mark.parametrize("route", ROUTES, ids=NAMES)
def test_what_is_right_is_taken_by_each_route(world, route):
    """So that what is drawn comes as far as it can."""
    name = {"case file": "b.gtp", "folder": "assignment1/engine.py"}.get(route.name, "a1.tgz")
    answer = world.send(route, name, route.right[0])
    assert answer.is_success, answer.text
    assert world.look(route, answer).is_success
