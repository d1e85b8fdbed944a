"""Submissions in C and Java, right and wrong, built and run as ``check`` and ``grade`` do it.

The tests that a wrong one passes by chance do not matter; what must be so is that a command
whose answer is wrong fails, that no other does, and that the first failure says why.
"""

from pathlib import Path

import pytest

from harness.assignments import assignment, workspace
from harness.assignments.assignment import Assignment
from harness.assignments.build_steps import build
from harness.assignments.public_tests import run_public_tests
from harness.core.options import Options
from harness.core.records import FileResult, Verdict
from tests.harness.spoilt_submissions import SPOILT, write, write_spoilt
from tests.harness.test_sandbox_boxes import needs

pytestmark = pytest.mark.processes

RIGHT = [
    ("gosensei", "gosensei", "*.gtp"),
    ("gosensei", "with-make", "**/*.gtp"),
    ("java-go", "go", "*.gtp"),
    ("java-go", "static", "**/*.gtp"),
]
# A way to hang and one to write too much in C, and a wrong method in Java; a wrong game is in the
# transcripts of ``test_check``. How each command fails, ``test_adapters`` shows without a program.
WRONG = ("waits for somebody", "talks without end", "color ignored")


@pytest.fixture
def tools(request):
    """What the assignment of a test needs to be installed."""
    name = request.node.callspec.params.get("name")
    of = SPOILT[name].assignment if name else request.node.callspec.params["key"]
    request.getfixturevalue({"gosensei": "c_tools", "java-go": "java"}[of])


@pytest.fixture
def stage():
    with workspace.workspace() as room:
        (room / "stage").mkdir()
        yield room / "stage"


def quick(key: str, pattern: str = "*.gtp", seconds: float = 1.0) -> Assignment:
    """The assignment with short time limits, and with some of its public cases."""
    found = assignment.find(key)
    assert found.adapter
    settings = found.adapter.settings | {"seconds": seconds}
    return found._replace(
        adapter=found.adapter._replace(settings=settings),
        cases=found.cases._replace(public=(pattern,)),
    )


def run(found: Assignment, stage: Path, sandbox: str = "auto") -> tuple[FileResult, ...]:
    result = run_public_tests(found, stage, Options(sandbox=sandbox, jobs=2)).result
    assert (result.faults, result.errors) == ((), ())
    assert [file.failure for file in result.files] == [None] * len(result.files)
    return result.files


def failures(files: tuple[FileResult, ...]) -> list[tuple[str, str]]:
    """The command and the reply of each failed test."""
    return [
        (file.case.steps[outcome.step].command, outcome.reply.raw if outcome.reply else "")
        for file in files
        for outcome in file.outcomes
        if outcome.verdict is not Verdict.PASSED
    ]


def change(file: Path, *changes: tuple[str, str]) -> None:
    """Change a program where each text stands once."""
    text = file.read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    file.write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize(("key", "right", "cases"), RIGHT)
@pytest.mark.usefixtures("tools")
def test_right_ones_pass(key, right, cases, stage):
    """Before the slow tier the transcripts of ``test_check`` show so, whose others pass."""
    write(key, right, stage)
    found = quick(key, cases)
    built = build(found, stage)
    assert built is not None
    assert (built.ok, built.message) == (True, "")
    files = run(found, stage)
    assert failures(files) == []
    assert [file.errors for file in files] == [0] * len(files)


@pytest.mark.usefixtures("c_tools")
def test_an_exit_status_beside_the_sentence_does_not_count(stage):
    # ``void main``, or no return with -ansi, ends with whatever the last printf returned.
    file = write("gosensei", "with-make", stage) / "gosensei.c"
    change(file, ("    }\n    return 0;\n}\n", "    }\n    return n + 26;\n}\n"))
    found = quick("gosensei", "eyes.gtp")
    assert build(found, stage).ok
    assert failures(run(found, stage)) == []


@pytest.mark.long(1)
@pytest.mark.usefixtures("c_tools")
def test_a_project_for_cmake_may_put_its_program_into_a_folder_bin(stage):
    top = write("gosensei", "gosensei", stage) / "CMakeLists.txt"
    change(
        top,
        (
            "add_subdirectory",
            "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)\nadd_subdirectory",
        ),
    )
    found = quick("gosensei", "eyes.gtp")
    assert build(found, stage).ok
    assert failures(run(found, stage)) == []


