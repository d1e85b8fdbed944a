"""Winner, result and legal moves: the document's words, and what it leaves open."""

from random import Random

import pytest

from oracle.answers import gomoku_rules
from oracle.explanation import is_underspecified
from oracle.position import BLACK, EMPTY, WHITE, vertex
from tests.oracle import gomoku_definition as definition
from tests.oracle.gomoku_boards import board, position, random_board

# gomoku-rules.html, section; the position; the result.
RESULTS = [
    ("Rules of Gomoku: horizontally", ".XXXXX. ...O...", "black"),
    ("Rules of Gomoku: vertically", "O. O. O. O. O.", "white"),
    ("Rules of Gomoku: diagonally", "X.... .X... ..X.. ...X. ....X", "black"),
    ("Rules of Gomoku: diagonally", "....O ...O. ..O.. .O... O....", "white"),
    ("Rules of Gomoku: five or more", "XXXXXX.", "black"),
    ("Rules of Gomoku: five or more", "OOOOOOOOO", "white"),
    ("final_result: not over yet", "XXXX.XXXX", "unknown"),
    ("final_result: not over yet", "..... ..... .....", "unknown"),
    ("Rules of Gomoku: a line of one's own color", "XXXOXXX OOO.OOO", "unknown"),
    ("end of game: completely filled, no five", "XXXXO OOOOX XXXXO OOOOX XXXXO", "draw"),
    ("settled: the five decides on a full board", "XXXXX OOOOX XXXXO OOOOX XXXXO", "black"),
]


@pytest.mark.parametrize(("section", "diagram", "result"), RESULTS)
def test_result(section, diagram, result):
    now = position(board(diagram))
    assert gomoku_rules.result(now) == result
    assert gomoku_rules.winner(now) == {"black": BLACK, "white": WHITE}.get(result, EMPTY)
    assert (gomoku_rules.legal_moves(now) == []) == (result != "unknown")


def test_result_on_random_boards():
    random = Random(3)
    results = set()
    for _ in range(500):
        rows = random_board(random, random.randrange(1, 12), random.randrange(1, 12))
        five = [
            name for name, s in (("black", "X"), ("white", "O")) if definition.has_five(rows, s)
        ]
        expected = five[0] if five else "unknown" if definition.empty_points(rows) else "draw"
        results.add(expected)
        assert gomoku_rules.result(position(rows)) == expected
    assert results == {"black", "white", "unknown", "draw"}


def test_legal_moves_are_in_alphabetic_order():
    """The document: "gogui-rules_legal_moves = a1 a2 a3 b1 b2 b3 c1 c2 c3" (empty 3x3 board)."""
    moves = gomoku_rules.legal_moves(position(board("... ... ...")))
    assert " ".join(map(vertex, moves)).lower() == "a1 a2 a3 b1 b2 b3 c1 c2 c3"


def test_legal_moves_are_sorted_as_strings():
    """A10 comes before A2."""
    rows = [[".", stone] for stone in "XXXOOOXXXO"]
    moves = gomoku_rules.legal_moves(position(rows))
    assert " ".join(map(vertex, moves)) == "A1 A10 A2 A3 A4 A5 A6 A7 A8 A9"


# --- readings ----------------------------------------------------------------------------------


def open_result(diagram):
    return is_underspecified(gomoku_rules.readings_result(position(board(diagram))))


def test_a_position_with_one_five_or_none_is_settled():
    five = "XXXXX ..... ..... ..... OOOO."
    assert not open_result(five)
    assert not open_result(five.replace("X", "O"))
    assert not open_result("..... ..... ..... ..... .....")
    assert not open_result("XXXXO OOOOX XXXXO OOOOX XXXXO")


def test_two_fives_are_underspecified():
    readings = gomoku_rules.readings_result(position(board("XXXXX ..... ..... ..... OOOOO")))
    assert readings == {"Black's five decides": "black", "White's five decides": "white"}


def test_a_full_board_with_a_five_is_underspecified():
    readings = gomoku_rules.readings_result(position(board("XXXXX OOOOX XXXXO OOOOX XXXXO")))
    assert readings == {"Black's five decides": "black", "a full board is a draw": "draw"}


@pytest.mark.parametrize(
    ("rows", "columns", "is_open"),
    [(4, 4, True), (4, 5, True), (5, 5, False), (19, 19, False), (20, 20, True)],
)
def test_boards_outside_the_documents_sizes_are_underspecified(rows, columns, is_open):
    now = position([["."] * columns for _ in range(rows)])
    assert is_underspecified(gomoku_rules.readings_result(now)) == is_open
    found = gomoku_rules.readings_result(now)
    assert found == {
        "nobody has five": "unknown",
        **({"no board of this size": ""} if is_open else {}),
    }
    moves = gomoku_rules.readings_legal_moves(now)
    assert moves.get("no board of this size") == ([] if is_open else None)
    if rows < 10:
        assert is_underspecified(moves) == is_open


@pytest.mark.parametrize("size", [9, 10, 19])
def test_the_order_of_legal_moves_is_open_from_size_10_on(size):
    now = position([["."] * size for _ in range(size)])
    readings = gomoku_rules.readings_legal_moves(now)
    assert is_underspecified(readings) == (size >= 10)
    names = ["sorted as strings", "sorted by letter, then number", "in any other order"]
    assert list(readings) == (names if size >= 10 else names[:1])
    by_number = sorted(now.grid.points(now.grid.full), key=lambda point: (point[1], point[0]))
    by_string = sorted(by_number, key=lambda point: (point[1], str(point[0] + 1)))
    orders = [by_string, by_number, by_number[::-1]]
    assert list(readings.values()) == (orders if size >= 10 else orders[:1])


# --- reasons -----------------------------------------------------------------------------------
