"""A teacher who has never seen the service, with README open, and only the words on the pages.

From the link that ``serve`` prints to a released mark, for some assignments that ship, and in the
slow tier for each of them: one course, one browser. What is clicked is found by its role and its
name; a page that answers with an error, or a form that is not taken, ends the walk.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.harness import small_class
from tests.harness.browsing import open_page
from tests.service.serving import Browser, open_service, settings_of, work
from tests.service.stories import World, listening
from tests.service.test_browser import new_teacher
from tests.service.test_own_files import zip_files

pytestmark = [pytest.mark.long(60), pytest.mark.processes]

SUBMISSIONS = Path(__file__).parents[1] / "submissions"
# For each assignment, and to the first one; more is a worse way to the same mark.
MOST_CLICKS, MOST_PAGES, FIRST = 9, 9, 10


class Walk(NamedTuple):
    """An assignment that ships, and a right submission to it."""

    title: str  # as the page says it
    folder: str  # of the submission
    archive: str
    course_folder: str = ""
    shared: str = ""  # a file of another submission that it imports


WALKS = [
    Walk("Go scoring", "go-scoring/assignment1", "a1.tgz", "go-scoring/util"),
    Walk("Gomoku rules", "gomoku-rules/assignment1", "assignment1.tgz"),
    Walk(
        "Gomoku policy",
        "gomoku-policy/assignment3",
        "assignment3.tgz",
        shared="gomoku-rules/assignment1/gtp_connection.py",
    ),
    Walk("Go Sensei", "gosensei/with-make", "gosensei.tgz"),
    Walk("Go in Java", "java-go/go", "go.tgz"),
]


def files_of(folder):
    root = SUBMISSIONS / folder
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip


class Teacher:
    """Somebody who clicks on words, and counts."""

    def __init__(self, page) -> None:
        self.page = page
        self.clicks = self.pages = 0
        page.on("response", self._look)

    def _look(self, response) -> None:
        request = response.request
        if request.is_navigation_request() and response.status // 100 != 3:
            self.pages += 1
            assert response.ok, f"{response.status}: {response.url}"

    def click(self, name: str, role: str = "button") -> None:
        """Click on something whose name begins so; a page comes."""
        self.clicks += 1
        found = self.page.get_by_role(role, name=re.compile(f"^{re.escape(name)}"))
        with self.page.expect_navigation():
            found.first.click()

    def follow(self, name: str) -> None:
        """Click on a link."""
        self.click(name, "link")

    def mark(self, name: str, role: str) -> None:
        """Click on a choice, unless it is made already."""
        found = self.page.get_by_role(role, name=re.compile(f"^{re.escape(name)}")).first
        if not found.is_checked():
            self.clicks += 1
            found.click()

    def save(self, name: str) -> str:
        """Click on a button that gives a file; return what it has."""
        self.clicks += 1
        with self.page.expect_download() as begun:
            self.page.get_by_role("button", name=name, exact=True).click()
        return Path(begun.value.path()).read_text()

    def choose(self, label: str, path: Path) -> None:
        """Choose a file, in the system's own window."""
        self.page.get_by_label(re.compile(f"^{re.escape(label)}")).set_input_files(path)

    def says(self, words: str) -> bool:
        return words in self.page.inner_text("main")


@pytest.fixture(scope="module")
def world(browser, tmp_path_factory, request):
    settings = settings_of("sqlite", request, tmp_path_factory.mktemp("served") / "data")
    with open_service(settings) as service, listening(service) as address:
        yield World(service, address, browser)


# One has a course folder, one needs a compiler.
SOME = [walk for walk in WALKS if walk.course_folder or walk.title == "Go Sensei"]


@pytest.mark.parametrize(
    "walks",
    [
        pytest.param(SOME, id="some"),
        pytest.param(WALKS, id="all", marks=pytest.mark.slow),
    ],
)
def test_from_serve_to_a_released_mark_of_each_assignment(
    browser, world, tmp_path, record_property, walks
):
    (tmp_path / "roster.csv").write_text("student\nada\n")
    link = new_teacher(world)
    with open_page(browser, "", home=world.address) as page:
        tess = Teacher(page)
        page.goto(f"{world.address}/{link.split('/', 3)[3]}")
        tess.click("Sign in")
        links = make_course(tess, tmp_path)
        ada = Browser(world.service).enter(links["ada"])
        for walk in walks:
            assignment = make_assignment(tess, walk, tmp_path)
            submit(ada, assignment, walk)
            work(world.service)
            release(tess, world.service)
            assert re.search(r"\b[1-9]\d* of \d", ada.get(f"{assignment}/mark").text), walk
        told = f"{tess.clicks} clicks, {tess.pages} pages"
    record_property("walk", told)
    assert tess.clicks <= MOST_CLICKS * len(walks) + FIRST, told
    assert tess.pages <= MOST_PAGES * len(walks) + FIRST, told


def make_course(tess, disk):
    """Make a course with a roster; return the students' links."""
    tess.follow("New course")
    tess.page.get_by_label("Title").fill("Games")
    tess.click("Create course")
    tess.follow("Students")
    tess.follow("Import roster")
    tess.choose("Roster file", disk / "roster.csv")
    tess.click("Import")
    rows = tess.save("Download sign-in links").splitlines()[1:]
    return {row.split(",")[0]: row.split(",")[-1] for row in rows}


def make_assignment(tess, walk, disk):
    """Make an assignment, and what its checklist says; return its path."""
    tess.follow("Assignments")
    tess.follow("New assignment")
    tess.follow(walk.title)
    tess.click("Next")
    tess.click("Create assignment")
    if walk.course_folder:
        name = Path(walk.course_folder).name
        path = disk / f"{name}.zip"
        path.write_bytes(zip_files(files_of(walk.course_folder)))
        tess.follow("Upload course folder")
        tess.choose("As an archive", path)
        tess.click("Upload the folder")
    assert not tess.says("Missing")
    return re.sub(r"https?://[^/]*", "", tess.page.url)


def submit(ada, assignment, walk):
    """Let a student submit; what became of it is on the page."""
    folder = walk.archive.partition(".")[0].replace("a1", "assignment1")
    shared = Path(SUBMISSIONS, walk.shared)
    files = files_of(walk.folder) | ({shared.name: shared.read_text()} if walk.shared else {})
    data = small_class.archive(files, folder)
    shown = ada.post(f"{assignment}/uploads", assignment, {"file": (walk.archive, data)})
    assert shown.status_code == 200, shown.text


def release(tess, service):
    """Grade with the public tests, and release the marks."""
    tess.page.reload()
    tess.click("Grade")
    work(service)
    tess.page.get_by_role("checkbox", name=re.compile("^Release")).wait_for()
    tess.mark("Release", "checkbox")
    tess.click("Release")
    assert tess.says("Released")
