"""The GitHub action and the workflow for a classroom: their schema and their shell steps."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.harness import small_class
from tests.harness.small_class import ENGINE

pytestmark = pytest.mark.long(1)

ROOT = Path(__file__).parents[1]
ACTION, CLASSROOM = ROOT / "action.yml", ROOT / "docs" / "github" / "classroom.yml"
TESTS = ROOT / ".github" / "workflows" / "tests.yml"
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
SCHEMAS = {
    "actions": [ACTION],
    "workflows": [CLASSROOM, TESTS],
    "issue-config": [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"],
    "issue-forms": FORMS,
}


def steps(path):
    """Return the steps with a script, by name."""
    found = YAML(typ="safe").load(path)
    listed = found["runs"] if "runs" in found else found["jobs"]["run-autograding-tests"]
    return {step["name"]: step["run"] for step in listed["steps"] if "run" in step}


@pytest.mark.processes
@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schema_of_github_is_met(kind):
    words = ["-m", "check_jsonschema", "--builtin-schema", f"vendor.github-{kind}"]
    words += map(str, SCHEMAS[kind])
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tests_run_with_every_python_that_tox_knows():
    matrix = YAML(typ="safe").load(TESTS)["jobs"]["quick"]["strategy"]["matrix"]["python"]
    (known,) = re.findall(r"^\[testenv:py3\{([\d,]+)\}\]", (ROOT / "tox.ini").read_text(), re.M)
    assert matrix == [f"3.{minor}" for minor in known.split(",")]


def test_the_whole_suite_is_run_by_the_script_that_the_readme_names():
    jobs = YAML(typ="safe").load(TESTS)["jobs"]
    assert {"run": ".ci/run"} in jobs["all"]["steps"]


def test_what_contributors_are_told_to_run_is_there():
    """Hooks and environments that documents name."""
    hooks = YAML(typ="safe").load(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert [hook["id"] for hook in hooks] == ["ruff-check", "ruff-format", "mypy"]
    named = set(re.findall(r"`tox -e (\w+)`", (ROOT / "docs" / "contributing.md").read_text()))
    sections = "".join(re.findall(r"^\[testenv:(.+)\]$", (ROOT / "tox.ini").read_text(), re.M))
    assert named and all(name in sections or name == "py312" for name in named)


def test_no_input_is_pasted_into_a_script():
    """Anyone who names a branch or writes a title would run commands."""
    assert not [name for path in (ACTION, CLASSROOM) for name, run in steps(path).items()
                if "${{" in run]  # fmt: skip


# Writes down how it was called, and knows the comment that $KNOWN has.
GH = """#!/bin/sh
echo "$*" >> "$RUNNER_TEMP/gh.log"
case "$*" in *--jq*) [ -z "$REFUSES" ] || exit 1; printf "$KNOWN";; esac
"""


@pytest.fixture
def runner(tmp_path):
    """A runner's folder with this very installation, and with a program gh."""
    (tmp_path / "gtp-harness-venv").symlink_to(sys.prefix)
    (tmp_path / "venv").symlink_to(sys.prefix)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH)
    (tmp_path / "bin" / "gh").chmod(0o755)
    (tmp_path / "output").write_text("")
    return tmp_path


