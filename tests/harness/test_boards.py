"""The board at a step, from commands and replies; unknown rather than wrong."""

from __future__ import annotations

import pytest

from harness.core.records import Exchange
from harness.judging.board_replay import boards
from harness.specifications import EVERYONES
from harness.vocabulary import GO, GOMOKU, BoardKind
from oracle.draw import draw_text
from tests.harness.made_run import Line, V, made_file, reply_of


def board_at_end(lines: list[str | tuple[str, str | None]], path: str = "case.gtp", **rest):
    """Return the drawn board before a test that follows these commands, None when unknown."""
    board = rest.pop("board", None)
    laid = [Line(line) if isinstance(line, str) else Line(line[0], line[1]) for line in lines]
    file = made_file(path, [*laid, Line("1 show", "=1", None, V.FAILED)], **rest)
    last = len(file.case.steps) - 1
    diagram = boards(file, {last}, EVERYONES, board).get(last)
    return None if diagram is None else draw_text(diagram, unicode=False)


START = ["boardsize 3", "clear_board"]


def draw_rows(*rows: str, caption: str = "") -> str:
    body = [f" {3 - i} {row} {3 - i}" for i, row in enumerate(rows)]
    return "\n".join(["    A B C", *body, "    A B C"] + ([caption] if caption else []))


KNOWN = [
    pytest.param(START, draw_rows(" . . . ", " . . . ", " . . . "), id="empty"),
    pytest.param(
        ["boardsize 3"], draw_rows(" . . . ", " . . . ", " . . . "), id="boardsize clears"
    ),
    pytest.param(
        [*START, "play b b2", "play w C1"],
        draw_rows(" . . . ", " . X . ", " . .(O)", caption="last move: W C1"),
        id="moves",
    ),
    pytest.param(
        [*START, "play w a1", "play b a2", "play black b1"],
        draw_rows(" . . . ", " X . . ", " .(X). ", caption="last move: B B1"),
        id="a capture",
    ),
    pytest.param(
        [*START, "play b b2", "play w pass"],
        draw_rows(" . . . ", " . X . ", " . . . ", caption="last move: W pass"),
        id="a pass",
    ),
    pytest.param(
        [*START, ("genmove b", "= C3"), ("genmove w", "= resign")],
        draw_rows(" . .(X)", " . . . ", " . . . ", caption="last move: B C3"),
        id="genmove adds the reply's move, resigning none",
    ),
    pytest.param(
        [*START, ("reg_genmove b", "= C3"), ("score", "= 0"), ("list_stones b", "=")],
        draw_rows(" . . . ", " . . . ", " . . . "),
        id="questions change nothing",
    ),
    pytest.param(
        [*START, "play b a1", "play w a2", "undo"],
        draw_rows(" . . . ", " . . . ", "(X). . ", caption="last move: B A1"),
        id="undo",
    ),
    pytest.param(
        [*START, ("play b a1", "? no"), ("play b z9", "? invalid coordinate")],
        draw_rows(" . . . ", " . . . ", " . . . ", caption="refused: play b z9"),
        id="what was refused changed nothing",
    ),
    pytest.param(
        [*START, ("fixed_handicap 2", "= A1 C3")],
        draw_rows(" . . X ", " . . . ", " X . . "),
        id="handicap stones are in the reply",
    ),
    pytest.param(
        [*START, "gogui-setup b A1 w B1 b C1", "gogui-setup_player w"],
        draw_rows(" . . . ", " . . . ", " X O X "),
        id="stones set up",
    ),
    pytest.param(
        [*START, "gogui-play_sequence b A1 w B1"],
        draw_rows(" . . . ", " . . . ", " X(O). ", caption="last move: W B1"),
        id="a sequence",
    ),
    pytest.param(
        ["boardsize 5", "play b c3", "unknown_setup", *START, "play b a1"],
        draw_rows(" . . . ", " . . . ", "(X). . ", caption="last move: B A1"),
        id="known again after boardsize",
    ),
]


@pytest.mark.parametrize(
    "question", ["display", "can_play w a1", "reg_genmove b", "savesgf x.sgf"]
)
def test_questions_leave_the_board_whatever_is_in_their_names(question):
    assert board_at_end([*START, "play b a1", question]) == board_at_end([*START, "play b a1"])


@pytest.mark.parametrize(("lines", "board"), KNOWN)
def test_known(lines, board):
    assert board_at_end(lines) == board


