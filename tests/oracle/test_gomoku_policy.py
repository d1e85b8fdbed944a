"""The policy's moves: the documents' examples, and the definition on thousands of positions."""

from collections import Counter
from random import Random

import pytest

from oracle.answers import gomoku_policy
from oracle.draw import Diagram, draw_text
from oracle.explanation import is_underspecified
from oracle.position import BLACK, WHITE, vertex
from oracle.rules import gomoku as rules
from oracle.rules.gomoku import completing, fives
from tests.oracle import gomoku_definition as definition
from tests.oracle.gomoku_boards import board, points, position, random_board
from tests.tiers import long_if

# Document, section; the position with X to play; type and moves.
EXAMPLES = [
    ("gomoku-policy.txt, BlockWin: OO.OO can be blocked by OOXOO", "OO.OO", "BlockWin C1"),
    ("gomoku-policy.txt, BlockWin: .OOOO. cannot be stopped", ".OOOO.", "BlockWin A1 F1"),
    (
        "gomoku-policy.txt, BlockWin: more than one open four on the board",
        ".OOOO. ...... .OOOO.",
        "BlockWin A1 A3 F1 F3",
    ),
    ("gomoku-policy.txt, OpenFour: .X.XX.", ".X.XX.", "OpenFour C1"),
    ("gomoku-policy.txt, OpenFour: .XXX..", ".XXX..", "OpenFour E1"),
    ("gomoku-policy.txt, BlockOpenFour: ..OOO..", "..OOO..", "BlockOpenFour B1 F1"),
    ("gomoku-policy.txt, BlockOpenFour: .OO.O. all three", ".OO.O.", "BlockOpenFour A1 D1 F1"),
    ("gomoku-policy.txt, BlockOpenFour: X.OOO.. all three", "X.OOO..", "BlockOpenFour B1 F1 G1"),
    ("gomoku-policy.txt, Random: ..XXXO is no rule's", "..XXXO", "Random A1 B1"),
    ("settled, BlockOpenFour: |.OOO..", ".OOO..", "BlockOpenFour A1 E1 F1"),
    ("settled, Win: completes five or more", "XXX.XXX", "Win D1"),
    ("settled, OpenFour: what lies beyond does not matter", "O.XXX..O", "OpenFour F1"),
    ("settled, OpenFour: the empty neighbours are points of the board", ".XXX.", "Random A1 E1"),
    (
        "settled, BlockOpenFour: all threes united",
        "..OOO.. ....... ....... ....... .OO.O..",
        "BlockOpenFour A1 B5 D1 F1 F5",
    ),
    ("settled: only the first type with any move", ".XXXX. ...... .OOOO.", "Win A3 F3"),
    ("settled: the game is over by a five", "XXXXX.O", ""),
    ("settled: the game is over by a full board", "XO OX", ""),
    (
        "settled: sorted as strings",
        "OX OX OX XO XO XO OX OX .. .. ..",
        "Random A1 A2 A3 B1 B2 B3",
    ),
    (
        "settled: sorted as strings (A1 A10 A2)",
        ".X .O OX OX XO OX XO .. .. ..",
        "Random A1 A10 A2 A3 A9 B1 B2 B3",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("diagram", "reply"), [example[1:] for example in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
class TestExamples:
    def test_answer(self, diagram, reply):
        kind, moves = gomoku_policy.policy_moves(position(board(diagram)), BLACK)
        assert " ".join([kind, *map(vertex, moves)]) == reply

    def test_answer_for_white(self, diagram, reply):
        """The document: "All the examples above are given for X to play. However, your code
        should work for both players."
        """
        swapped = diagram.translate(str.maketrans("XO", "OX"))
        kind, moves = gomoku_policy.policy_moves(position(board(swapped)), WHITE)
        assert " ".join([kind, *map(vertex, moves)]) == reply

    def test_definition(self, diagram, reply):
        """The slow definition is itself held to the documents."""
        kind, moves = definition.policy_moves(board(diagram), "X")
        assert " ".join([kind, *sorted(map(vertex, moves))]) == reply


def test_random_policy_considers_every_empty_point():
    """gomoku-policy.txt, policy_moves: "If playout policy is set to random ..." """
    answer = gomoku_policy.policy_moves(position(board("XXXX.O.")), BLACK, "random")
    assert answer == ("Random", points("E1 G1"))
    assert gomoku_policy.policy_moves(position(board("XXXXX.")), WHITE, "random") == ("", [])
    assert gomoku_policy.policy_moves(position(board("XO")), WHITE, "random") == ("", [])


def rule_results(stones, others, shape):
    """Return the moves of each rule, by itself: the oracle's."""
    empty = shape.full & ~(stones | others)
    return [
        set(shape.points(mask))
        for mask in (
            completing(shape, stones, empty),
            rules.open_fours(shape, stones, empty),
            rules.open_four_blocks(shape, stones, empty),
        )
    ]


SHAPES = [(5, 5), (7, 7), (12, 1), (6, 11), (2, 9), long_if(True, 19, 19)]


@pytest.mark.parametrize(("height", "width"), SHAPES)
def test_every_rule_equals_its_definition(height, width):
    """Each rule by itself for both colors, whatever the others say."""
    random = Random(f"policy {height} {width}")
    for _ in range(min(100, 10_000 // (height * width))):
        rows = random_board(random, height, width)
        now = position(rows)
        for color, stone in ((BLACK, "X"), (WHITE, "O")):
            stones, others = now.stones(color), now.stones(3 - color)
            expected = [
                definition.wins(rows, stone),
                definition.open_fours(rows, stone),
                definition.open_four_blocks(rows, stone),
            ]
            assert rule_results(stones, others, now.grid) == expected, now
            assert bool(fives(now.grid, stones)) == definition.has_five(rows, stone), now
            kind, moves = gomoku_policy.policy_moves(now, color)
            assert (kind, set(moves)) == definition.policy_moves(rows, stone), now


def test_the_positions_are_of_all_types():
    """The comparison above means little unless every type occurs often in its positions."""
    random = Random("policy (9, 9)")
    rows = [random_board(random, 9, 9) for _ in range(400)]
    types = Counter(gomoku_policy.policy_moves(position(r), BLACK)[0] for r in rows)
    assert set(types) == {*rules.TYPES, ""}
    assert min(types.values()) >= 10


# --- readings ----------------------------------------------------------------------------------


def test_letter_reading_of_two_threes_is_the_point_that_stops_both():
    rows = board("....... ....... ....... .O..... .O..... .O..... ..OOO..")
    readings = gomoku_policy.readings_policy_moves(position(rows), BLACK)
    assert readings == {
        "every three on its own": ("BlockOpenFour", points("B1 B5 B6 F1")),
        "no open four left": ("BlockOpenFour", points("B1")),
    }


def test_letter_reading_without_a_move_falls_through_to_random():
    rows = board(".OO.O. ...... .OO.O.")
    readings = gomoku_policy.readings_policy_moves(position(rows), BLACK)
    assert readings["every three on its own"] == ("BlockOpenFour", points("A1 A3 D1 D3 F1 F3"))
    kind, moves = readings["no open four left"]
    assert kind == "Random"
    assert set(moves) == definition.empty_points(rows)
    assert is_underspecified(readings)


@pytest.mark.long(1)
def test_readings_differ_where_one_block_leaves_another_open_four():
    """Recomputed by playing each block; the difference is common among positions with blocks."""
    random = Random(11)
    differing = blocking = 0
    for _ in range(500):
        rows = random_board(random, 9, 9)
        kind, moves = definition.policy_moves(rows, "X")
        readings = gomoku_policy.readings_policy_moves(position(rows), BLACK)
        if kind != "BlockOpenFour":
            assert not is_underspecified(readings)
            continue
        left = [p for p in moves if definition.open_fours(definition.after(rows, p, "X"), "O")]
        assert is_underspecified(readings) == bool(left)
        blocking += 1
        differing += bool(left)
    assert 0.03 < differing / blocking < 0.5


# --- reasons -----------------------------------------------------------------------------------


def test_explain_open_four():
    """The window ``.XXXX.`` that the move makes is marked."""
    answer = gomoku_policy.explain_policy_moves(position(board(".X.XX.")), BLACK)
    assert answer.text == (
        "Nobody can win at once. "
        "C1 makes the open four B1, C1, D1 and E1 between the empty points A1 and F1."
    )
    assert draw_text(Diagram(position(board(".X.XX.")), marks=answer.marks), unicode=False) == (
        "    A  B  C  D  E  F\n 1  -  X* +  X* X* -   1\n    A  B  C  D  E  F"
    )


def test_explain_block_of_a_three_with_two_completions():
    answer = gomoku_policy.explain_policy_moves(position(board("..OOO..")), BLACK)
    assert answer.text == (
        "Nobody can win at once and Black cannot make an open four, but White could. "
        "B1 turns the three C1, D1 and E1 into an open four between A1 and F1, and F1 into one "
        "between B1 and G1; B1 and F1 can block it."
    )
    marks = {"A1": "-", "B1": "+", "C1": "*", "D1": "*", "E1": "*", "F1": "+", "G1": "-"}
    assert {vertex(p): mark for p, mark in answer.marks.items()} == marks


def test_reasons_mark_the_moves_and_no_others():
    """On random positions: ``+`` on the moves, ``*`` on stones, ``-`` on empty points."""
    random = Random(5)
    for _ in range(400):
        rows = random_board(random, 8, 8)
        now = position(rows)
        kind, moves = gomoku_policy.policy_moves(now, BLACK)
        if not kind:
            continue
        marks = gomoku_policy.explain_policy_moves(now, BLACK).marks
        assert {p for p, mark in marks.items() if mark == "+"} == set(moves)
        assert {definition.text(rows, [p]) for p, mark in marks.items() if mark == "-"} <= {"."}
        owner = "X" if kind in ("Win", "OpenFour") else "O"
        assert {definition.text(rows, [p]) for p, mark in marks.items() if mark == "*"} <= {owner}
