"""Pruned scripts have less of a script and nothing else; the simplest has what matters alone."""

from __future__ import annotations

from random import Random

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness.fuzzing.drawing import legal, scripts
from harness.fuzzing.fuzzer import prune_scripts
from harness.specifications import specification
from harness.vocabulary.script import Script, join_scripts, name_of
from oracle.mistakes import ASSIGNMENTS

ANY = st.sampled_from(tuple(ASSIGNMENTS)).flatmap(
    lambda name: scripts(specification(name), length=4)
)
FIND = settings(
    database=None,
    deadline=None,
    max_examples=100,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def shortest(script, is_wanted, **more):
    return hypothesis.find(
        prune_scripts(script, **more), is_wanted, settings=FIND, random=Random(0)
    )


def is_subsequence(few, many):
    rest = iter(many)
    return all(one in rest for one in few)


# A script is large: to make a failing one small would take minutes.
@settings(deadline=None, phases=(Phase.reuse, Phase.generate))
@given(st.data())
def test_nothing_is_added(data):
    script = data.draw(ANY)
    grain = data.draw(st.sampled_from((1, 4, 16)))
    less = data.draw(prune_scripts(script, grain, moves=data.draw(st.booleans())))
    assert is_subsequence(map(name_of, less.commands), map(name_of, script.commands))
    assert sum(map(len, less.commands)) <= sum(map(len, script.commands))
    # File by file: the last line of one may have no end, and the first to be named may change.
    assert len(less.files) <= len(script.files)
    for _, text in less.files:
        wholes = (whole.splitlines() for _, whole in script.files)
        assert any(is_subsequence(text.splitlines(), whole) for whole in wholes)


SCRIPT = Script(
    (
        *("boardsize 19", "komi 6.5", "play B Q16", "play W D4", "score", "clear_board"),
        *("gogui-setup B C3 W C4 B D5", "play W E5", "komi 0.5", "score"),
    )
)


@pytest.mark.parametrize("name", sorted(set(map(name_of, SCRIPT.commands))))
def test_a_single_command_is_left_when_it_alone_matters(name):
    small = shortest(SCRIPT, lambda one: name in map(name_of, one.commands))
    assert [name_of(one) for one in small.commands] == [name]


def test_stones_of_a_set_up_are_left_out_one_by_one():
    small = shortest(SCRIPT, lambda one: any("W C4" in command for command in one.commands))
    assert small.commands == ("gogui-setup W C4",)


def test_lines_of_files_are_left_out_and_the_file_is_named_by_its_text():
    script = Script(
        ("load_board board-1.txt", "eyes"), (("board-1.txt", "b a 1\nb b 2\nw c 3\n"),)
    )
    small = shortest(script, lambda one: any("b b 2" in text for _, text in one.files))
    ((name, text),) = small.files
    assert text == "b b 2\n"
    assert small.commands == (f"load_board {name}",)


def test_the_board_gets_small_and_all_points_go_into_the_corner(tmp_path):
    def is_wanted(one):
        left = legal(one, specification("go-scoring"), tmp_path).commands
        return sum(command.startswith("play") for command in left) == 2

    script = Script(("boardsize 19", "komi 0", "play B Q16", "play W R17", "score"))
    small = shortest(shortest(script, is_wanted), is_wanted, moves=True)
    assert small.commands == ("boardsize 2", "play B A1", "play W B2")


def test_what_lies_at_the_far_edges_stays_there_when_the_board_gets_small(tmp_path):
    def is_wanted(one):
        return legal(one, specification("go-scoring"), tmp_path).commands in FAR

    script = Script(("boardsize 9", "play B J9", "play W A8"))
    small = shortest(script, is_wanted, moves=True)
    assert small.commands == ("boardsize 2", "play B B2", "play W A1")


# The upper right corner, and the left edge a row below, on every board.
FAR = [
    (f"boardsize {size}", f"play B {'ABCDEFGHJ'[size - 1]}{size}", f"play W A{size - 1}")
    for size in range(2, 10)
]


def test_a_conversation_is_one_script_with_the_files_of_all():
    one = Script(("is_valid a.txt",), (("a.txt", "b a 1\n"),))
    other = Script(("eyes", "is_valid b.txt"), (("b.txt", ""),))
    both = join_scripts([one, other])
    assert both.commands == ("is_valid a.txt", "eyes", "is_valid b.txt")
    assert dict(both.files) == {"a.txt": "b a 1\n", "b.txt": ""}
