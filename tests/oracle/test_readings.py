"""Other readings of the documents: each differs where the oracle says so, and nowhere else."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from oracle.assignments import ASSIGNMENTS, engine_for
from oracle.readings import READINGS

TABLE = (Path(__file__).parents[2] / "cases/README.md").read_text().partition("| left open |")[2]
FIVE = [f"play b {column}1" for column in "abcde"]
# X X . X X at the bottom of 5 by 5, and no other five: C1 makes one and fills the board.
ALMOST_FULL = [
    f"play {color} {'abcde'[column]}{row}"
    for row, colors in enumerate(("BBWBB", "BWBBW", "BBWWB", "WWBBW", "BBWWB"), 1)
    for column, color in enumerate(colors)
    if (row, column) != (1, 2)
]
FULL_WITH_FIVE = ["boardsize 5", *ALMOST_FULL, "play b c1"]
DRAWN = ["boardsize 5", *(
    f"play {'bbww'[(c + 2 * r) % 4]} {'abcde'[c]}{r + 1}" for r in range(5) for c in range(5)
)]  # fmt: skip
THREES = ["boardsize 9", "policy rule_based"]
for place, black in enumerate(["c5", "d5", "e5", "c2", "d2", "e2"]):
    THREES += [f"play b {black}", f"play w {['a1', 'a9', 'j1', 'a5', 'j9', 'j5'][place]}"]
THREES.append("play b g7")
EYES_FAR = "gogui-setup B A2 B B1 B B2 B H1 B H2 B J2"

# The commands before one that a reading answers otherwise, and that one.
SHOWN = {
    "one-letter-colors": ["boardsize 7", "play black a1"],
    "errors-in-small-letters": ["boardsize 7", "play C a1"],
    "errors-in-capitals": ["boardsize 7", "play c a1"],
    "odd-coordinates-fail": ["boardsize 7", "play b i1"],
    "odd-coordinates-ignored": ["boardsize 7", "play b a0"],
    "column-i-is-column-j": ["boardsize 9", "play b i1"],
    "boards-under-5-refused": ["boardsize 4"],
    "full-board-is-a-draw": [*FULL_WITH_FIVE, "gogui-rules_final_result"],
    "full-board-is-passed": [*FULL_WITH_FIVE, "genmove w"],
    "winner-resigns": ["boardsize 7", *FIVE, "genmove b"],
    "winner-moves-on": ["boardsize 7", *FIVE, "genmove b"],
    "no-move-after-the-end": ["boardsize 7", *FIVE, "play w a7"],
    "last-five-wins": [
        *("boardsize 7", *FIVE, *(f"play w {column}7" for column in "abcde")),
        "gogui-rules_final_result",
    ],
    "pass-ends-a-turn": [*DRAWN, "genmove w", "gogui-rules_side_to_move"],
    "no-turn-after-the-end": [*DRAWN, "genmove b", "gogui-rules_side_to_move"],
    "sorted-by-letter-and-number": ["boardsize 10", "gogui-rules_legal_moves"],
    "sorted-by-rows-from-10": ["boardsize 10", "gogui-rules_legal_moves"],
    "moves-in-turn-only": ["boardsize 7", "play w a1"],
    "moves-are-the-side-to-moves": ["boardsize 7", "play w a1", "gogui-rules_side_to_move"],
    "turn-by-number-of-stones": [
        *("boardsize 7", "play b a1", "play b b1", "play w c1", "gogui-rules_side_to_move"),
    ],
    "blocks-stop-every-open-four": [*THREES, "policy_moves"],
    "two-eyes-in-rows-and-columns": [EYES_FAR, "twoeyes"],
    "single-points-are-no-spaces": ["gogui-setup B A2 B B1 B B2", "eyespaces"],
    "diagonals-connect": ["gogui-setup B A3 B B3 B C2 B C1", "eyespaces"],
    "diagonals-connect-around-two-points": ["gogui-setup B A3 B B3 B C2 B C1", "eyespaces"],
    "ko-only-if-the-board-repeats": [
        "boardsize 5",
        # Black's D1 takes C1, and White's C1 would take back D1 and B1.
        "gogui-setup B C2 B A2 B B1 B A1 W C1 W D2 W E1 W B2 W A3",
        "play b d1",
        "can_play w c1",
    ],
}
# What is right in every form, to the oracle as well: the comparison takes them for the same.
FORMS = {
    "ids-not-repeated": ["10 boardsize 7"],
    "whole-numbers-with-a-fraction": ["boardsize 3", "komi 0", "play b a1", "score"],
    "policy-in-small-letters": ["boardsize 7", "policy_moves"],
}
# The document lets nobody come where it would show, or the engine chooses by dice.
NEVER_SHOWN = {"komi-for-one-board", "plays-what-stops-every-open-four"}
ERRORS = {"errors-in-small-letters", "errors-in-capitals"}  # their case, which nobody compares


def ask_all(engine, commands):
    return [engine.handle(command) for command in commands]


def test_the_table_of_what_is_left_open_names_all_of_them():
    rows = [line for line in TABLE.splitlines() if line.startswith("| ")]
    named = [name for row in rows for name in re.findall(r"`([a-z0-9-]{6,})`", row.split("|")[3])]
    assert sorted(named) == sorted(READINGS)


def test_each_is_shown_by_something():
    assert {*SHOWN, *FORMS, *NEVER_SHOWN} == set(READINGS)


@pytest.mark.parametrize("name", SHOWN)
def test_it_differs_where_the_oracle_says_that_the_answer_is_open(name):
    reading, (*before, last) = READINGS[name], SHOWN[name]
    for assignment in reading.assignments:
        right, other = engine_for(assignment, playouts=0), reading.engine(assignment, playouts=0)
        ask_all(right, before)
        ask_all(other, before)
        is_open = right.handle(f"oracle-readings {last}").startswith("= underspecified")
        assert is_open is (name not in ERRORS)
        assert right.handle(last) != other.handle(last)


@pytest.mark.parametrize("name", FORMS)
def test_other_forms_of_an_answer_differ_in_nothing_else(name):
    reading = READINGS[name]
    for assignment in reading.assignments:
        right = ask_all(engine_for(assignment), FORMS[name])
        other = ask_all(reading.engine(assignment), FORMS[name])
        assert right[:-1] == other[:-1]
        assert right[-1] != other[-1]


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_it_has_a_sentence_and_leaves_the_right_engine_alone(reading):
    assert reading.sentence.endswith(".")
    assert set(reading.assignments) <= set(ASSIGNMENTS)
    for assignment in reading.assignments:
        before = dict(engine_for(assignment).commands)
        assert set(reading.engine(assignment).commands) == set(before)
        assert engine_for(assignment).commands == before


# --- what only one of two documents about one game leaves open ---------------------------------


@pytest.mark.parametrize(
    ("commands", "in_rules", "in_policy"),
    [
        (["play w a1"], False, True),
        (["play b a1"], False, False),
        (["play b a1", "play b a2"], False, True),
        (["play b a1", "play w a2", "play b a3"], False, False),
        (["genmove w"], False, True),
        (["genmove b", "genmove w"], False, False),
        (["play w a1", "gogui-rules_final_result"], False, True),
        (["play w a1", "policy_moves"], True, True),
        (["play w a1", "undo", "policy_moves"], False, False),
        (["play w a1", "clear_board", "policy_moves"], False, False),
    ],
)
def test_who_plays_out_of_turn(commands, in_rules, in_policy):
    for assignment, expected in (("gomoku-rules", in_rules), ("gomoku-policy", in_policy)):
        engine = engine_for(assignment, playouts=0)
        *before, last = commands
        ask_all(engine, ["boardsize 7", *before])
        found = engine.handle(f"oracle-readings {last}").startswith("= underspecified")
        assert found is expected, assignment


# --- the program -------------------------------------------------------------------------------


def program(*words, text=""):
    command = [sys.executable, "-m", "oracle", "gtp", *words]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.mark.processes
def test_the_program_reads_otherwise():
    run = program("--reading", "one-letter-colors", "--game", "gomoku",
                  text="1 boardsize 7\nplay black a1\n")  # fmt: skip
    assert run.stdout == '=1 \n\n= illegal move: "black" wrong color\n\n'
    run = program("--reading=ids-not-repeated", text="10 boardsize 7\n20 play x a1\n")
    assert run.stdout == "= \n\n? syntax error\n\n"