def run(runner, path, name, **more):
    """Run a step as GitHub does; return its exit status and what it wrote."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps(path)[name]],
        cwd=runner,
        env={
            "PATH": f"{runner / 'bin'}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(runner),
            "GITHUB_OUTPUT": str(runner / "output"),
            "GITHUB_REPOSITORY": "someone/engine",
            "NAME": "go",
            **more,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _split_by_stop(said):
    """Return what a runner takes for text only, and what follows."""
    found = re.fullmatch(
        r"::stop-commands::(\w{32})\n(.*)^::\1::\n(.*)", said, re.DOTALL | re.MULTILINE
    )
    assert found, said
    return found[2], found[3]


RIGHT, WRONG = "gtp-oracle gtp", "gtp-oracle gtp --mistake komi-ignored"


def run_suite(runner, program, options=""):
    words = {"PROGRAM": program, "CASES": "@go-scoring/komi @go-scoring/area", "OPTIONS": options}
    status, said = run(runner, ACTION, "Run", **words)
    assert status == 0, said
    return (runner / "output").read_text().split()[-1], said


@pytest.mark.processes
def test_a_suite_is_compared_with_the_base_and_commented_on(runner):
    place = runner / "gtp-harness" / "go"
    assert run_suite(runner, RIGHT)[0] == "status=0"
    assert "compared" not in (place / "report.txt").read_text()
    # results.json is there: in a pull request it comes from the cache
    status, said = run_suite(runner, WRONG, "--jobs 1 --ids 10-20")
    assert (status, "broke (" in said) == ("status=1", True), said
    assert (place / "pages" / "index.html").exists()

    assert run(runner, ACTION, "Comment", NUMBER="7", KNOWN="")[0] == 0
    comment = (place / "comment.md").read_text()
    head, text = comment.split("\n\n", 1)
    assert head == "<!-- gtp-harness: go -->\n**go**"
    assert all(line.startswith("    ") for line in text.splitlines())
    assert "passed → FAILED" in text
    assert "expected" not in text
    assert run(runner, ACTION, "Comment", NUMBER="7", KNOWN="41\\n42")[0] == 0
    asked = (runner / "gh.log").read_text().splitlines()
    comments = "repos/someone/engine/issues/7/comments"
    body = f"-F body=@{place / 'comment.md'}"
    assert asked[1] == f"api --silent --method POST {comments} {body}"
    known = "repos/someone/engine/issues/comments/41"
    assert asked[3] == f"api --silent --method PATCH {known} {body}"

    status, said = run(runner, ACTION, "Comment", NUMBER="7", REFUSES="1")
    assert (status, said.startswith("::warning::gtp-harness may not comment here")) == (0, True)
    assert run(runner, ACTION, "Result", STATUS="1")[0] == 1


# Begins a line of its reply with what a runner would take for a command.
COMMANDING = """\
import sys
for line in sys.stdin:
    print("=", "a\\n::error::forged\\n" if "score" in line else "", end="\\n\\n", flush=True)
"""


@pytest.mark.processes
def test_what_an_engine_writes_is_no_command_to_the_runner(runner):
    (runner / "engine.py").write_text(COMMANDING)
    _, said = run_suite(runner, f"{sys.executable} engine.py")
    inside, after = _split_by_stop(said)
    assert re.search(r"^\s*::error::forged$", inside, re.MULTILINE)
    assert "forged" not in after


@pytest.mark.processes
def test_a_long_report_is_commented_on_by_its_beginning(runner):
    """A pipe that nobody reads any more would end the step, and with it the job."""
    place = runner / "gtp-harness" / "go"
    place.mkdir(parents=True)
    lines = [f"  a line of some length about case {number}" for number in range(20_000)]
    (place / "report.txt").write_text("\n".join(["2,000 files: 9 tests", *lines]))
    status, said = run(runner, ACTION, "Comment", NUMBER="7", KNOWN="")
    assert (status, said) == (0, "")
    assert len((place / "comment.md").read_text().splitlines()) == 3 + 200


@pytest.mark.processes
def test_the_classroom_prints_points(runner):
    small_class.make(runner, ())
    handed_in = runner / "class" / "submission"
    handed_in.mkdir(parents=True)
    (handed_in / "engine.py").write_text(ENGINE.format(body="return 2 * min(n, 9)"))
    (handed_in / "readme.txt").write_text("Me.\n")
    status, said = run(runner, CLASSROOM, "Grade", ASSIGNMENT="./counting")
    assert status == 0, said
    _, after = _split_by_stop(said)
    lines = [line.partition("::notice title=")[2] for line in after.splitlines() if "::" in line]
    assert lines[0] == "Autograding complete::Points 4/5"
    report = lines[1].removeprefix("Autograding report::")
    assert json.loads(report) == {"totalPoints": 4, "maxPoints": 5}


@pytest.mark.processes
def test_where_the_harness_fails_the_classroom_prints_no_points(runner):
    (runner / "class" / "submission").mkdir(parents=True)
    status, said = run(runner, CLASSROOM, "Grade", ASSIGNMENT="nowhere")
    assert (status, "Points" in said) == (2, False), said
