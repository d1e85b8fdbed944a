"""How a student repeats at home what was tested: the very command lines, and that they work."""

from __future__ import annotations

import html
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from harness.assignments.assignment import find
from harness.assignments.public_tests import at_home
from harness.cli import main
from harness.cli.check import CHECK
from harness.core.errors import UsageError
from harness.grading.exports.feedback import body_of
from harness.grading.exports.showing import feedback
from harness.grading.records import PUBLIC, Attempt
from harness.judging.in_process import mutant_engine
from harness.reading import casefile
from harness.reading.shipped import folder
from harness.report.reporters import shell_word
from harness.report.views import Views
from oracle.mistakes import find_mistake
from tests.harness.made_class import made_class, mark_by_counting, student, submission
from tests.harness.test_diagnosis import result_of

SUBMISSION = Path(__file__).parents[1] / "submissions" / "go-scoring"


@pytest.mark.parametrize(
    "key", ["go-scoring", "gomoku-rules", "gomoku-policy", "gosensei", "java-go"]
)
def test_the_lines_of_each_assignment(key):
    """Also where the program is built or asked through an adapter."""
    home = at_home(find(key))
    assert home.check == home.repeat.start == f"gtp-harness check --assignment {key}"
    assert home.is_shipped


def test_a_teachers_own_assignment_is_named_as_the_course_names_it(tmp_path):
    home = at_home(find("go-scoring")._replace(place=tmp_path / "go-scoring"))
    assert not home.is_shipped
    assert str(tmp_path) not in str(home)


def lines_on_the_page(case_file: str) -> list[str]:
    """The command lines on the page of a student who fails a shipped case file."""
    assignment = find("go-scoring")
    case = casefile.read(str(folder() / "go-scoring" / case_file))
    file = result_of(case, mutant_engine(find_mistake("neutral-points-to-white")))
    found = (Attempt("me", PUBLIC, case_file, file),)
    graded = mark_by_counting(submission("me", student("me", "Me", 1)), found)
    result = made_class()._replace(assignment=assignment, graded=(graded,))
    views = Views(assignment.specification, assignment.place)
    page = body_of(feedback(graded, result, views))
    return [html.unescape(one) for one in re.findall(r"\$ </b><span>([^<]*)</span>", page)]


def test_each_failed_test_has_its_line():
    *single, check = lines_on_the_page("area.gtp")
    assert single
    assert all(one.startswith(f"{check} --test area.gtp:") for one in single)
    assert check == "gtp-harness check --assignment go-scoring"


def spoilt(folder):
    """Return a student's folder with a submission that takes an empty board for White's."""
    shutil.copytree(SUBMISSION, folder, ignore=shutil.ignore_patterns("cases", "__pycache__"))
    connection = folder / "assignment1" / "gtp_connection_go1.py"
    text = connection.read_text()
    connection.write_text(text.replace("if len(colors) == 1:", "if True:"))
    return folder


def own_assignment(folder):
    """Return an assignment that does not ship, in a folder with a space in its name."""
    place = folder / "my course" / "go-scoring"
    place.mkdir(parents=True)
    shipped = find("go-scoring").place
    shutil.copy(shipped / "assignment.toml", place)
    shutil.copy(shipped / "area.gtp", place / "the area.gtp")
    return place


def check_of(*words):
    return " ".join(map(shell_word, ["gtp-harness", "check", "--sandbox", "off", *words]))


COMMANDS = {
    "in the folder": lambda _, home: (
        check_of("--assignment", "go-scoring", "--no-color"),
        home / "assignment1",
    ),
    "own assignment": lambda room, home: (
        check_of(
            "--assignment",
            "../my course/go-scoring",
            "--overlay",
            "util",
            "--python",
            sys.executable,
        ),
        own_assignment(room) and home,
    ),
    "archive": lambda room, home: (
        check_of("a1.tgz", "--assignment", "go-scoring", "--overlay", f"{home.name}/util"),
        packed(room, home),
    ),
    "run, a path with spaces": lambda room, home: (
        "gtp-harness run --report \"python3 'assignment1/Go1.py'\""
        f" '../{own_assignment(room).relative_to(room)}/the area.gtp'",
        home,
    ),
}


def packed(room, home):
    with tarfile.open(room / "a1.tgz", "w:gz") as archive:
        archive.add(home / "assignment1", "assignment1")
    return room


@pytest.mark.long(1)
@pytest.mark.processes
@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_after_again_repeats_its_test_where_the_command_was_given(
    name, tmp_path, monkeypatch, capsys
):
    home = spoilt(tmp_path / "my own")
    command, place = COMMANDS[name](tmp_path, home)
    monkeypatch.chdir(place)
    main(shlex.split(command)[1:])
    said = capsys.readouterr().out
    failed = re.findall(r"✗ FAILED  (.*)", said)
    lines = re.findall(r"^ +again +(gtp-harness .*)$", said, re.M)
    assert len(lines) == len(failed) > 0, said
    written = sorted(place.iterdir())
    main(shlex.split(lines[0])[1:])
    again = capsys.readouterr().out
    number = failed[0].partition(" ")[0]
    assert re.search(rf"✗ FAILED  {number} |^{number} unexpected FAIL", again, re.M), again
    assert sorted(place.iterdir()) == written


@pytest.mark.processes
def test_the_line_on_a_students_page_repeats_its_test(tmp_path):
    home, bad = tmp_path / "my own", spoilt(tmp_path / "bad")
    shutil.copytree(SUBMISSION, home, ignore=shutil.ignore_patterns("cases"))
    line = f"{lines_on_the_page('area.gtp')[0]} --sandbox off"
    said = run(line, home / "assignment1").stdout
    assert "1 test, 1 passed" in said, said
    assert "This test passes. Nothing was written" in said
    wrong = f"{at_home(find('go-scoring')).check} --sandbox off --test area.gtp:9"
    assert "This test does not pass. Nothing was written." in run(wrong, bad).stdout


@pytest.mark.parametrize(
    "text",
    [
        *("area.gtp", "area:9", "area.gtp:x", ":9", "thorough/seki.gtp:9"),
        *("area.gtp:1", "area.gtp:0", "area.gtp:9999999999"),  # no test is in this line
    ],
)
def test_what_names_no_public_test_is_refused(text, tmp_path, monkeypatch):
    (tmp_path / "assignment1").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"^--test: found .*, expected .*area\.gtp"):
        CHECK.main(["--assignment", "go-scoring", "--test", text])


@pytest.mark.parametrize(
    ("words", "message"),
    [(["x" * 300], "there is no x"), ([".", "--overlay", "x" * 300], "folder x")],
)
def test_a_name_that_no_file_can_have_is_refused(words, message):
    with pytest.raises(UsageError, match=message):
        CHECK.main([*words, "--assignment", "go-scoring"])


def run(line: str, folder: Path) -> subprocess.CompletedProcess:
    """Run a command line of the harness in a shell."""
    words = line.replace("gtp-harness", f"'{sys.executable}' -X utf8 -m harness.cli", 1)
    return subprocess.run(
        ["sh", "-c", words], cwd=folder, capture_output=True, text=True, check=False, timeout=100
    )
