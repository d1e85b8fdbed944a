"""Case files of answers with status lines: read, judged, found in folders, and converted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import main
from harness.core.errors import CaseError
from harness.core.options import GTP, STATUS_LAST
from harness.core.records import ANSWERS_FILE, GTP_FILE, CaseFile, Reply, Verdict
from harness.fuzzing import findings
from harness.fuzzing.judges import ExpectedCommand
from harness.reading import answer_files, casefile, conversion, suite
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.reading.suite import gather
from harness.specifications import specification
from harness.verifying.expectation_judge import FindingKind
from harness.verifying.verification import verify

TEXT = b"""\
# A comment, and an empty line

game 3 3
= 1
?play 0\t0 1
# a comment between
= illegal move: 0 0 1 occupied
  ?show
  1 . .

. . .
= 1
?genmove
@[0-2] [0-2]
= 1
?nonsense
= -1
"""


def read(text: str | bytes, name: str = "x.txt") -> CaseFile:
    return casefile.parse(text.encode() if isinstance(text, str) else text, name)


def test_a_file_becomes_steps() -> None:
    case = read(TEXT)
    assert case.format == ANSWERS_FILE
    assert [step[:5] for step in case.steps] == [
        (3, "game 3 3", -1, "game 3 3", False),
        (5, "play 0 0 1", -1, "play 0 0 1", True),
        (8, "show", -1, "show", True),
        (13, "genmove", -1, "genmove", True),
        (16, "nonsense", -1, "nonsense", True),
    ]
    assert [step.pattern and step.pattern.text for step in case.steps] == [
        "= 1",
        "= illegal move: 0 0 1 occupied",
        "1 . .\n. . .\n= 1",
        "@[0-2] [0-2]\n= 1",
        "= -1",
    ]
    assert len(case.lines) == 17


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        ("show\n1 0\n= 1\nlegal\nyes\n", 5, "the end of the file after 'legal'", "a status line"),
        ("= 1\nshow\n= 1\n", 1, "'= 1' without a command before it", "a command"),
        ("show\n= 1\n?\n= 1\n", 3, "'?' alone", "a command after it"),
        ("show\n=1\nshow\n= 1\n", 2, "'=1'", "a status line: = 1, = -1 or = illegal move: …"),
        ("show\n= 0\nshow\n= 1\n", 2, "'= 0'", "a status line"),
        ("?show\n@(\n= 1\n", 2, "", "is not a regular expression"),
        ("?show\n= @(\n", 2, "", "is not a regular expression"),
        (
            "?show\n1 0 # so far\n= 1\n",
            2,
            "'#' in '1 0 # so far'",
            "comments in lines of their own",
        ),
        ("show 1 # so\n= 1\n", 1, "'#' in 'show 1 # so'", "comments in lines of their own"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    text: str, line: int, found: str, expected: str
) -> None:
    with pytest.raises(CaseError) as caught:
        read(text)
    assert str(caught.value).startswith(f"x.txt:{line}: ")
    assert found in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("10 score\n#? [0]\n", "x.txt"),  # a text without a status line is for GTP, as ever
        ("= 1\n", "x.gtp"),
    ],
)
def test_other_files_are_for_gtp(text: str, name: str) -> None:
    assert read(text, name).format == GTP_FILE


# --- judging -----------------------------------------------------------------------------------

VERDICTS = [
    # what the file has, what the engine prints, whether it passes
    ("= 1", "= 1", True),
    ("= 1", "yes\n= 1", False),
    ("= -1", "= -1", True),
    ("= -1", "usage: play x y\n= -1", False),
    ("= -1", "= 1", False),
    ("yes\n= 1", "yes\n= 1", True),
    ("yes\n= 1", "  yes  \n= 1", True),
    ("yes\n= 1", "Yes\n= 1", False),
    ("yes\n= 1", "yes\n= -1", False),
    ("yes\n= 1", "= yes", False),
    ("1 0\n0 1\n= 1", "1 0\n\n0 1\n= 1", True),
    ("1 0\n0 1\n= 1", "1 0 0 1\n= 1", False),
    ("@[0-2]\n= 1", "2\n= 1", True),
    ("@[0-2]\n= 1", "25\n= 1", False),
    ("@[0-2]\n= 1", "2\n= -1", False),
    ("@.*\n= 1", "= 1", True),
    ("@a.\n.b\n= 1", "ax\nxb\n= 1", True),  # a mark before the first line holds for all
    ("a.\n@.b\n= 1", "a.\nxb\n= 1", True),
    ("a.\n@.b\n= 1", "ax\nxb\n= 1", False),
    ("a\n@b|c\n= 1", "a\nc\n= 1", True),  # a choice in a line of its own ends with the line
    ("a\n@b|c\n= 1", "c\n= 1", False),
    ("a.c\n= 1", "abc\n= 1", False),
    ("= illegal move: a1 x", "= illegal move: a1 x", True),
    ("= illegal move: a1 x", "= illegal move: a1 y", False),
    ("= illegal move: a1 x", "illegal move: a1 x\n= 1", False),
    ("illegal move: a1 x\n= 1", "= illegal move: a1 x", False),
    ("= @illegal move.*", "= illegal move: a1 x", True),
    ("a1\n= @illegal move.*", "a1\n= illegal move: a1 x", True),
]


def print_reply(text: str) -> Reply:
    """Return what an engine prints as a reply, cut in the plainest way."""
    *lines, status = (line.strip() for line in text.split("\n") if line.strip())
    told = answer_files.with_status("\n".join(lines), status)
    return Reply(answer_files.is_success(status), told, text, 0.0, "", status)


def verdict(case: CaseFile, reply: Reply) -> Verdict:
    return dialect_of(case, find_dialect("gogui")).verdict(case.steps[0].pattern, reply)


@pytest.mark.parametrize(("wanted", "said", "passes"), VERDICTS)
def test_what_passes(wanted: str, said: str, passes: bool) -> None:
    case = read(f"?command\n{wanted}\n")
    assert (verdict(case, print_reply(said)) is Verdict.PASSED) is passes


# --- in folders --------------------------------------------------------------------------------


def test_texts_that_are_no_tests_are_left_out_of_a_folder(tmp_path: Path) -> None:
    for name, text in {
        "public.txt": "?show\n= 1\n",
        "broken.txt": "show\n",
        "notes.txt": "These are the tests of the first assignment.\n",
        "README.txt": "Write tests like this:\n?show\n= 1\n",
        "score.gtp": "10 score\n",
        "out.log": "= 1\n",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "utf16.txt").write_bytes("?show\n= 1\n".encode("utf-16"))
    folder = str(tmp_path)
    names = [Path(one).name for one in suite.expand([folder], has_answers=True)]
    assert names == ["public.txt", "score.gtp", "utf16.txt"]
    assert [Path(one).name for one in suite.expand([folder])] == ["score.gtp"]


def test_a_run_of_gtp_tells_what_such_a_file_needs(tmp_path: Path) -> None:
    path = tmp_path / "public.txt"
    path.write_text("\n?show\n= 1\n")
    assert gather([str(path)], protocol=STATUS_LAST).errors == ()
    (error,) = gather([str(path)], protocol=GTP).errors
    assert error.startswith(f"{path}:2: found answers that end with a status line, and the engine")


# --- conversion --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gtp", "answers"),
    [
        ("boardsize 5", "boardsize 5\n= 1"),
        ("10 score\n#? [0]", "?score\n0\n= 1"),
        (r"10 score\n#? [B\+4]".replace(r"\n", "\n"), "?score\nB+4\n= 1"),
        ("10 score", "?score\n@.*\n= 1"),
        ("score\n#? [a|b c]", "?score\n@a|b c\n= 1"),
        ("score\n#? [(?i)win e4]", "?score\n@(?ai)win e4\n= 1"),
        ("score\n#? [!A1]", "?score\n@(?!(?:A1)\\Z).*\n= 1"),
        ("score\n#? [\\d+]", "?score\n@(?a)(?:[0-9])+\n= 1"),
        ("play b a1\n#? [illegal move: x]", "?play b a1\n= illegal move: x"),
        ("# a comment\n\n  10  score\n#? [0]", "# a comment\n\n?score\n0\n= 1"),
        ("score\n#? [x #y]", "?score\n@x \\#y\n= 1"),
    ],
)
def test_for_gtp_as_answers(gtp: str, answers: str) -> None:
    found = conversion.to_answers(read(f"{gtp}\n", "x.gtp"))
    assert found == f"{answers}\n"
    assert read(found).format == ANSWERS_FILE


@pytest.mark.parametrize(
    ("answers", "gtp"),
    [
        ("game 3\n= 1\n?show\n= 1", "game 3\n10 show\n#? []"),
        (
            "?legal\nyes\n= 1\n\n# so\n?b\n1.\n0\n= 1",
            "10 legal\n#? [yes]\n\n# so\n20 b\n#? [1\\.\\n0]",
        ),
        ("?play 1\n= illegal move: 1 (x)", "10 play 1\n#? [illegal move: 1 \\(x\\)]"),
        ("?a\n@[0-2]|x\n= 1", "10 a\n#? [[0-2]|x]"),
        ("?a\n@(?ai)win e4\n= 1", "10 a\n#? [(?i)win e4]"),
        ("?a\nx\n@y|z\n= 1", "10 a\n#? [x\\n(?:y|z)]"),
        (
            "?a\n@x|y\n= illegal move: (1)",
            "10 a\n#? [(?:x|y)\\nillegal move: \\(1\\)]",
        ),
        ("?a\n@(?!(?:A1)\\Z).*\n= 1", "10 a\n#? [!A1]"),
        ("?a\n!x\n= 1", "10 a\n#? [\\!x]"),
        ("?a\n@!x|y\n= 1", "10 a\n#? [(?:!x|y)]"),  # it would be taken for a negated one
        ("?a\n@ x|y\n= 1", "10 a\n#? [(?: x|y)]"),  # its blank would be trimmed
        ("#? no test\n?a\n= 1", "# ? no test\n10 a\n#? []"),
    ],
)
def test_answers_for_gtp(answers: str, gtp: str) -> None:
    assert conversion.to_gtp(read(f"{answers}\n")) == f"{gtp}\n"


@pytest.mark.parametrize(
    ("text", "name", "line", "error"),
    [
        ("score\n#? [0]*", "x.gtp", 1, "found an expectation that ends in *"),
        (
            "a\n10 play b a1\n#? [(?i)illegal move: x]",
            "x.gtp",
            2,
            "an expression for an illegal move",
        ),
        ("?x\n= 1", "x.gtp", 1, "found the command '?x'"),
        ("a # b", "x.gtp", 1, "found the command 'a # b', expected one without a comment"),
        (
            "?a\n= 1\n?x\n= -1",
            "x.txt",
            3,
            "found a test whose answer is '= -1', expected '= 1':"
            " GTP's files expect no error (--drop leaves it out)",
        ),
        ("?x\n@(?P<a>b)\n= 1", "x.txt", 1, "found '(?P' in an expression"),
        (
            "?x\n@a$\n= 1",
            "x.txt",
            1,
            "found '$' in an expression, expected what GTP's files read alike",
        ),
    ],
)
def test_what_cannot_be_said(text: str, name: str, line: int, error: str) -> None:
    case = read(f"{text}\n", name)
    convert = conversion.to_answers if case.format == GTP_FILE else conversion.to_gtp
    with pytest.raises(CaseError) as caught:
        convert(case)
    assert str(caught.value).startswith(f"{name}:{line}: ")
    assert error in str(caught.value)


def test_refusals_can_be_dropped() -> None:
    found = conversion.to_gtp(read("?a\n= -1\n?b\n= 1\n"), drops=True)
    assert found == ("# refused, which no test for GTP can expect:\na\n20 b\n#? []\n")


EXPRESSIONS = st.sampled_from(
    ["a|b", "[ab]+", "(?i)a b", ".*", "!a", "!(?i)a|b", r"\d", "a(b)?", "", "a", r"B\+1(\.0)?"]
)
REPLIES = st.builds(
    Reply,
    st.booleans(),
    st.sampled_from(["", "a", "A B", "a\nb", "1", "b", "B+1", "B+1.0"]),
    st.just("="),
    st.just(0.0),
    st.just(""),
    st.just(""),
)


@given(EXPRESSIONS, REPLIES)
def test_a_converted_test_passes_for_the_same_replies(expression: str, reply: Reply) -> None:
    before = read(f"10 ask\n#? [{expression}]\n", "x.gtp")
    after = read(conversion.to_answers(before))
    assert verdict(after, reply) is verdict(before, reply)
    again = read(conversion.to_gtp(after), "x.gtp")
    assert verdict(again, reply) is verdict(before, reply)
    there = conversion.to_answers(again)
    assert conversion.to_answers(read(conversion.to_gtp(read(there)), "x.gtp")) == there


# --- with the oracle, and on the command line --------------------------------------------------

SCORE = """\
boardsize 2
= 1
clear_board
= 1
komi 0
= 1
?score
{}
?nonsense
= -1
"""


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("0\n= 1", []),
        ("@0\n= 1", []),
        ("B+1\n= 1", [FindingKind.WRONG]),
        ("= -1", [FindingKind.WRONG]),
        ("@.*\n= 1", [FindingKind.LOOSE]),
    ],
)
def test_expectations_are_verified(answer: str, kinds: list[FindingKind]) -> None:
    case = read(SCORE.format(answer))
    found = verify([case], specification("go-scoring"))
    assert [(one.kind, one.line) for one in found.findings] == [(kind, 7) for kind in kinds]


def test_a_refusal_that_is_expected_is_right() -> None:
    case = read("boardsize 3\n= 1\n?play b z9\n= 1\n?play b z9\n= -1\n")
    found = verify([case], specification("go-scoring"))
    assert [(one.kind, one.line) for one in found.findings] == [(FindingKind.UNREACHABLE, 3)]


def test_convert_writes_files_and_overwrites_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case, other = tmp_path / "a.gtp", tmp_path / "b.gtp"
    case.write_text("10 score\n#? [0]\n")
    other.write_text("10 score\n#? [0]*\n")
    assert main(["convert", "--to", "txt", str(case)]) == 0
    assert capsys.readouterr().out == "?score\n0\n= 1\n"
    folder = tmp_path / "out"
    assert main(["convert", "--to", "txt", "--output", str(folder), str(tmp_path)]) == 2
    assert "b.gtp:1: found an expectation that ends in *" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["a.txt"]
    assert main(["convert", "--to", "txt", "--output", str(folder), str(case)]) == 2
    assert "already exists; convert overwrites nothing" in capsys.readouterr().err
    assert main(["convert", "--to", "gtp", str(case)]) == 2
    assert "found a file in this format already" in capsys.readouterr().err
    assert main(["convert", "--to", "gtp", str(folder / "a.txt")]) == 0
    assert capsys.readouterr().out == "10 score\n#? [0]\n"


def test_a_refusal_that_is_missing_is_expected_for_whatever_reason() -> None:
    """As fuzzing writes it: right programs give other reasons."""
    expected = ExpectedCommand("play 0 1 0", None, False, "= illegal move: 0 1 0 three in a row")
    lines = findings._LINES[STATUS_LAST](expected, 1, True)
    case = read("\n".join(lines))
    assert verdict(case, print_reply("= illegal move: three")) is Verdict.PASSED
    assert verdict(case, print_reply("= 1")) is Verdict.FAILED