@pytest.mark.usefixtures("c_tools")
def test_make_reads_every_name_of_a_makefile(stage):
    folder = write("gosensei", "with-make", stage)
    (folder / "Makefile").rename(folder / "GNUmakefile")
    built = build(assignment.find("gosensei"), stage)
    assert built is not None
    assert built.ok, built.message


@pytest.mark.usefixtures("java")
def test_a_game_may_have_the_letters_of_gtp_and_ask_for_the_names_of_its_players(stage):
    waits = "Scanner in = new Scanner(System.in);"
    asks = 'System.out.print("Name? "); in.next(); in.nextLine();'
    change(
        write("java-go", "static", stage) / "Go.java",
        ("Integer.parseInt(word) - 1", '"ABCDEFGHJKL".indexOf(word.charAt(0))'),
        ("Integer.parseInt(in.next()) - 1", "Integer.parseInt(word.substring(1)) - 1"),
        (waits, f"{waits} {asks} {asks}"),
    )
    found = quick("java-go", "game.gtp")
    assert build(found, stage).ok
    assert failures(run(found, stage)) == []


@pytest.mark.usefixtures("java")
def test_a_class_of_rules_may_want_to_know_the_size_of_the_board(stage):
    source = write("java-go", "go", stage) / "src/dsa/go"
    top = "public class Board {\n"
    change(source / "Board.java", (top, f"{top}    public Board(int size) {{ }}\n"))
    change(source / "GoGame.java", ("new Board()", "new Board(11)"))
    found = quick("java-go", "board.gtp")
    assert build(found, stage).ok
    assert failures(run(found, stage)) == []


@pytest.mark.usefixtures("java")
def test_what_an_ide_adds_to_a_java_project_does_not_keep_it_from_being_built(stage):
    folder = write("java-go", "static", stage)
    (folder / "module-info.java").write_text("module go {\n}\n")
    (folder / "GoTest.java").write_text("import org.junit.Test;\n\nclass GoTest {}\n")
    # Another file may speak of it all the same.
    source = next(one for one in folder.glob("*.java") if "static void main" in one.read_text())
    source.write_text("// import org.junit.Test;\n" + source.read_text())
    found = assignment.find("java-go")
    built = build(found, stage)
    assert built is not None
    assert built.ok, built.output


# That Java runs in a box of every level, the red team shows: its attacks are in Java as well.
@pytest.mark.long(2)
@pytest.mark.parametrize("sandbox", ["1", "off"])
@pytest.mark.usefixtures("c_tools")
def test_at_levels_of_sandbox_that_auto_does_not_take(sandbox, stage):
    if sandbox != "off":
        needs(int(sandbox))
    write("gosensei", "with-make", stage)
    found = quick("gosensei", "eyes.gtp")
    built = build(found, stage, sandbox)
    assert built is not None
    assert built.ok, built.output
    assert failures(run(found, stage, sandbox)) == []


@pytest.mark.long(4)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name not in WRONG else [])
        for name, one in SPOILT.items()
        if one.failing
    ],
)
@pytest.mark.usefixtures("tools")
def test_wrong_ones_fail_and_are_told_why(name, stage):
    spoilt = SPOILT[name]
    write_spoilt(name, stage)
    found = quick(spoilt.assignment, spoilt.cases, spoilt.seconds)
    built = build(found, stage)
    assert built is not None
    assert built.ok, built.output
    failed = failures(run(found, stage))
    assert failed
    assert {command.split()[0] for command, _ in failed} <= spoilt.failing
    assert spoilt.said in "\n".join(reply for _, reply in failed)


@pytest.mark.long(2)
@pytest.mark.parametrize(
    "name",
    ["does not compile", "another signature", pytest.param("syntax", marks=pytest.mark.slow)],
)
@pytest.mark.usefixtures("tools")
def test_what_cannot_be_built_is_told_in_the_words_of_the_compiler(name, stage):
    write_spoilt(name, stage)
    built = build(assignment.find(SPOILT[name].assignment), stage)
    assert built is not None
    assert not built.ok
    assert SPOILT[name].said in built.message
    assert "error" in built.output
    assert str(stage) not in built.output
