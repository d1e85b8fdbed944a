"""The library as somebody guesses it: what is natural to write works, or its error helps."""

from decimal import Decimal
from pathlib import Path

import pytest

import harness
import oracle
from oracle import Diagram, OracleError, Position, draw_svg, draw_text, read_position

POSITION = Position.from_rows([[0, 1, 0], [1, 2, 0], [0, 0, 0]])
EMPTY = Position.from_rows([[0] * 9] * 9)
RUN = "gtp-oracle gtp --mistake points-add-up"


# --- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("position", [POSITION, EMPTY], ids=["stones", "empty"])
@pytest.mark.parametrize("unicode", [True, False])
def test_what_is_drawn_can_be_read(position, unicode):
    for shown in (position, Diagram(position), Diagram(position, last=(1, 1))):
        assert read_position(draw_text(shown, unicode=unicode)).position == position
    assert draw_svg(position) == draw_svg(Diagram(position))


@pytest.mark.parametrize(
    "text",
    [
        ". X .\nX O .\n. . .\n",
        "# . X .\n# X O .\n# . . .\n",
        "3 . X .\n2 X O .\n1 . . .\n",
        "  A B C\n3 . X . 3\n2 X O . 2\n1 . . . 1\n  A B C\n",
        "0 1 0\n1 2 0\n0 0 0\n",
        "3  .  #  .\n2  #  o  .\n1  .  .  .\n   A  B  C\n",
        "(;GM[1]SZ[3]AB[ba][ab]AW[bb]\n)",
    ],
)
def test_a_diagram_is_read_from_a_text_and_from_a_file(text, tmp_path):
    assert read_position(text).position == POSITION
    path = tmp_path / "board"
    path.write_text(text)
    assert read_position(path).position == read_position(str(path)).position == POSITION


@pytest.mark.parametrize("komi", [0.1, Decimal("0.1")])
def test_a_komi_may_be_any_number_and_is_exact(komi):
    assert oracle.go_scoring.score(POSITION, komi=komi) == Decimal("1.9")
    assert oracle.go_scoring.answer(POSITION, komi=komi) == "B+1.9"
    assert "komi 0.1" in oracle.go_scoring.explain(POSITION, komi=komi).text
    assert oracle.go_scoring.readings(POSITION, komi=komi) == {"area": "B+1.9"}


@pytest.mark.parametrize(
    ("call", "example"),
    [
        (lambda: read_position("hello\nworld\n"), "'. X O'"),
        (lambda: read_position(". X\nO\n"), "expected 2, as in the first row"),
        (lambda: Position.from_rows([[0, 1], [2]]), "such as [[0, 1, 2], [1, 0, 0]]"),
        (lambda: Position.from_rows([[0, 3]]), "such as [[0, 1, 2], [1, 0, 0]]"),
        (lambda: Position.from_rows([]), "such as [[0, 1, 2], [1, 0, 0]]"),
        (lambda: oracle.parse_vertex("z", 9, 9), "such as C3"),
        (lambda: oracle.go_scoring.score(POSITION, float("inf")), "such as 6.5"),
        (lambda: oracle.engine_for("go"), "there are go-scoring, gomoku-rules"),
    ],
)
def test_an_error_of_the_oracle_shows_an_example(call, example):
    with pytest.raises(OracleError) as told:
        call()
    assert example in str(told.value)


# --- runs ----------------------------------------------------------------------------------------


@pytest.mark.processes
def test_a_program_may_be_words_and_tests_may_be_one(tmp_path):
    case = tmp_path / "mine.gtp"
    case.write_text("10 name\n#? [gtp-oracle]\n")
    for program in ("gtp-oracle gtp", ["gtp-oracle", "gtp"]):
        for tests in (str(case), case, [case]):
            found = harness.run(program, tests)
            assert found.passed
            assert [one.case.path for one in found.files] == [str(case)]
    assert harness.read_case_file(case).path == str(case)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("gtp-oracle gtp", ""),
        ("gtp-oracle gtp", "10 name\n#? [(]\n"),
        ("no-such-program", "10 name\n"),
        ("gtp-oracle gtp", "10 no_such_command\n"),
    ],
)
def test_a_run_in_which_something_is_missing_has_not_passed(program, text, tmp_path):
    case = tmp_path / "mine.gtp"
    case.write_text(text)
    assert not harness.run(program, case).passed


@pytest.mark.parametrize(
    ("call", "example"),
    [
        (lambda: harness.find_assignment(Path("go-scorin")), "did you mean go-scoring?"),
        (lambda: _run(sandbox="strong"), "there are auto, 3, 2, 1, off"),
        (lambda: _run(dialect="gnu"), "there are compatible, gnugo, gogui"),
    ],
)
def test_an_error_of_the_harness_says_what_there_is(call, example):
    with pytest.raises(harness.HarnessError) as told:
        call()
    assert example in str(told.value)


def _run(**options):
    return harness.run("gtp-oracle gtp", ["@go-scoring/komi"], harness.Options(**options))
