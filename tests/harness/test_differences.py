"""The list of what differs from gogui-regress: points have tests, differences are points.

Random case files are judged by both; where the two do not agree, the list has to say so.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.cli import main
from harness.errors import CaseError, UndecidedError
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.records import RunResult, Verdict
from harness.report import gogui
from harness.report.tally import exit_code
from tests.documents import section
from tests.harness.gogui_model import GoguiRegress
from tests.harness.test_gogui_parity import judge_replies

TESTS = Path(__file__).parents[1]
ERROR = "An unexpected error fails the run."
REFUSED = "A bad case file is refused before any of it is run."

# Each point of the list, by its first sentence, and the tests that show it.
POINTS = {
    "A crash, a hang or a bad file ends that file alone.": [
        "harness/test_run_command.py::test_a_broken_engine_ends_its_file_only",
        "harness/test_run_command.py::test_bad_input_does_not_end_the_other_files",
        "harness/test_runs.py::test_an_error_in_the_gtpfile_ends_the_run",
    ],
    "Time and output have limits.": [
        "harness/test_broken_engines.py::test_is_judged_as_stated_and_gone",
        "harness/test_run_command.py::test_the_defaults_are_those_of_the_library",
    ],
    ERROR: [
        "harness/test_differences.py::test_the_same_but_for_what_is_listed",
        "harness/test_differences.py::test_an_error_fails_the_run",
    ],
    "Nothing to test is an error.": [
        "harness/test_run_command.py::test_exit_statuses_as_listed_and_as_gogui_regress_has_them",
        "harness/test_run_command.py::test_nothing_tested_is_no_success",
    ],
    REFUSED: [
        "harness/test_differences.py::test_the_same_but_for_what_is_listed",
        "harness/test_gogui_parity.py::test_refused",
    ],
    "Some of Java's patterns are refused.": [
        "harness/test_gogui_parity.py::test_java_without_counterpart_is_refused",
    ],
    "A pattern has 2 s of computing.": [
        "harness/test_broken_engines.py::test_is_judged_as_stated_and_gone",
    ],
    "Case files are UTF-8.": [
        "harness/test_differences.py::test_marks_of_unicode",
        "harness/test_casefile.py::test_bytes_go_out_as_they_came_in",
    ],
    "Folders and cases that ship can be run.": [
        "harness/test_suite.py::test_names",
        "harness/test_shipped.py::test_names",
    ],
    "Names in a suite are also looked up beside the suite": [
        "harness/test_suite.py::test_names",
        "harness/test_suite.py::test_errors",
    ],
    "Files run in parallel.": [
        "harness/test_run_command.py::test_the_lines_of_one_job_are_those_of_several",
        "harness/test_runs.py::test_the_order_is_that_of_the_names",
    ],
    "Relative programs are relative to the current folder": [
        "harness/test_session.py::test_a_relative_program_is_one_of_here",
        "harness/test_session.py::test_gnugo",
    ],
    "PROGRAM is split as a shell splits it.": [
        "harness/test_session.py::test_a_command_is_split_but_given_to_no_shell",
    ],
    "Engine output besides replies is a warning.": [
        "harness/test_broken_engines.py::test_is_judged_as_stated_and_gone",
    ],
    "Silence after `quit` is not an error.": [
        "harness/test_broken_engines.py::test_is_judged_as_stated_and_gone",
        "harness/test_broken_engines.py::test_what_one_engine_leaves_is_ended_and_no_other_engine",
    ],
    "Control characters are escaped.": [
        "harness/test_gogui_lines.py::test_lines",
    ],
    "CPU time that makes no sense is 0": [
        "harness/test_broken_engines.py::test_an_absurd_computing_time_is_none",
    ],
    "A terminal gets a report.": [
        "harness/test_run_command.py::test_on_a_terminal",
        "harness/test_run_command.py::test_failures",
    ],
    "Without `--output` no files are written.": [
        "harness/test_differences.py::test_nothing_is_written_unasked",
    ],
    "A `--config` file may have comments.": [
        "harness/test_run_command.py::test_config_files_are_as_gogui_reads_them",
    ],
    "There are more exit statuses": [
        "harness/test_run_command.py::test_interrupted",
        "harness/test_run_command.py::test_streams_that_take_nothing",
    ],
}


def list_sentences() -> list[str]:
    """Return the first sentence of each point of the list."""
    text = section("Differences from gogui-regress")
    return re.findall(r"^- \*\*(.+?)\*\*", text.replace("\n  ", " "), re.MULTILINE)


def test_the_list_is_complete() -> None:
    assert list_sentences() == list(POINTS)


@pytest.mark.parametrize("test", sorted({one for tests in POINTS.values() for one in tests}))
def test_each_point_has_its_tests(test: str) -> None:
    path, _, name = test.partition("::")
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


# --- both on the same case files -----------------------------------------------------------------

COMMANDS = st.sampled_from(
    [
        "1 a",
        "20 b c",
        "7\ta",
        "a",
        "007 x",
        "0 x",
        "-5 x",
        "+3 x",
        "2147483648 x",
        "12",
        "1x y",
        " 3 a ",
    ]
)
EXPECTATIONS = st.sampled_from(
    [
        "#?", "#? []", "#? [!]", "#?[x]", "#? [x]*", "\t#? [ x ] ", "#? [!x]", "#? [!x]*",
        "#? [x|y]", "#? [x.y]", "#? [x.*]", "#? [x$\\ny]", "#? [B\\+1]*", "#? [.*]", "#? [!X]",
    ]
)  # fmt: skip
BAD = st.sampled_from(["#? [(]", "#? [x", "#? x]", "#? [x]**", "#? *", "#? [x]", "#? [[]"])
REPLIES = st.sampled_from(
    ["= x", "= y", "=", "=1 x", "= B+1", "= x y", "= x\ny", "? x", "?", "?1 no", "=  x ", "= y\nx"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
BLOCKS = st.one_of(
    st.tuples(COMMANDS, EXPECTATIONS), st.tuples(COMMANDS), st.sampled_from([("# x",), ("",)])
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Draw a case file, in one of eight with a line that may be wrong, and replies enough."""
    lines = [line for block in draw(st.lists(BLOCKS, max_size=8)) for line in block]
    if draw(st.integers(0, 7)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(BAD))
    text = draw(ENDS).join([*lines, *draw(st.sampled_from([[], [""]]))])
    return text, draw(st.lists(REPLIES, min_size=len(lines), max_size=len(lines)))


