"""The first steps with a service, by the commands and the buttons that README names.

The clock begins with the first command and ends with a mark: what pip downloads counts as well.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import httpx
import pytest

from tests.harness import small_class
from tests.service.serving import FORM_TOKEN, marks

ROOT = Path(__file__).parents[2]
LONGEST = 180.0  # seconds from the first command to a mark
HEADING = "## A course in three minutes\n"
RIGHT = ROOT / "tests" / "submissions" / "gomoku-rules" / "assignment1"
WANTED = {"source": "gomoku-rules", "title": "Set 1", "deadline": "2999-01-01T00:00"}
LAST_STEP = f"/assignments/new/visibility?{urlencode(WANTED)}"
NOT_INSTALLED = (".git", ".venv", ".tox", "*_cache", "__pycache__", "tests")


class Steps(NamedTuple):
    """What README says."""

    commands: str  # of a shell; the last one serves
    buttons: tuple[str, ...]  # in the order in which they are pressed


def steps() -> Steps:
    """Return what README says of the first steps with a service."""
    section = (ROOT / "README.md").read_text().partition(HEADING)[2].partition("\n## ")[0]
    _, commands, words = re.split("```(?:sh\n)?", section)
    buttons = re.findall(r"\*([^*]+)\*", words)
    return Steps(commands, tuple(" ".join(one.split()) for one in buttons))


def test_readme_has_these_steps():
    found = steps()
    assert found.commands.strip().endswith("gtp-harness serve")
    assert set(found.buttons) == set(Course.__dict__["PRESS"])


@pytest.fixture
def checkout(tmp_path):
    """The files that this is installed from, in a new folder."""
    shutil.copytree(ROOT, tmp_path / "new", ignore=shutil.ignore_patterns(*NOT_INSTALLED))
    return tmp_path / "new"


class Served(NamedTuple):
    """A service that README's commands have started."""

    process: subprocess.Popen
    begun: float  # before the first command


@pytest.fixture
def served_commands(checkout, tmp_path):
    """README's commands, in a shell that knows nothing else."""
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    begun = time.monotonic()
    process = subprocess.Popen(
        ["sh", "-ec", f"{steps().commands.strip().replace('.venv/bin/gtp', 'exec .venv/bin/gtp')}"
         " --port 0"],
        cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield Served(process, begun)
    finally:
        process.terminate()
        process.wait(60)


class Visitor:
    """Somebody with a browser and no script: sends forms with the token of the page before."""

    def __init__(self, link: str) -> None:
        self._client = httpx.Client(follow_redirects=True, timeout=60)
        self._client.base_url = re.match(r"http://[^/]*", link)[0]
        self.post(link, link)

    def get(self, path):
        found = self._client.get(path)
        assert found.status_code == 200, found.text
        return found.text

    def post(self, path, page="/", files=None, **fields):
        token = FORM_TOKEN.search(self.get(page))
        data = {**fields, **({"form_token": token[1]} if token else {})}
        found = self._client.post(path, data=data, files=files)
        assert found.status_code == 200, found.text
        return found


class Course:
    """Who presses the buttons: a teacher and two students."""

    def __init__(self, link: str) -> None:
        self.tess = Visitor(link)
        self.course = self.assignment = self.grading = ""
        self.links: dict[str, str] = {}
        self.found: dict[str, str] = {}  # marks

    def press(self, button: str) -> None:
        """Do what a button is for, which is on the page."""
        page, act = self.PRESS[button]
        visitor = Visitor(self.links["ada"]) if button == "Submit" else self.tess
        text = visitor.get(page(self))
        assert re.search(rf"<button[^>]*>{re.escape(button)}\b[^<]*</button>", text), button
        act(self)

    def make_course(self) -> None:
        self.course = self.tess.post("/courses", title="Games").url.path

    def make_assignment(self) -> None:
        wanted = dict(WANTED)
        self.assignment = self.tess.post(f"{self.course}/assignments", **wanted).url.path

    def upload_roster(self) -> None:
        roster = {"file": ("roster.csv", b"student\nada\nben\n")}
        self.tess.post(f"{self.course}/roster", files=roster)

    def make_links(self) -> None:
        rows = self.tess.post(f"{self.course}/links").text.splitlines()[1:]
        self.links = {row.split(",")[0]: row.split(",")[-1] for row in rows}

    def submit(self) -> None:
        hand_in(Visitor(self.links["ada"]), self.assignment, "")
        hand_in(Visitor(self.links["ben"]), self.assignment, ", (1, -1)")

    def add_private(self) -> None:
        private = next((ROOT / "cases" / "gomoku-rules").rglob("diagonal-up.gtp"))
        files = {"file": (private.name, private.read_bytes())}
        self.tess.post(f"{self.assignment}/private", files=files)

    def grade(self) -> None:
        ends = time.monotonic() + LONGEST
        while "still being checked" in self.tess.get(self.assignment):
            assert time.monotonic() < ends
            time.sleep(0.5)
        self.grading = self.tess.post(f"{self.assignment}/gradings").url.path
        while not {"ada", "ben"} <= (found := marks(self.tess.get(self.grading))).keys():
            assert time.monotonic() < ends
            time.sleep(0.5)
        self.found = found

    def release(self) -> None:
        self.tess.post(f"{self.grading}/release", early="yes")

    PRESS = {  # noqa: RUF012 - by the name of the button: the page that it is on, what it does
        "Create course": (lambda _: "/courses/new", make_course),
        "Import": (lambda self: f"{self.course}/students/import", upload_roster),
        "Download sign-in links": (lambda self: f"{self.course}/students", make_links),
        "Create assignment": (lambda self: f"{self.course}{LAST_STEP}", make_assignment),
        "Submit": (lambda self: self.assignment, submit),
        "Add case file": (lambda self: f"{self.assignment}/private", add_private),
        "Grade": (lambda self: self.assignment, grade),
        "Release the marks": (lambda self: self.grading, release),
    }


@pytest.mark.slow
@pytest.mark.processes
def test_a_course_with_a_mark_in_three_minutes(served_commands, record_property):
    link = next(line for line in served_commands.process.stdout if "Sign in" in line).split()[-1]
    installed = time.monotonic() - served_commands.begun
    course = Course(link)
    for button in steps().buttons:
        course.press(button)
    seconds = time.monotonic() - served_commands.begun
    told = f"{seconds:.0f} s, {installed:.0f} s of them until the service answered"
    record_property("first steps", told)
    print(told)
    assert course.found["ada"] != course.found["ben"]
    assert course.found["ada"] in Visitor(course.links["ada"]).get(f"{course.assignment}/mark")
    assert seconds < LONGEST * busyness()


def busyness() -> float:
    """Return how many times as long everything takes as on a machine that does nothing else."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


def hand_in(student, assignment, mistake):
    """Submit a right program, or one in which something is taken out."""
    texts = {path.name: path.read_text() for path in RIGHT.iterdir() if path.is_file()}
    files = {name: text.replace(mistake, "") if mistake else text for name, text in texts.items()}
    data = small_class.archive(files, "assignment1")
    student.post(f"{assignment}/uploads", assignment, {"file": ("a1.tgz", data)})
