"""The first steps with a service, as its page tells them, in an environment made for that."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.harness import small_class
from tests.service.serving import FORM_TOKEN, marks

ROOT = Path(__file__).parents[2]
LONGEST = 180.0  # seconds from the first command to a mark, packages being there
# What each step of docs/serving.md begins with, which the test below takes.
STEPS = (
    "Make a course", "Upload a roster", "Make sign-in links", "Students submit",
    "Make private cases", "Look at the marks",
)  # fmt: skip
RIGHT = ROOT / "tests" / "submissions" / "gomoku-rules" / "assignment1"


def test_the_page_has_these_steps():
    page = (ROOT / "docs" / "serving.md").read_text()
    found = re.findall(r"^\d\. (.*)", page, re.MULTILINE)
    assert all(line.startswith(step) for line, step in zip(found, STEPS, strict=True))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A new environment, made as the page says; returns its folder of programs."""
    room = tmp_path_factory.mktemp("machine")
    run(sys.executable, "-m", "venv", room / "venv")
    run(room / "venv" / "bin" / "pip", "install", "-q", f"{ROOT}[service]")
    return room / "venv" / "bin"


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def served(installed, tmp_path):
    """``gtp-harness serve`` without configuration; gives its words, the link the last of them."""
    environment = {"HOME": str(tmp_path), "PATH": os.defpath, "LANG": "C.UTF-8"}
    words = [installed / "gtp-harness", "serve", "--port", "0"]
    process = subprocess.Popen(
        list(map(str, words)), cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
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


@pytest.mark.slow
@pytest.mark.processes
def test_a_course_with_a_mark_in_three_minutes(served):
    begun = time.monotonic()
    tess = Visitor(next(line for line in served.stdout if "Sign in" in line).split()[-1])
    course = tess.post("/courses", title="Games").url.path
    wanted = {"source": "gomoku-rules", "deadline": "2999-01-01T00:00"}
    assignment = tess.post(f"{course}/assignments", **wanted).url.path
    tess.post(f"{course}/roster", files={"file": ("roster.csv", b"student\nada\nben\n")})
    rows = tess.post(f"{course}/links").text.splitlines()[1:]
    links = {row.split(",")[0]: row.split(",")[-1] for row in rows}
    hand_in(Visitor(links["ada"]), assignment, "")
    hand_in(Visitor(links["ben"]), assignment, ", (1, -1)")
    private = next((ROOT / "cases" / "gomoku-rules").rglob("diagonal-up.gtp"))
    tess.post(f"{assignment}/private", files={"file": (private.name, private.read_bytes())})
    grading = tess.post(f"{assignment}/gradings").url.path
    while not {"ada", "ben"} <= (found := marks(tess.get(grading))).keys():
        assert served.poll() is None
        time.sleep(0.5)
    tess.post(f"{grading}/release")
    assert time.monotonic() - begun < LONGEST
    assert found["ada"] != found["ben"]
    assert found["ada"] in Visitor(links["ada"]).get(f"{assignment}/mark")


def hand_in(student, assignment, mistake):
    """Submit a right program, or one in which something is taken out."""
    texts = {path.name: path.read_text() for path in RIGHT.iterdir() if path.is_file()}
    files = {name: text.replace(mistake, "") if mistake else text for name, text in texts.items()}
    data = small_class.archive(files, "assignment1")
    student.post(f"{assignment}/uploads", assignment, {"file": ("a1.tgz", data)})
