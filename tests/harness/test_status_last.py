"""Programs whose answers end with a status line, in order and broken, and what a run makes of it.

The same case file is run against each engine of ``status_last_engine.py``. Each row says what
becomes of its three tests (P passed, F failed, - not run), how the engine broke if it did, and
what is said. The test in the middle is the one at which things go wrong.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.options import STATUS_LAST, Limits, Options
from harness.core.records import FailureKind, FileResult, Reply, Verdict
from harness.engine.protocols import find_protocol
from harness.reading import answer_files
from harness.report.junit import mismatch
from harness.running.runs import run

ENGINE = Path(__file__).parent / "status_last_engine.py"
CASE = """\
# What goes wrong, goes wrong in the middle.
first
first
= 1
?second
second
= 1
?fault
fault
= 1
?third
third
= 1
"""
LETTERS = {Verdict.PASSED: "P", Verdict.FAILED: "F", Verdict.NOT_RUN: "-"}
LIMITS = Limits(timeout=1.5, startup=20, quit=1, max_output=1 << 16)
TIMEOUT, OUTPUT = FailureKind.TIMEOUT, FailureKind.OUTPUT
NONE = "expected a status line: = 1, = -1 or = illegal move: …"
AN_END = "an answer ends with a status line: = 1, = -1 or = illegal move: …"
TOO_MANY = (
    "after 'fault' the engine sent more replies than it got commands;"
    " the extra ones count for nothing"
)


class Row(NamedTuple):
    way: str
    verdicts: str = "PPP"
    kind: FailureKind | None = None
    message: str = ""  # what the failure's begins or ends with
    warnings: tuple[str, ...] = ()
    got: str = ""  # of the test in the middle, as reports quote it


ROWS = [
    Row("in_order"),
    Row("old_macintosh"),
    Row("drips"),
    Row("refuses", "PFP", got="= -1"),
    Row("illegal", "PFP", got="= illegal move: fault wrong"),
    Row("edges", "PFP", got="====\nfault\n====\n= 1"),
    Row(
        "speaks_gtp",
        "PFP",
        warnings=(f"line 8: the reply to 'fault' ends with '= fault', {NONE}",),
        got="= fault",
    ),
    Row(
        "no_blank",
        "PFP",
        warnings=(f"line 8: the reply to 'fault' ends with '=1', {NONE}",),
        got="fault\n=1",
    ),
    Row("two_statuses", warnings=(TOO_MANY,)),
    Row("status_inside", "PFP", warnings=(TOO_MANY,), got="fa\n= 1"),
    Row(
        "gtp_error",
        "P--",
        TIMEOUT,
        f"written '? unknown command', but {AN_END} (an error that begins with ? is GTP's).",
    ),
    Row(
        "half_a_status",
        "P--",
        TIMEOUT,
        "It had written 'fault = 1', but a status line ends with a line end.",
    ),
    Row("endless", "P--", OUTPUT, "instead of answering 'fault'."),
    Row("not_utf8", "PFP", warnings=("some replies were not UTF-8",), got="f\udce4ult\n= 1"),
    Row(
        "control",
        "PFP",
        warnings=("line 8: the reply to 'fault' has the control character U+0007",),
        got="fa\x07ult\n= 1",
    ),
]


LINES = st.sampled_from(["", " ", "x", "1 0", "==", "== 1", " = 1", "?", "@", "\t", "a=1"])
ENDS = st.sampled_from(["= 1", "= -1", "=", "=1", "= illegal move: x", "= 0 "])


def run_against(way: str, folder: Path, name: str = "case.txt", text: str = CASE) -> FileResult:
    path = folder / name
    path.write_text(text)
    options = Options(limits=LIMITS, protocol=STATUS_LAST, jobs=1)
    result = run(f"{sys.executable} {ENGINE} {way}", [str(path)], options)
    assert not result.errors
    assert not result.faults
    return result.files[0]


@pytest.mark.processes
@pytest.mark.parametrize("row", ROWS, ids=[row.way for row in ROWS])
def test_what_becomes_of_an_engine(row: Row, tmp_path: Path) -> None:
    file = run_against(row.way, tmp_path)
    assert "".join(LETTERS[one.verdict] for one in file.outcomes) == row.verdicts
    assert file.warnings == row.warnings
    assert [one.kind for one in file.failures] == ([row.kind] if row.kind else [])
    if row.kind:
        assert file.failure
        assert row.message in file.failure.message
    if row.got:
        middle = file.outcomes[1]
        assert mismatch(file.case.steps[middle.step], middle) == (
            f"expected 'fault\n= 1', got '{row.got}'"
        )


@pytest.mark.processes
@pytest.mark.parametrize(
    ("way", "letter"),
    [("carriage_returns", "P"), ("refuses", "F"), ("no_blank", "F"), ("illegal", "F")],
)
def test_files_for_gtp_are_judged_without_the_status(
    way: str, letter: str, tmp_path: Path
) -> None:
    file = run_against(way, tmp_path, "case.gtp", "10 second\n#? [second]\n20 fault\n#? [fault]\n")
    assert "".join(LETTERS[one.verdict] for one in file.outcomes) == f"P{letter}"


@pytest.mark.processes
def test_an_illegal_move_is_an_answer_in_files_for_gtp(tmp_path: Path) -> None:
    text = "fault\n10 fault\n#? [illegal move: fault wrong]\n"
    file = run_against("illegal", tmp_path, "case.gtp", text)
    assert [one.verdict for one in file.outcomes] == [Verdict.PASSED]
    assert file.errors == 1  # the first one is setup, and was refused


@pytest.mark.processes
def test_a_refusal_of_the_set_up_counts_unless_the_file_has_it(tmp_path: Path) -> None:
    text = "fault\n= {}\n?second\nsecond\n= 1\n"
    assert run_against("refuses", tmp_path, text=text.format("1")).errors == 1
    assert run_against("refuses", tmp_path, text=text.format("-1")).errors == 0


def test_a_file_of_answers_is_refused_in_a_run_of_gtp(tmp_path: Path) -> None:
    path = tmp_path / "case.txt"
    path.write_text(CASE)
    result = run("true", [str(path)])
    (error,) = result.errors
    assert error.startswith(f"{path}:2: found answers that end with a status line")


# --- output, cut -------------------------------------------------------------------------------

ANSWERS = st.lists(st.tuples(st.lists(LINES), ENDS), min_size=1)


def cut_by_lines(output: str) -> list[tuple[list[str], str]]:
    """Cut output in the plainest way."""
    found, lines = [], []
    for line in output.split("\n")[:-1]:
        if line.startswith("=") and not line.startswith("=="):
            found.append((lines, line.strip()))
            lines = []
        elif line.strip():
            lines.append(line.strip())
    return found


@given(ANSWERS, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_output_is_cut_the_same_however_it_arrives(
    answers: list[tuple[list[str], str]], end: str, data: st.DataObject
) -> None:
    plain = "".join("".join(f"{line}\n" for line in [*lines, last]) for lines, last in answers)
    output = plain.replace("\n", end).encode()
    spoken = find_protocol(STATUS_LAST)
    replies, pending = [], b""
    splitter, finder = spoken.splitter(strict=True), spoken.finder()
    while output:
        size = data.draw(st.integers(1, len(output)))
        fresh, output = output[:size], output[size:]
        pending += fresh
        # The last reply ends where it does in all that has come, found in the fresh bytes alone.
        found = finder(pending, len(fresh))
        assert found == spoken.end(pending) or not found
        if found:
            replies += splitter.split(pending[:found])
            pending, finder = pending[found:], spoken.finder()
            if pending:
                finder(pending, len(pending))
    whole = [answer_files.whole(one).split("\n") for one in replies]
    assert whole == [[*lines, status] for lines, status in cut_by_lines(plain)]
    assert not pending.strip()


@given(st.lists(LINES), ENDS)
def test_text_and_status_are_all_of_an_answer(lines: list[str], status: str) -> None:
    answer = "\n".join(line.strip() for line in lines if line.strip())
    status = status.strip()
    text = answer_files.with_status(answer, status)
    reply = Reply(answer_files.is_success(status), text, "", 0.0, "", status)
    assert answer_files.whole(reply) == (f"{answer}\n{status}" if answer else status)


@pytest.mark.parametrize(
    ("ok", "text", "whole"),
    [
        (True, "", "= 1"),
        (True, "B+4", "B+4\n= 1"),
        (True, 'illegal move: "a1" occupied', '= illegal move: "a1" occupied'),
        (False, "unknown command", "= -1"),
        (False, "", "= -1"),
    ],
)
def test_a_reply_of_gtp_as_an_answer_with_a_status(ok: bool, text: str, whole: str) -> None:
    assert answer_files.whole(Reply(ok, text, "", 0.0)) == whole
