"""Reading case files: what a line becomes, and every error at its line.

What gogui-regress itself says of such files is in test_gogui_parity.py.
"""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.core.errors import CaseError, UsageError
from harness.reading import casefile
from harness.reading.dialect import DIALECTS, find_dialect
from harness.running import protocol_facts
from oracle.command_properties import STANDARD


def steps(text: bytes, dialect: str = "gogui") -> list[tuple[int, str, int, str, bool]]:
    return [step[:5] for step in casefile.parse(text, "x.gtp", find_dialect(dialect)).steps]


def test_a_file_becomes_steps() -> None:
    text = b"""\
# comment
boardsize 9
  10\treg_genmove  b
#? [A1|!B2]*

play b A1
#? [!x]
20 loadsgf x.sgf
"""
    case = casefile.parse(text, "x.gtp")
    assert [step[:5] for step in case.steps] == [
        (2, "boardsize 9", -1, "boardsize 9", False),
        (3, "10 reg_genmove  b", 10, "reg_genmove  b", True),
        (6, "play b A1", -1, "play b A1", True),
        (8, "20 loadsgf x.sgf", 20, "loadsgf x.sgf", True),
    ]
    patterns = [step.pattern for step in case.steps]
    assert patterns[0] is None
    assert patterns[1] == ("A1|!B2", "A1|!B2", False, True, False)
    assert patterns[2] == ("!x", "x", True, False, False)
    assert patterns[3] is None
    assert case.lines[2] == "  10\treg_genmove  b"
    assert len(case.lines) == 8


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"end"])
def test_lines_end_in_three_ways(end: bytes, last: bytes) -> None:
    text = end.join([b"a", b"", b"1 b", b"#? [x]", last and b"c"])
    read = casefile.parse(text, "x.gtp").steps
    assert [(step.line, step.text) for step in read] == [
        (1, "a"),
        (3, "1 b"),
        *[(5, "c")] * bool(last),
    ]


@pytest.mark.parametrize("control", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_nothing_else_ends_a_line(control: str) -> None:
    assert len(steps(f"a{control}b\n".encode())) == 1


ENCODINGS = [
    (b"echo \xc3\xa9\n", "echo é", b"echo \xc3\xa9\n"),
    (b"\xef\xbb\xbfecho\n", "echo", b"echo\n"),
    (b"echo \xe9\n", "echo \udce9", b"echo \xe9\n"),
    (b"echo \xc3\xa9 \xff\n", "echo é \udcff", b"echo \xc3\xa9 \xff\n"),
    (b"echo \x80\xa0|\n", "echo \udc80\udca0|", b"echo \x80\xa0|\n"),
]


@pytest.mark.parametrize(("text", "read", "sent"), ENCODINGS)
def test_bytes_go_out_as_they_came_in(text: bytes, read: str, sent: bytes) -> None:
    case = casefile.parse(text, "x.gtp")
    assert case.steps[0].text == read
    assert protocol_facts.as_sent(case) == [sent]


@given(st.binary(), st.sampled_from(sorted(DIALECTS)))
@example(b"1 a\n#? [a]\n" + b"9" * 5_000 + b" b\n", "gogui")
def test_any_bytes_are_read_or_refused_with_their_file(text: bytes, dialect: str) -> None:
    try:
        case = casefile.parse(text, "x.gtp", find_dialect(dialect))
    except CaseError as error:
        assert error.file == "x.gtp"
        assert error.line is None or 1 <= error.line <= text.count(b"\n") + text.count(b"\r") + 1
    else:
        assert len(protocol_facts.as_sent(case)) == len(case.steps)
        for step in case.steps:
            assert case.lines[step.line - 1].replace("\t", " ").find(step.command) >= 0


ERRORS = [
    (b"a\n10 b\n#? [(]\n", 3, r"'\(' is not a regular expression: .*"),
    (
        b"a\n\n#? [a]\n",
        3,
        "found a pattern that belongs to no command, expected it in the line .*",
    ),
    (b"a\n#? [a]\n#? [b]\n", 3, "found a second pattern for one command, expected a command"),
    (b"a\n#? a]\n", 2, "expected '\\[' after '#\\?', found 'a\\]'"),
    (b"a\n#? [a\n", 2, "expected '\\]' or '\\]\\*' at the end of the pattern, found '\\[a'"),
    (b"\xff\xfea\x00\n\x00", None, "found UTF-16 text, expected UTF-8"),
]


@pytest.mark.parametrize(("text", "line", "message"), ERRORS)
def test_an_error_has_its_place(text: bytes, line: int | None, message: str) -> None:
    with pytest.raises(CaseError, match=message) as error:
        casefile.parse(text, "some/x.gtp")
    assert (error.value.file, error.value.line) == ("some/x.gtp", line)
    assert str(error.value).startswith(f"some/x.gtp:{line}: " if line else "some/x.gtp: ")


def test_gnugo_refuses_what_is_no_expression_at_its_line() -> None:
    with pytest.raises(CaseError, match=r"'\[\(' is not a regular expression") as error:
        casefile.parse(b"10 a\n#? [[(]\n", "x.gtp", find_dialect("gnugo"))
    assert error.value.line == 2


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (" \x01\x08boardsize 9\x1b\x00 ", "boardsize 9"),
        ("boardsize 9\u00a0", "boardsize 9\u00a0"),
        ("\u3000boardsize 9 ", "\u3000boardsize 9"),
        ("\x85boardsize 9\t", "\x85boardsize 9"),
    ],
)
def test_the_ends_of_a_line_lose_what_java_trims(line: str, command: str) -> None:
    assert steps(line.encode()) == [(1, command, -1, command, False)]


def test_a_file_of_commands_may_have_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "before.gtp"
    path.write_bytes(b"\n  \nkomi\t0\n\n# a comment\n  #? [0]\n  boardsize 9  \n\n")
    assert casefile.read_commands(str(path)) == ("komi 0", "boardsize 9")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"missing\.gtp: cannot be read: No such file"):
        casefile.read(str(tmp_path / "missing.gtp"))
    with pytest.raises(CaseError, match="cannot be read: Is a directory"):
        casefile.read(str(tmp_path))


def test_an_unknown_dialect() -> None:
    with pytest.raises(
        UsageError, match="unknown dialect 'klingon'; there are compatible, gnugo, gogui"
    ):
        find_dialect("klingon")


UNFOLLOWED = [
    ("play b A1", False),
    ("10 play b A1", True),
    ("quit", True),
    ("lz-analyze b 10", True),
    ("kata-analyze", True),
    ("lz-genmove_analyze b 50", True),
    ("genmove b", True),
    ("reg_genmove w", True),
    ("kata-search_analyze b", True),
    ("analyze_me not", False),
    ("loadsgf quit.sgf", False),
]


@pytest.mark.parametrize(("line", "unfollowed"), UNFOLLOWED)
def test_what_must_not_be_followed(line: str, unfollowed: bool) -> None:
    case = casefile.parse(line.encode(), "x.gtp")
    assert protocol_facts.find_awaited(case.steps, STANDARD) == [unfollowed]


@pytest.mark.parametrize(("path", "kind"), [("/dev/zero", "a device"), ("/dev/null", None)])
def test_what_has_no_end_is_not_read(path: str, kind: str | None) -> None:
    assert casefile._endless(path) == kind
