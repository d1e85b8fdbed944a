"""Assignment files: those that ship are complete; every error names file, key, found, expected."""

import datetime
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from harness.adapters import ADAPTERS
from harness.assignments import assignment, contents
from harness.core.errors import AssignmentError, UsageError
from harness.reading import shipped

ROOT = Path(__file__).parents[2]

GOOD = """
title = "T"
specification = "go-scoring"
[archive]
name = "a.tgz"
folder = "a"
[files]
required = ["x.py", "readme.txt"]
allowed = ["*.py"]
log = "presubmission.log"
[engine]
command = "python3 {folder}/x.py"
[cases]
public = ["*.gtp"]
[[marks]]
name = "tests"
points = 2.5
judged_by = "public"
rule = "share"
[late]
deduction = 20
"""


def write_assignment(folder: Path, text: str) -> Path:
    (folder / "one.gtp").write_text("10 name\n")
    path = folder / assignment.FILE
    path.write_text(text, encoding="utf-8")
    return path


# The points of each assignment's parts, and what handing in late costs, by its document.
SHIPPED = {
    "go-scoring": ([1, 2, 2], 20, 5),
    "gomoku-rules": ([1, 2, 2], 20, 5),
    "gomoku-policy": ([1, 2, 2], 20, 5),
    "gosensei": ([25, 25], 0, 50),  # "Assignment 1 (50 Points)"
    "java-go": ([5, 10, 10, 10, 10, 5, 5, 10, 10], 0, 75),  # of 100; the rest is for a reader
}


def test_what_ships():
    assert shipped.names() == sorted(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_complete(name):
    found = assignment.find(name)
    points, deduction, total = SHIPPED[name]
    assert found.key == name
    assert len(found.public_cases()) >= 2
    assert [part.points for part in found.marks] == points
    assert sum(points) == total
    assert (found.late.deduction, found.does_not_run) == (deduction, 0)
    assert (
        (found.build is None) == (found.adapter is None) == (name not in ("gosensei", "java-go"))
    )
    assert found.files.log == "presubmission.log"


@pytest.mark.parametrize("name", SHIPPED)
def test_engines_of_an_assignment_are_started_beside_their_case_or_at_home(name, tmp_path):
    found = assignment.find(name)
    command, folder = found.start(tmp_path)
    home = tmp_path / found.archive.folder
    assert str(home) in command
    assert folder == ("" if found.adapter else str(home))
    assert "{" not in command


def test_the_wheel_carries_the_cases_where_they_are_looked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"cases": "harness/cases"}
    assert shipped.folder() == ROOT / "cases"


def test_a_good_one_is_read(tmp_path):
    found = assignment.read(write_assignment(tmp_path, GOOD))
    assert found.key == tmp_path.name
    assert found.marks[0].points == Fraction(5, 2)
    assert found.cases.private_visible == "nothing"
    assert found.limits.timeout == 60
    assert assignment.find(str(tmp_path)) == found


