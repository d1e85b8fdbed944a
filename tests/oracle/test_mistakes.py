"""The bank of mistakes: told in sentences, each an engine, and no cost to the right one."""

import subprocess
import sys
from contextlib import suppress

import pytest

from oracle import mistakes
from oracle.gtp import new_engine
from oracle.mistakes import MISTAKES, OPEN, Crash, Hang, mistaken_engine

EACH = pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)


def ask_mistaken(name, *commands):
    """The replies of an engine that makes a mistake, without marks and empty lines."""
    engine = mistaken_engine(mistakes.find_mistake(name), playouts=0)
    return [engine.handle(command)[1:].strip() for command in commands]


def test_there_are_enough_and_no_two_share_a_name():
    assert sum(len(shelf.mistakes) for shelf in mistakes._SHELVES) == len(MISTAKES) >= 60
    assert {one.assignment for one in MISTAKES.values()} == set(mistakes.ASSIGNMENTS)


@EACH
def test_it_is_the_right_engine_but_for_some_commands(mistake):
    right = new_engine(mistakes.ASSIGNMENTS[mistake.assignment])
    before = dict(right.commands)
    wrong = mistaken_engine(mistake)
    different = {name for name in before if wrong.commands[name] is not before[name]}
    assert different == set(mistake.commands) != set()
    assert set(wrong.commands) == set(before)
    assert wrong.session.commands is wrong.commands
    again = new_engine(mistakes.ASSIGNMENTS[mistake.assignment])
    assert again.commands == before, "the right engine's own table was changed"
    other = mistaken_engine(mistake)
    assert wrong.commands.memory is not other.commands.memory
    assert wrong.session is not other.session


@EACH
def test_it_breaks_down_on_purpose_only(mistake):
    engine = mistaken_engine(mistake, playouts=0)
    for name in (*mistake.commands, "gogui-play_sequence"):
        for arguments in ("", " b", " b a1", " x y z"):
            with suppress(Hang, Crash):
                engine.handle(name + arguments)


SHARED = ["boardsize 3", "komi 0", "play b a1", "play b b1", "play w c1", "score"]
# X O . : the seven empty points touch both colors.


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("neutral-points-to-white", "W+5"),
        ("neutral-points-to-black", "B+7"),
        ("neutral-points-to-first-neighbor", "B+7"),
        ("stones-not-counted", "0"),
        ("colors-exchanged", "W+1"),
        ("komi-twice", "B+1"),
    ],
)
def test_scores_by_hand(name, score):
    assert ask_mistaken(name, *SHARED)[-1] == score


def test_komi_mistakes_by_hand():
    def score(name):
        return ask_mistaken(name, "boardsize 2", "komi 1.5", "play b a1", "play b b2", "score")[-1]

    right = "B+2.5"  # four points
    wrong = {"komi-to-black": "B+5.5", "komi-twice": "B+1", "komi-ignored": "B+4"}
    assert {name: score(name) for name in wrong} == wrong
    assert score("komi-cut-to-whole") == "B+3"
    assert score("integer-division") == "B+2"
    assert score("minus-sign") == right


RESULT = "gogui-rules_final_result"


@pytest.mark.parametrize("rule", ["nobody-wins", "five-seen-from-its-end-only", "only-rows"])
def test_fives_by_hand(rule):
    last_in_the_middle = ["boardsize 7", *(f"play b c{n}" for n in (1, 2, 4, 5, 3)), RESULT]
    assert ask_mistaken(rule, *last_in_the_middle)[-1] == "unknown"


ROWS = ("BBWWB", "WWBBW", "BBWWB", "WWBBW", "BBWWB")  # no five
FULL = [f"play {color} {column}{row}" for row, line in enumerate(ROWS, 1)
        for column, color in zip("abcde", line, strict=True)]  # fmt: skip


def test_the_point_of_a_ko_may_not_count():
    """Black takes B1 with A1; the point is Black's, and after White's next move it counts."""
    ko = ["boardsize 4", "komi 0", *(f"play {m}" for m in ("w a2", "w b1", "b b2", "b c1"))]
    later = [*ko, "play b a1", "score", "play w d4", "score"]
    right = new_engine("go")
    assert [right.handle(one)[2:].strip() for one in later][-3::2] == ["B+3", "B+2"]
    assert ask_mistaken("ko-point-not-counted", *later)[-3::2] == ["B+2", "B+2"]


CRASHES = {
    "result-crashes-on-empty-board": ([], RESULT),
    "genmove-crashes-on-empty-board": ([], "genmove b"),
    "genmove-crashes-on-full-board": (FULL, "genmove b"),
    "crash-on-a-full-board": (FULL, "policy_moves"),
    "crash-before-policy": ([], "policy_moves"),
}


@pytest.mark.parametrize("name", CRASHES)
def test_crashes_by_hand(name):
    stones, question = CRASHES[name]
    with pytest.raises(Crash):
        ask_mistaken(name, "boardsize 5", *stones, question)
    otherwise = FULL[:3] if stones or "empty" in name else ["policy random"]
    ask_mistaken(name, "boardsize 5", *otherwise, question)


def test_it_may_hang_or_crash():
    with pytest.raises(Hang):
        ask_mistaken("fill-never-ends-on-empty-board", "score")
    with pytest.raises(Crash):
        ask_mistaken("is-captured-reads-past-column-0", "is_captured a1")


# --- as a program ------------------------------------------------------------------------------


def program(*options, text=""):
    return subprocess.run(
        [sys.executable, "-m", "oracle", "gtp", *options],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.processes
def test_the_list_has_every_name_with_its_sentence():
    run = program("--mistake", "list")
    assert run.returncode == 0
    for one in MISTAKES.values():
        assert any(
            line.split()[:1] == [one.name]
            and one.sentence in line
            and line.endswith(OPEN) is one.is_open
            for line in run.stdout.splitlines()
        )


@pytest.mark.processes
def test_a_crash_is_one():
    run = program("--mistake", "is-captured-reads-past-column-0", text="is_captured a1\nname\n")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "Index -1 out of bounds\n"


@pytest.mark.processes
def test_a_hang_is_one():
    words = [sys.executable, "-m", "oracle", "gtp", "--mistake", "fill-never-ends-on-empty-board"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"name\nscore\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"= gtp-oracle\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.kill()
