"""Programs that an assignment needs: looked for before grading, and never the student's fault."""

import json

import pytest

from harness.assignments import assignment, build_steps, needs, workspace
from harness.assignments.assignment import BuildSteps
from harness.cli import main
from harness.core.errors import UsageError
from tests.harness import small_class

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_workers")]


@pytest.fixture
def command(capsys):
    """Run a command; return its status and what it said."""

    def run(*words):
        status = main([*map(str, words)])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


@pytest.fixture
def course(tmp_path):
    """A course that needs cargo-of-nowhere to build, and a right submission."""
    made = small_class.make(tmp_path, small_class.CLASS[:1])
    path = made / "counting" / "assignment.toml"
    needed = 'steps = ["true"]\nneeds = ["sh", "ghc-of-nowhere", "cc9"]\n'
    path.write_text(f"{path.read_text()}\n[build]\n{needed}")
    return made


def test_doctor_lists_what_is_there_and_the_package_of_what_is_not(course, command, c_tools):
    status, out, _ = command("doctor", "--assignment", course / "counting")
    assert status == 1
    lines = dict(line.strip().split(None, 1) for line in out.splitlines()[-5:])
    assert lines["sh"].startswith("(/")
    assert lines["cc9"] == "missing (Debian: apt install cc9)"
    assert lines["Python"].startswith("Python 3.")
    status, out, _ = command("doctor", "--assignment", "gosensei")
    assert status == 0, out
    assert "gosensei needs\n  make          " in out
    assert "/cmake)" in out


def test_grade_refuses_to_begin(course, command):
    output = course / "graded"
    words = ("--assignment", course / "counting", "--output", output, "--public-only")
    status, _, said = command("grade", course / "submissions", *words)
    assert status == 2
    assert "counting needs ghc-of-nowhere and cc9, which are not installed" in said
    assert "(Debian: apt install ghc-of-nowhere cc9)" in said
    assert not output.exists()


def test_check_tells_the_student_the_package(course, command, tmp_path):
    folder = tmp_path / "assignment1"
    folder.mkdir()
    (folder / "engine.py").write_text("")
    status, _, said = command("check", folder, "--assignment", course / "counting")
    assert status == 2
    assert "apt install ghc-of-nowhere cc9" in said


def test_shipped_assignments_say_what_they_need(monkeypatch):
    monkeypatch.setattr(needs, "SEARCH_PATH", "/nowhere")
    for name, packages in (
        ("gosensei", "make cmake gcc libc6-dev"),
        ("java-go", "default-jdk-headless default-jre-headless"),
    ):
        with pytest.raises(UsageError) as caught:
            needs.require(assignment.find(name))
        assert f"apt install {packages})" in str(caught.value)
    needs.require(assignment.find("go-scoring"))


# --- a step that fails for want of a program


@pytest.fixture
def stage():
    with workspace.workspace() as room:
        folder = room / "stage" / "assignment1"
        folder.mkdir(parents=True)
        (folder / "Makefile").write_text("all:\n\tbuild-tool-of-mine all\n")
        yield room / "stage"


def with_step(step: tuple[str, ...], *names: str) -> assignment.Assignment:
    steps = BuildSteps((step,), (), 20.0, 1 << 28, 1 << 12, names)
    return assignment.find("go-scoring")._replace(build=steps)


@pytest.mark.parametrize(
    ("level", "step", "names", "said"),
    [
        ("off", ("sh", "-c", "nocmake -S . && make"), (), "nocmake, which is not installed"),
        ("auto", ("sh", "-c", "if true; then nocmake; else make; fi"), (), "nocmake, which is"),
        ("auto", ("bash", "-c", "nocmake -S ."), (), "nocmake, which is not installed"),
        ("auto", ("make", "-s", "all", "CC=nocc"), ("nocc",), "nocc, which is not installed"),
        ("off", ("find", ".", "-name", "Makefile", "-exec", "nojavac", "{}", "+"), (), "nojavac"),
        ("auto", ("nocmake", "."), (), "there is no program 'nocmake'"),
        ("off", ("nocmake", "."), (), "there is no program 'nocmake'"),
    ],
)
def test_a_missing_program_of_the_assignment_is_the_harnesss_fault(
    step, names, said, level, stage, c_tools
):
    with pytest.raises(UsageError, match=said):
        build_steps.build(with_step(step, *names), stage, level)


@pytest.mark.parametrize(
    ("step", "makefile"),
    [
        (("make",), "all:\n\tbuild-tool-of-mine all\n"),
        (("make",), "all:\n\tbuild-tool-of-mine all || exit 127\n"),
        (("make",), "all:\n\techo 'sh: 1: make: not found'; exit 127\n"),  # it is there
        (("sh", "-c", "make; exit 127"), "all:\n\techo 'sh: nocmake: not found'\n"),
        (("gcc", "main.c"), "all:\n"),  # gcc: main.c: No such file or directory
        (("sh", "-c", "cd build && make"), "all:\n"),
        (("sh", "-c", "make build; exit 1"), "all:\n\techo 'sh: build: not found'\n"),
        (("sh", "-c", "make || exit 127"), "all:\n\tbuild-tool-of-mine all\n"),
    ],
)
def test_a_program_that_only_the_submission_calls_is_its_own_business(
    step, makefile, stage, c_tools
):
    (stage / "assignment1" / "Makefile").write_text(makefile)
    built = build_steps.build(with_step(step, "make"), stage)
    assert built is not None
    assert not built.ok


def test_a_program_that_goes_missing_withholds_the_mark(course, command):
    path = course / "counting" / "assignment.toml"
    text = path.read_text().replace('needs = ["sh", "ghc-of-nowhere", "cc9"]\n', "")
    path.write_text(text.replace('"true"', "\"sh -c 'nocmake -S . && make'\""))
    words = ("--assignment", course / "counting", "--output", course / "graded")
    told = command("grade", course / "submissions", *words, "--public-only", "--no-images")
    assert told[0] == 3, told
    found = json.loads((course / "graded" / "class.json").read_text())
    one = next(one for one in found["submissions"] if one["file"]["sha256"])
    assert one["marks"]["withheld"]
    assert "nocmake, which is not installed" in one["attempts"][0]["fault"]