UNKNOWN = [
    pytest.param([], id="nothing is set: engines begin with boards of different sizes"),
    pytest.param(["clear_board", "play b a1"], id="no size was told"),
    pytest.param([*START, "play b a1", "play w a1"], id="accepted, and occupied"),
    pytest.param([*START, "play b d4"], id="accepted, and off the board"),
    pytest.param([*START, "play b a2", "play b b1", "play w a1"], id="accepted, and suicide"),
    pytest.param([*START, "play x a1"], id="accepted, and no color"),
    pytest.param([*START, "undo"], id="accepted, and nothing to undo"),
    pytest.param([*START, "play b d4", f"gg-undo {10**12}"], id="undone without end"),
    pytest.param([*START, ("genmove b", "= nowhere")], id="a reply that is no move"),
    pytest.param([*START, ("play b a1", None)], id="not answered"),
    pytest.param([*START, "kata-set_position b a1"], id="a setup of another engine's"),
    pytest.param(["boardsize 99"], id="no such board"),
    pytest.param([*START, "loadsgf missing.sgf"], id="a record that is not there"),
    pytest.param([*START, "gogui-setup b A1 w"], id="a stone without a point set up"),
    pytest.param([*START, "policy_moves", "play b pass"], id="a pass in Gomoku"),
]


@pytest.mark.parametrize("lines", UNKNOWN)
def test_unknown(lines):
    assert board_at_end(lines) is None


SURROUNDED = [*START, "play w a1", "play b a2", "play b b1"]


def test_a_fixed_board_is_known_before_any_command():
    fixed = BoardKind(size=3, is_fixed=True)
    assert board_at_end(["play b b2"], board=fixed) == draw_rows(
        " . . . ", " .(X). ", " . . . ", caption="last move: B B2"
    )
    assert board_at_end(["play b b2"], board=GO) is None


def test_passes_of_a_game_record_are_moves(tmp_path):
    (tmp_path / "a.sgf").write_text("(;GM[1]FF[4]SZ[3];B[bb];W[])")
    found = board_at_end(["loadsgf a.sgf"], str(tmp_path / "case.gtp"))
    assert found == draw_rows(" . . . ", " . X . ", " . . . ", caption="last move: W pass")


def test_gomoku_has_no_captures():
    board = draw_rows(" . . . ", " X . . ", " O(X). ", caption="last move: B B1")
    assert board_at_end([*SURROUNDED, ("gogui-rules_final_result", "= unknown")]) == board
    assert board_at_end([*SURROUNDED, ("policy_moves", "= Random")]) == board
    assert board_at_end(SURROUNDED, board=GOMOKU) == board
    assert board_at_end([*SURROUNDED, ("policy_moves", "=")], board=GO) != board


def test_gomoku_engines_refuse_in_successful_replies():
    lines = [*START, "play b a1", ("play w a1", '= illegal move: "a1" occupied'), ("policy", "=")]
    assert board_at_end(lines) == draw_rows(
        " . . . ", " . . . ", "(X). . ", caption="last move: B A1; refused: play w a1"
    )


def test_commands_of_the_gtpfile_count():
    before = (Exchange("1 boardsize 3", reply_of("=1")), Exchange("name", reply_of("= x")))
    assert board_at_end(["play b b2"], before=before) == draw_rows(
        " . . . ", " .(X). ", " . . . ", caption="last move: B B2"
    )


def test_game_records_are_looked_up_from_the_case_file(tmp_path):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "a.sgf").write_text("(;GM[1]FF[4]SZ[3];B[ab];W[bb];B[cc])")
    case = str(tmp_path / "case.gtp")
    whole = draw_rows(" . . . ", " X O . ", " . .(X)", caption="last move: B C1")
    assert board_at_end(["loadsgf games/a.sgf"], case) == whole
    before_third = draw_rows(" . . . ", " X(O). ", " . . . ", caption="last move: W B2")
    assert board_at_end(["loadsgf games/a.sgf 3"], case) == before_third
    assert board_at_end(["loadsgf games/a.sgf", "undo"], case) == before_third
    assert board_at_end(["loadsgf games/a.sgf", "clear_board"], case) is not None


def test_boards_are_looked_up_from_the_case_file(tmp_path):
    (tmp_path / "boards").mkdir()
    (tmp_path / "boards" / "a.txt").write_text("0 0 2\n0 0 0\n1 0 0\n")
    lines = [*START, "play b b2", "load_board boards/a.txt"]
    found = board_at_end(lines, str(tmp_path / "case.gtp"))
    assert found == draw_rows(" . . O ", " . . . ", " X . . ")
    assert board_at_end(lines, "elsewhere.gtp") is None


def test_only_the_steps_asked_for():
    file = made_file("x.gtp", [Line(text) for text in [*START, "play b a1", "play w a2", "quit"]])
    assert set(boards(file, {2, 4}, EVERYONES)) == {2, 4}
    assert boards(file, set(), EVERYONES) == {}
    assert boards(file, {2}, EVERYONES)[2].last is None
    assert boards(file, {4}, EVERYONES)[4].last == (1, 0)