def ours(text: str, replies: list[str], *, long: bool) -> tuple[int, list[str], bool]:
    """Return exit status, lines, and whether an error fails a test without a pattern."""
    case = casefile.parse(text.encode(), "case.tst")
    stream = "".join(f"{one}\n\n" for one in replies[: len(case.steps)])
    file = judge_replies(text.encode(), stream.encode())
    failed = [one for one in file.outcomes if one.verdict is Verdict.FAILED]
    unexpected = any(case.steps[one.step].pattern is None for one in failed)
    return int(bool(failed)), list(gogui.lines(file, prefix=False, long=long)), unexpected


def status_compatible(text: str, replies: list[str]) -> int:
    """Return the exit status with ``--compatible``."""
    try:
        case = casefile.parse(text.encode(), "case.tst", "compatible")
        stream = "".join(f"{one}\n\n" for one in replies[: len(case.steps)])
        file = judge_replies(text.encode(), stream.encode(), "compatible")
    except (CaseError, UndecidedError):  # what could not be judged is an error of the case file
        return 2
    needs_answers = find_dialect("compatible").needs_answers
    return exit_code(RunResult("", (file,), (), "", "", {}), needs_answers=needs_answers)


def differences(text: str, replies: list[str], *, long: bool) -> Iterator[str]:
    """Yield the points of the list that a case file shows; fail at any other difference."""
    model = GoguiRegress(long=long)
    status = model.run(text, iter(replies))
    try:
        found, lines, unexpected = ours(text, replies, long=long)
    except CaseError as error:
        assert error.line is not None
        if status != 2:  # a wrong pattern is never compiled there if the reply is an error
            assert "not a regular expression" in str(error)
        yield REFUSED
        return
    assert lines == model.lines
    if found != status:
        assert (found, status, unexpected) == (1, 0, True)
        yield ERROR


@given(conversations(), st.booleans())
@example(("1 a\n2 a\n#? [x]\n", ["? x", "= x"]), False)
@example(("1 a\n#? [(]\n", ["? x"]), True)
@example(("1 a\n\n#? [x]\n", ["= x"]), True)
@example(("1 a\n#? [x.y]\n2 a\n#? [x$\\ny]", ["= x\ny", "= x\ny"]), True)
def test_the_same_but_for_what_is_listed(conversation: tuple[str, list[str]], long: bool) -> None:
    assert set(differences(*conversation, long=long)) <= set(list_sentences())


@given(conversations())
@example(("1 a\n#? [(]*\n2 a\n#? [x]\n", ["? x", "= x"]))
@example(("1 a\n#? [(]*\n", ["= x"]))
@example(("a\n", ["? x"]))
def test_the_exit_status_is_the_same_with_compatible(conversation: tuple[str, list[str]]) -> None:
    text, replies = conversation
    assert status_compatible(text, replies) == GoguiRegress(long=False).run(text, iter(replies))


@pytest.mark.parametrize(
    ("text", "reply", "shown"),
    [
        ("1 a\n", "? x", [ERROR]),
        ("1 a\n#?\n", "?", [ERROR]),
        ("1 a\n#? [x]\n", "? x", []),
        ("a\n#?\n", "? x", []),
        ("1 a\n#? [(]\n", "= x", [REFUSED]),
        ("1 a\n#? [x]\n", "= y", []),
    ],
)
def test_an_error_fails_the_run(text: str, reply: str, shown: list[str]) -> None:
    assert list(differences(text, [reply], long=False)) == shown


def test_marks_of_unicode() -> None:
    assert casefile.parse(b"\xef\xbb\xbf1 a\n", "x").steps[0].id == 1
    with pytest.raises(CaseError, match="found UTF-16 text, expected UTF-8"):
        casefile.parse("1 a\n".encode("utf-16"), "x")


@pytest.mark.processes
def test_nothing_is_written_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "gtp-oracle", "@go-scoring/area"]) == 0
    assert list(tmp_path.iterdir()) == []
