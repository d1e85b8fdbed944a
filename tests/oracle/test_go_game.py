"""The game of Go around its rules: refusals, ko, prisoners, undo, the end of a game, komi."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import FormatError, IllegalMove
from oracle.games.go import BLACK_FIRST, GoGame
from oracle.komi import parse_komi, result_text
from oracle.position import BLACK, WHITE, parse_vertex, vertex
from tests.oracle.boards import board

COLORS = {"b": BLACK, "w": WHITE}


def game_of(diagram, to_play=BLACK):
    return GoGame(board(diagram), to_play)


def play(game, *moves):
    """Play moves such as ``"b C3"`` and ``"w pass"``; return the captures of each."""
    shape, captured = game.position.grid, []
    for move in moves:
        color, name = move.split()
        point = None if name == "pass" else parse_vertex(name, shape.rows, shape.columns)
        captured.append(game.play(COLORS[color], point))
    return captured


# --- what is refused, and why ------------------------------------------------------------------

CORNER = """
    . X . .
    X O . .
    . . O X
    . . X .
"""
CAPTURE = """
    . X O .
    X O . .
    O . . .
    . . . .
"""
TWO_EYES = """
    . X . X O
    X X X X O
    O O O O O
    . . . . .
    . . . . .
"""
ONE_EYE = """
    . O O O .
    O X X X O
    O X . X O
    O X X X O
    . O O O .
"""
REFUSALS = [
    (CORNER, "b A4", None),  # one's own eye may be filled
    (CORNER, "w A4", "suicide"),
    (CORNER, "w A3", "occupied"),
    (CORNER, "b A3", "occupied"),
    (CORNER, "w E1", "off board"),
    (CORNER, "w A5", "off board"),
    (CAPTURE, "w A4", None),  # it takes A3 and B4, though it has no liberty before
    (CAPTURE, "b A4", "suicide"),
    (TWO_EYES, "w A5", "suicide"),
    (TWO_EYES, "w C5", "suicide"),
    (ONE_EYE, "w C3", None),  # it takes all eight
    (ONE_EYE, "b C3", "suicide"),  # of a whole chain
    (". O\nO .", "b A2", "suicide"),
    (". O\nO X", "b A2", None),  # it takes both
    (". X\nX .", "w A2", "suicide"),
    (".", "b A1", "suicide"),
]


@pytest.mark.parametrize(("diagram", "move", "reason"), REFUSALS)
def test_refusals(diagram, move, reason):
    game = game_of(diagram)
    color, point = COLORS[move[0]], parse_vertex(move[2:], 25, 25)
    assert game.refusal(color, point) == reason
    assert game.is_legal(color, point) is (reason is None)
    before = game.position
    if reason is None:
        game.play(color, point)
    else:
        with pytest.raises(IllegalMove, match=reason) as caught:
            game.play(color, point)
        assert caught.value.reason == reason
        assert game.position == before
        assert game.moves == []


def test_prisoners_are_the_capturers():
    game = game_of(ONE_EYE, WHITE)
    assert play(game, "w C3") == [8]
    assert (game.prisoners(WHITE), game.prisoners(BLACK)) == (8, 0)
    assert game.position.black == 0
    game.undo()
    assert (game.prisoners(WHITE), game.prisoners(BLACK)) == (0, 0)
    assert game.position == board(ONE_EYE)


# --- ko ----------------------------------------------------------------------------------------

KO = """
    . X O .
    X O . O
    . X O .
    . . . .
