"""How a student repeats at home what was tested: the very command lines, and that they work."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.assignments.assignment import find
from harness.assignments.at_home import at_home
from harness.grading.exports.feedback import body_of
from harness.grading.exports.showing import feedback
from harness.grading.records import PUBLIC, Attempt
from harness.judging.mistaken import mutant_engine
from harness.reading import casefile
from harness.report.context import Repeating
from harness.report.views import Views
from harness.shipped import folder
from oracle.mistakes import find_mistake
from tests.harness.made_class import made_class, mark_by_counting, student, submission
from tests.harness.test_diagnosis import result_of

SUBMISSION = Path(__file__).parents[1] / "submissions" / "go-scoring"


@pytest.mark.parametrize(
    ("key", "start", "check"),
    [
        ("go-scoring", 'gtp-harness run --report "python3 Go1.py"', "go-scoring"),
        ("gomoku-rules", 'gtp-harness run --report "python3 Go0.py"', "gomoku-rules"),
        ("gomoku-policy", 'gtp-harness run --report "python3 Gomoku3.py"', "gomoku-policy"),
        # What is built, or asked through an adapter, only check can start.
        ("gosensei", "", "gosensei"),
        ("java-go", "", "java-go"),
    ],
)
def test_the_lines_of_each_assignment(key, start, check):
    home = at_home(find(key))
    assert home.repeat.start == start
    assert home.check == f"gtp-harness check --assignment {check}"
    assert home.all_tests == (f"{start} @{key}/public" if start else "")


@pytest.mark.parametrize(
    ("command", "start"),
    [
        ("{python} {folder}/go.py {folder}", 'gtp-harness run --report "python3 go.py ."'),
        ("{folder}/engine -x", 'gtp-harness run --report "./engine -x"'),
        ("python3 '{folder}/my go.py'", "gtp-harness run --report \"python3 'my go.py'\""),
        ("sh '{folder}/$x'", """gtp-harness run --report 'sh '"'"'$x'"'"''"""),
    ],
)
def test_a_program_is_started_in_its_own_folder(command, start):
    assignment = find("go-scoring")
    own = assignment._replace(engine=assignment.engine._replace(command=command))
    assert at_home(own).repeat.start == start


def test_a_teachers_own_case_files_are_named_as_the_course_names_them(tmp_path):
    elsewhere = find("go-scoring")._replace(place=tmp_path / "go-scoring")
    home = at_home(elsewhere)
    assert home.all_tests == home.repeat.shipped == ""
    assert str(tmp_path) not in str(home)
    case = casefile.parse(b"10 score\n#? [0]\n", "area.gtp")
    assert (
        Repeating(home.repeat, case)
        .of(case.steps[0])
        .endswith('"python3 Go1.py" area.gtp --ids 10')
    )


def lines_on_the_page(case_file: str) -> list[str]:
    """The command lines on the page of a student who fails a shipped case file."""
    assignment = find("go-scoring")
    case = casefile.read(str(folder() / "go-scoring" / case_file))
    file = result_of(case, mutant_engine(find_mistake("neutral-points-to-white")))
    found = (Attempt("me", PUBLIC, case_file, file),)
    graded = mark_by_counting(submission("me", student("me", "Me", 1)), found)
    result = made_class()._replace(assignment=assignment, graded=(graded,))
    views = Views(assignment.specification, assignment.place)
    page = "".join(body_of(feedback(graded, result, views)))
    return [html.unescape(one) for one in re.findall(r"\$ </b><span>([^<]*)</span>", page)]


def test_each_failed_test_has_its_line():
    *single, every, check = lines_on_the_page("area.gtp")
    assert single
    start = 'gtp-harness run --report "python3 Go1.py" @go-scoring/area --'
    assert all(one.startswith(start) for one in single)
    assert every == 'gtp-harness run --report "python3 Go1.py" @go-scoring/public'
    assert check == "gtp-harness check --assignment go-scoring"


@pytest.mark.processes
def test_the_line_runs_just_that_test(tmp_path):
    shutil.copytree(SUBMISSION, tmp_path / "mine")
    line = lines_on_the_page("area.gtp")[0]
    done = run(line, tmp_path / "mine" / "assignment1")
    assert "1 file: 1 test, 1 passed" in done.stdout, done.stderr


@pytest.mark.processes
def test_check_says_for_each_failed_test_how_to_repeat_it(tmp_path):
    shutil.copytree(SUBMISSION, tmp_path / "mine")
    connection = tmp_path / "mine" / "assignment1" / "gtp_connection_go1.py"
    text = connection.read_text()
    connection.write_text(text.replace("if len(colors) == 1:", "if True:"))
    command = "check --assignment go-scoring --sandbox off"
    said = run(f"gtp-harness {command}", tmp_path / "mine").stdout
    lines = re.findall(r"^ +again +(gtp-harness run .*)$", said, re.M)
    assert len(lines) == len(re.findall("✗ FAILED", said)) > 1
    assert "repeats its test, in the folder assignment1, with the course's util beside it" in said
    again = run(lines[0], tmp_path / "mine" / "assignment1").stdout
    assert "1 file: 1 test, 1 FAILED" in again


def run(line: str, folder: Path) -> subprocess.CompletedProcess:
    """Run a command line of the harness in a shell."""
    words = line.replace("gtp-harness", f"'{sys.executable}' -X utf8 -m harness.cli", 1)
    return subprocess.run(
        ["sh", "-c", words], cwd=folder, capture_output=True, text=True, check=False, timeout=100
    )
