"""Which answers count as the same, against a table by hand and against each other's views."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.records import Reply
from harness.judging import in_process
from harness.reading.pattern import matcher
from harness.specifications import NAMES, specification
from oracle.mistakes import ASSIGNMENTS


def reply(text, *, ok=True):
    """Return a reply with a text."""
    return Reply(ok, text, f"{'=' if ok else '?'} {text}", 0.0)


# assignment, command, the oracle's answer, answers that are the same, answers that are not
TABLE = [
    ("go-scoring", "score", "B+4", ["B+4.0"], ["B+40", "B+4.00", "W+4", "b+4", "B+4.", "B+4.5"]),
    ("go-scoring", "score", "W+14.5", [], ["W+14.50", "W+14", "W+14.5.0", "W+1405", "W-14.5"]),
    ("go-scoring", "score", "0", [], ["0.0", "B+0", "W+0", "", "B+0.0"]),
    ("go-scoring", "play b a1", "", ["played"], []),
    ("go-scoring", "known_command undo", "true", ["false"], []),
    ("go-scoring", "protocol_version", "2", [], ["1", "2.0"]),
    ("go-scoring", "name", "gtp-oracle", ["Go1"], []),
    (
        "gomoku-rules",
        "play C A1",
        'illegal move: "C" wrong color',
        ['illegal move: "c" wrong color', 'Illegal move: "C" wrong color'],
        ['illegal move: "C A1" wrong color', "illegal move: C wrong color", ""],
    ),
    ("gomoku-rules", "play b a1", "", [], ["ok"]),
    ("gomoku-rules", "gogui-rules_legal_moves", "a1 b2", ["A1 B2"], ["b2 a1", "a1", "[a1 b2]"]),
    ("gomoku-rules", "gogui-rules_legal_moves", "", [], ["[]", "a1"]),
    ("gomoku-rules", "gogui-rules_final_result", "black", [], ["Black", "white", "b"]),
    ("gomoku-rules", "gogui-rules_side_to_move", "white", [], ["w", "black"]),
    ("gomoku-rules", "genmove b", "A1", ["c7", "T19"], ["i1", "pass", "resign", "", "a26"]),
    ("gomoku-rules", "genmove b", "resign", [], ["pass", "a1"]),
    ("gomoku-rules", "gogui-rules_board", ".X", ["anything"], []),
    (
        "gomoku-policy",
        "policy_moves",
        "Win E4",
        ["win e4", "WIN E4"],
        ["Win E4 E5", "Win"],
    ),
    ("gomoku-policy", "policy_moves", "", [], ["Random", "Random a1"]),
    (
        "gosensei",
        "twoeyes",
        "There are 2 two eye for blacks.",
        [],
        [
            "There are 2 two eyes for black.",
            "There are 2 two eye for blacks",
            "there are 2 two eye for blacks.",
        ],
    ),
    ("gosensei", "display", "1 +-b\n \n  A B", ["1 +-b\n   \n  A B"], ["1 +-b\n  A B", "1 +-b"]),
    ("gosensei", "is_valid f", "true", [], ["True", "false", "yes"]),
    ("java-go", "score black", "8", [], ["8.0", "B+8", "08"]),
    ("java-go", "is_legal b a1", "true", [], ["1", "True"]),
    ("java-go", "can_play b a1", "false", [], ["true"]),
]


@pytest.mark.parametrize(("assignment", "command", "right", "alike", "others"), TABLE)
def test_the_same_answers_and_others(assignment, command, right, alike, others):
    answer = reply(right)
    matches = matcher(in_process.expression(command, answer, specification(assignment)))
    samples = in_process.forms(command, answer, specification(assignment))
    assert samples[0] == right
    for text in [*samples, *alike]:
        assert in_process.same(command, answer, reply(text), specification(assignment)), text
        assert matches(text), text
    for text in others:
        assert not in_process.same(command, answer, reply(text), specification(assignment)), text
        assert not matches(text), text


_EXACT = [(name, command) for name in NAMES for command in specification(name).forms]


@given(
    st.sampled_from(_EXACT),
    st.sampled_from([row[2] for row in TABLE]),
    st.text("BWbw+-0.14aA \n[]", max_size=8) | st.sampled_from([row[2] for row in TABLE]),
)
def test_expression_and_comparison_agree_on_any_text(which, right, text):
    assignment, command = which
    right, text = right.strip(), text.strip()
    matches = matcher(in_process.expression(command, reply(right), specification(assignment)))
    if in_process.is_exact(command, specification(assignment)):
        same = in_process.same(command, reply(right), reply(text), specification(assignment))
        assert bool(matches(text)) is same


def test_errors_are_errors_whatever_they_say():
    broken = reply("illegal move", ok=False)
    assert in_process.same("play b a1", broken, reply("no", ok=False), specification("java-go"))
    assert not in_process.same("play b a1", broken, reply(""), specification("java-go"))
    assert not in_process.same(
        "score", reply("0"), reply("0", ok=False), specification("go-scoring")
    )
    assert in_process.same(
        "undo", reply(""), reply("unknown command", ok=False), specification("go-scoring")
    )
    with pytest.raises(ValueError, match=r"^the right answer to .play b a1. is an error: "):
        in_process.expression("play b a1", broken, specification("java-go"))


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_every_command_named_is_the_oracles(assignment):
    assert set(specification(assignment).forms) <= set(
        specification(assignment).reference_engine().commands
    )


@pytest.mark.parametrize(
    ("command", "assignment", "exact"),
    [
        ("score", "go-scoring", True),
        ("genmove b", "gomoku-rules", False),
        ("reg_genmove b", "gomoku-rules", False),
        ("name", "java-go", False),
        ("boardsize 7", "go-scoring", False),
        ("play b a1", "go-scoring", False),
        ("play b a1", "gomoku-rules", True),
        ("policy_moves", "gomoku-rules", False),
        ("policy_moves", "gomoku-policy", True),
        ("known_command score", "go-scoring", True),
        ("known_command", "go-scoring", False),
        ("", "go-scoring", False),
    ],
)
def test_exact_is_what_the_position_determines(command, assignment, exact):
    assert in_process.is_exact(command, specification(assignment)) is exact


FIVE = [f"play b {letter}3" for letter in "ABCDE"]

# set up on 7 by 7; command; whether the document leaves its answer open
OPEN = [
    ([], "play b i1", True),
    ([], "play b a0", True),
    ([], "play b nonsense", True),
    ([], "play b a8", False),
    ([], "play x i1", False),
    ([], "play b", True),
    (["play b a1"], "play w a1", False),
    ([], "genmove b", False),
    (FIVE, "gogui-rules_final_result", False),
    (FIVE, "genmove w", False),
    (FIVE, "genmove b", True),
    (FIVE, "play w a1", True),
    (FIVE, "play w a3", False),
    (FIVE, "play w a8", False),
    ([*FIVE, "play w a1"], "gogui-rules_final_result", True),
    ([*FIVE, "play w a1"], "gogui-rules_side_to_move", True),
    ([*FIVE, "play w a1", "clear_board"], "gogui-rules_final_result", False),
    (["boardsize 4"], "gogui-rules_final_result", True),
    (["boardsize 4"], "play b a1", True),
    (["boardsize 10"], "gogui-rules_legal_moves", True),
    (["boardsize 9"], "gogui-rules_legal_moves", False),
]


@pytest.mark.parametrize(("setup", "command", "is_open"), OPEN)
def test_what_the_document_leaves_open(setup, command, is_open):
    engine = specification("gomoku-rules").reference_engine()
    for line in ["boardsize 7", *setup]:
        assert engine.handle(line).startswith("=")
    assert in_process.is_underspecified(engine, command) is is_open