"""


def test_a_ko_may_not_be_taken_back_at_once():
    game = game_of(KO)
    assert play(game, "b C3") == [1]
    assert vertex(game.ko) == "B3"
    assert game.refusal(WHITE, (2, 1)) == "ko"
    assert game.refusal(BLACK, (2, 1)) is None  # one's own ko may be filled
    assert not game.legal_moves(WHITE) & game.position.grid.bit((2, 1))
    with pytest.raises(IllegalMove, match="ko"):
        play(game, "w B3")


@pytest.mark.parametrize("between", [("w A1", "b D1"), ("w pass", "b A1"), ("w A1", "b pass")])
def test_after_a_move_elsewhere_it_may(between):
    game = game_of(KO)
    play(game, "b C3", *between)
    assert game.ko is None
    assert play(game, "w B3") == [1]
    assert vertex(game.ko) == "C3"


def test_a_second_move_of_the_same_color_ends_the_ban():
    """Out of turn, as GTP allows; the position has changed since the capture."""
    game = game_of(KO)
    play(game, "b C3", "b A1")
    assert game.is_legal(WHITE, (2, 1))


NO_KOS = [
    # two stones are taken by one
    (". X X .\nX O O .\n. X X O\n. . . .", "b D3", 2),
    # one is taken by a stone that is part of a chain
    (". X O .\nX O . O\nX X . O\n. . O .", "b C3", 1),
    # one is taken by a stone with another liberty
    (". X . .\nX O . .\n. X . .\n. . . .", "b C3", 1),
]


@pytest.mark.parametrize(("diagram", "move", "captured"), NO_KOS)
def test_what_is_no_ko(diagram, move, captured):
    game = game_of(diagram)
    assert play(game, move) == [captured]
    assert game.ko is None


RECAPTURES = [
    (KO, "b C3", True),
    # B1, taken back, takes A1, B2 and C1: the board is another than before
    (". O .\nO X O\n. O X", "b A1", False),
    (NO_KOS[0][0], NO_KOS[0][1], False),
]


@pytest.mark.parametrize(("diagram", "move", "repeats"), RECAPTURES)
def test_a_ko_repeats_the_board_where_one_stone_takes_one(diagram, move, repeats):
    game = game_of(diagram)
    before = game.position
    play(game, move)
    assert game.ko_repeats is repeats
    if game.ko:
        again = GoGame(game.position, game.to_play)  # which knows no ko
        again.play(WHITE, game.ko)
        assert (again.position == before) is repeats


def test_undo_brings_the_ban_back():
    game = game_of(KO)
    play(game, "b C3", "w A1")
    game.undo()
    assert vertex(game.ko) == "B3"


# --- turns and the end -------------------------------------------------------------------------


def test_the_turn_is_the_other_colors_whoever_moved():
    game = GoGame.empty(5)
    assert game.to_play == BLACK
    for move, turn in (("b C3", WHITE), ("b C4", WHITE), ("w A1", BLACK), ("w pass", BLACK)):
        play(game, move)
        assert game.to_play == turn


ENDS = [
    # java-go.txt, "The Game": "The game ends when black followed by white skip a go."
    (["b pass", "w pass"], True, True),
    (["w pass", "b pass"], True, False),
    (["w pass", "b pass", "w pass"], True, True),
    (["b pass", "b pass"], False, False),
    (["b pass", "w C3", "b pass"], False, False),
    (["b C3", "w pass"], False, False),
    (["b pass", "w pass", "b C3"], False, False),
    ([], False, False),
]


@pytest.mark.parametrize(("moves", "of_go", "of_java_go"), ENDS)
def test_the_end(moves, of_go, of_java_go):
    go, java_go = GoGame.empty(5), GoGame(GoGame.empty(5).position, ending=BLACK_FIRST)
    for game in (go, java_go):
        play(game, *moves)
    assert (go.is_over, java_go.is_over) == (of_go, of_java_go)


# --- komi --------------------------------------------------------------------------------------

RESULTS = [
    (4, "0", "B+4"),
    (4, "0.0", "B+4"),
    (-4, "0", "W+4"),
    (0, "0", "0"),
    (0, "-0", "0"),
    (7, "7", "0"),
    (7, "7.000", "0"),
    (0, "0.1", "W+0.1"),
    (1, "0.1", "B+0.9"),
    (3, "2.9", "B+0.1"),
    (0, "-0.30", "B+0.3"),
    (10, "7.5", "B+2.5"),
    (100, "-100", "B+200"),
    (0, "1000000", "W+1000000"),
    (1, "0.0000000000000000000000000000000000001", "B+0." + "9" * 37),
]


@pytest.mark.parametrize(("lead", "komi", "result"), RESULTS)
def test_results_are_exact(lead, komi, result):
    assert result_text(lead, parse_komi(komi)) == result


@given(st.integers(-625, 625), st.decimals(-1000, 1000, places=9))
def test_a_result_is_the_fraction_it_says(lead, komi):
    text = result_text(lead, parse_komi(format(komi, "f")))
    sign, _, number = text.rpartition("+")
    exact = Fraction(number) * {"B": 1, "W": -1, "": 0}[sign]
    assert exact == lead - Fraction(komi)
    assert (text == "0") is (exact == 0)
    assert "." not in number or not number.endswith(("0", "."))


NO_KOMIS = [
    "",
    "x",
    "1e5",
    "nan",
    "inf",
    "1_0",
    ".",
    "-",
    "1.2.3",
    "--1",
    "\u0661",
    "0x1",
    "1" * 41,
]


@pytest.mark.parametrize("text", NO_KOMIS)
def test_what_is_no_komi(text):
    with pytest.raises(FormatError, match=r"not a komi: .* expected a number such as 6\.5"):
        parse_komi(text)
