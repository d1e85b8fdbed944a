"""The list of what differs from gogui-regress: differences are points of it.

Random case files are judged by both; where the two do not agree, the list has to say so.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.cli import main
from harness.core.errors import CaseError, UndecidedError
from harness.core.records import RunResult, Verdict
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.report import gogui
from harness.report.tally import exit_code
from tests.documents import section
from tests.harness.gogui_model import GoguiRegress
from tests.harness.test_gogui_parity import judge_replies

TESTS = Path(__file__).parents[1]
ERROR = "An unexpected error fails the run."
REFUSED = "A bad case file is refused before any of it is run."


def list_sentences() -> list[str]:
    """Return the first sentence of each point of the list."""
    text = section("Differences from gogui-regress")
    return re.findall(r"^- \*\*(.+?)\*\*", text.replace("\n  ", " "), re.MULTILINE)


# --- both on the same case files -----------------------------------------------------------------

COMMANDS = st.sampled_from(
    ["1 a", "20 b c", "7\ta", "a", "007 x", "0 x", "-5 x", "+3 x", "2147483648 x", "12", "1x y"]
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
        case = casefile.parse(text.encode(), "case.tst", find_dialect("compatible"))
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


@pytest.mark.processes
def test_nothing_is_written_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "gtp-oracle", "@go-scoring/area"]) == 0
    assert list(tmp_path.iterdir()) == []