def test_all_that_may_be_said(tmp_path):
    text = GOOD.replace("deduction = 20", "deduction = 12.5\ngrace_minutes = 5\n"
        "deadline = 2018-01-29T23:55:00\nrefused_after = 2018-01-31T23:55:00")  # fmt: skip
    text = text.replace('rule = "share"', 'rule = "all"\nweights = { "one.gtp" = 0.1 }')
    text += "[limits]\ntimeout = 1.5\ncpu = 7\nmemory = 1048576\n"
    found = assignment.read(write_assignment(tmp_path, text))
    assert found.late.deadline == datetime.datetime(2018, 1, 29, 23, 55)
    assert found.late.deduction == Fraction(25, 2)
    assert found.marks[0].weights == {"one.gtp": Fraction(1, 10)}
    assert (found.limits.timeout, found.box.cpu, found.box.memory) == (1.5, 7.0, 1048576)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "T"', "", "title: the key is missing"),
        ('title = "T"', 'titel = "T"', "titel: there is no such key; did you mean 'title'?"),
        ('"a.tgz"', '"a.rar"', "archive.name: found 'a.rar', expected a name that ends in .tgz"),
        ('folder = "a"', 'folder = "a/b"', "archive.folder: found 'a/b', expected a file name"),
        ('["x.py", "readme.txt"]', "[]", "files.required: found [], expected a list of at least"),
        ('["*.py"]', '["../*.py"]', "files.allowed[1]: found '../*.py', expected a pattern"),
        ('"readme.txt"]', '"presubmission.log"]', "files.required: found 'presubmission.log'"),
        ("{folder}/x.py", "x.py", "engine.command: found 'python3 x.py', expected a command with"),
        ("{folder}/x.py", "{folder}/{file}", "no other braces than {folder}, {adapter}"),
        ("[late]", "[build]\nsteps = []\n[late]", "build.steps: found [], expected a list of at"),
        ("[late]", '[build]\nsteps = ["\'"]\n[late]', "expected a command that can be split"),
        ("[late]", '[build]\nsteps = ["make"]\nmakes = ["/x"]\n[late]', "build.makes[1]: found"),
        ("[late]", '[build]\nsteps = ["make"]\noutput = "x"\n[late]', "build.output: found 'x'"),
        ("[late]", '[adapter]\nname = "chess"\n[late]', "adapter.name: found 'chess', expected"),
        ("[late]", '[adapter]\nname = "gosensei"\n[late]', "adapter.programs: the key is missing"),
        ('"share"', '"share"\ncommands = []', "marks[1].commands: found [], expected a list of"),
        ('"go-scoring"', '"chess"', "specification: found 'chess', expected 'go-scoring' or"),
        ("[engine]", '[engine]\noverlay = "a"', "engine.overlay: found 'a', expected"),
        ('["*.gtp"]', '["*.tst"]', "cases.public: found '*.tst', expected a pattern that some"),
        ('["*.gtp"]', '["*.gtp"]\nprivate = ["one.gtp"]', "cases.private: found ['one.gtp']"),
        ("points = 2.5", "points = -1", "marks[1].points: found -1, expected a number from 0"),
        ("points = 2.5", "points = nan", "marks[1].points: found Decimal('NaN'), expected"),
        ("points = 2.5", "points = inf", "marks[1].points: found Decimal('Infinity'), expected"),
        ("points = 2.5", "points = 1e-999999999", "expected at most 18 decimal places"),
        ("points = 2.5", "points = 1e99", "expected a number from 0 to 1,000,000,000"),
        ('"share"', '"most"', "marks[1].rule: found 'most', expected 'all' or 'share'"),
        ('"share"', '"all"\nweights = { "two.gtp" = 1 }', "marks[1].weights: found 'two.gtp'"),
        ("deduction = 20", "deduction = 101", "late.deduction: found 101, expected a number from"),
        ("deduction = 20", 'deduction = 20\ndeadline = "soon"', "late.deadline: found 'soon'"),
        (
            "deduction = 20",
            "deduction = 20\ndeadline = 2018-01-31T00:00:00\nrefused_after = 2018-01-01T00:00:00",
            "late.refused_after: found '2018-01-01 00:00:00', expected a time after the deadline",
        ),
        ("[late]", "[limits]\ntimeuot = 3\n[late]", "limits.timeuot: there is no such key; did"),
        ("[late]", '[limits]\ntimeout = "1s"\n[late]', "limits.timeout: found '1s', expected"),
    ],
)
def test_every_error_names_the_file_and_the_key(old, new, said, tmp_path):
    assert old in GOOD
    path = write_assignment(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(AssignmentError, match=re.escape(said)) as refused:
        assignment.read(path)
    assert str(refused.value).startswith(f"{path}: ")


def test_two_parts_of_one_name(tmp_path):
    part = GOOD[GOOD.index("[[marks]]") : GOOD.index("[late]")]
    path = write_assignment(tmp_path, GOOD.replace("[late]", part + "[late]"))
    with pytest.raises(AssignmentError, match="parts of different names"):
        assignment.read(path)


def test_not_there(tmp_path):
    with pytest.raises(
        UsageError, match="there are go-scoring, gomoku-policy, gomoku-rules, gosensei"
    ):
        assignment.find("chess")
    (tmp_path / assignment.FILE).write_bytes(b"\xff")
    with pytest.raises(AssignmentError, match="not UTF-8"):
        assignment.find(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("a.py", "*.py", True),
        ("b/a.py", "*.py", True),
        ("a.PY", "*.py", False),
        ("__pycache__/a.pyc", "__pycache__/", True),
        ("b/__pycache__/a.pyc", "__pycache__/", True),
        ("__pycache__", "__pycache__/", False),
        ("util/a.py", "util/", True),
        ("utility/a.py", "util/", False),
        ("boards/a.txt", "boards/*.txt", True),
        ("b/boards/a.txt", "boards/*.txt", False),
        ("b/._a", "._*", True),
    ],
)
def test_patterns(name, pattern, expected):
    assert contents.matches(name, pattern) is expected


def test_the_digest_hangs_on_the_cases_and_the_file(tmp_path):
    path = write_assignment(tmp_path, GOOD)
    before = assignment.read(path).cases_digest()
    (tmp_path / "one.gtp").write_text("20 name\n")
    other = assignment.read(path).cases_digest()
    path.write_text(GOOD.replace('"T"', '"U"'))
    assert len({before, other, assignment.read(path).cases_digest()}) == 3


def test_the_page_about_assignments_names_every_key():
    page = (ROOT / "cases" / "ASSIGNMENTS.md").read_text(encoding="utf-8")
    for schema in (assignment._SCHEMA, assignment._ARCHIVE, assignment._FILES, assignment._ENGINE,
                   assignment._CASES, assignment._PART, assignment._LATE, assignment._BUILD,
                   *ADAPTERS.values()):  # fmt: skip
        for key in schema:
            assert f"`{key}`" in page or f"[{key}]" in page, key
    for word in assignment.VISIBLE:
        assert f"`{word}`" in page
