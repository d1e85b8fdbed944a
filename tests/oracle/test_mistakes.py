"""The bank of mistakes: told in sentences, each an engine, and no cost to the right one."""

import subprocess
import sys

import pytest

from oracle import mistakes
from oracle.gtp import new_engine
from oracle.mistakes import MISTAKES, OPEN, Crash, Hang, mistaken_engine

EACH = pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)


def asked(name, *commands):
    """The replies of an engine that makes a mistake, without marks and empty lines."""
    engine = mistaken_engine(mistakes.named(name), playouts=0)
    return [engine.handle(command)[1:].strip() for command in commands]


def test_there_are_enough_and_no_two_share_a_name():
    shelves = mistakes._SHELVES
    assert sum(len(module.SHELF.mistakes) for module in shelves) == len(MISTAKES) >= 60
    assert {one.assignment for one in MISTAKES.values()} == set(mistakes.ASSIGNMENTS)


def test_no_two_have_one_sentence_in_an_assignment():
    told = [(one.assignment, one.sentence) for one in MISTAKES.values()]
    assert len(set(told)) == len(told)


@EACH
def test_it_has_a_sentence(mistake):
    assert mistake.sentence.startswith("As if ")
    assert mistake.sentence.endswith(".")
    assert len(mistake.sentence) < 110


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


@EACH
def test_two_engines_with_it_share_nothing(mistake):
    one, other = mistaken_engine(mistake), mistaken_engine(mistake)
    assert one.commands.memory is not other.commands.memory
    assert one.session is not other.session


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
    assert asked(name, *SHARED)[-1] == score


def test_komi_mistakes_by_hand():
    def score(name):
        return asked(name, "boardsize 2", "komi 1.5", "play b a1", "play b b2", "score")[-1]

    right = "B+2.5"  # four points
    wrong = {"komi-to-black": "B+5.5", "komi-twice": "B+1", "komi-ignored": "B+4"}
    assert {name: score(name) for name in wrong} == wrong
    assert score("komi-cut-to-whole") == "B+3"
    assert score("integer-division") == "B+2"
    assert score("minus-sign") == right


def five(*more):
    return ["boardsize 7", *(f"play b {x}3" for x in "abcde"), *more]


RESULT = "gogui-rules_final_result"


@pytest.mark.parametrize("rule", ["nobody-wins", "five-seen-from-its-end-only", "only-rows"])
def test_fives_by_hand(rule):
    last_in_the_middle = ["boardsize 7", *(f"play b c{n}" for n in (1, 2, 4, 5, 3)), RESULT]
    assert asked(rule, *last_in_the_middle)[-1] == "unknown"


def test_a_winner_is_told_once():
    assert asked("winner-not-remembered", *five(RESULT, RESULT))[-2:] == ["black", "unknown"]


def test_a_row_goes_on_at_the_other_edge():
    wrapped = ["boardsize 5", *(f"play b {v}" for v in ("c1", "d1", "e1", "a2", "b2")), RESULT]
    assert asked("wrap-around-the-edge", *wrapped)[-1] == "black"


THREES = {
    # X.OOO.. and .OO.O. with Black to play
    "third-block-lost": (["b a4", "w c4", "w d4", "w e4"], "BlockOpenFour B4 F4"),
    "split-three-gap-alone": (["w b4", "w c4", "w e4"], "BlockOpenFour D4"),
    "split-three-not-seen": (["w b4", "w c4", "w e4"], "Random"),
    "ends-of-split-three-listed": (["b b4", "b d4", "b e4"], "OpenFour A4 C4 F4"),
    "one-end-blocked": (["w b4", "w c4", "w d4", "w e4"], "BlockWin A4"),
    "edge-as-empty": (["b a4", "b b4", "b c4"], "OpenFour D4"),
    "random-where-block-exists": (["w c4", "w d4", "w e4"], "Random"),
}


@pytest.mark.parametrize("name", THREES)
def test_policies_by_hand(name):
    stones, expected = THREES[name]
    setup = ["boardsize 7", "policy rule_based", *(f"play {stone}" for stone in stones)]
    answer = asked(name, *setup, "gogui-setup_player b", "policy_moves")[-1]
    if expected == "Random":
        assert answer.startswith("Random ")
    else:
        assert answer == expected


def test_it_may_hang_or_crash():
    with pytest.raises(Hang):
        asked("fill-never-ends-on-empty-board", "score")
    with pytest.raises(Crash):
        asked("is-captured-reads-past-column-0", "is_captured a1")


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
def test_one_can_be_run_as_an_engine():
    run = program("--mistake", "komi-to-black", text="boardsize 2\nkomi 3.5\nscore\nquit\n")
    assert run.stdout.split() == ["=", "=", "=", "B+3.5", "="]


@pytest.mark.processes
def test_its_game_is_that_of_its_assignment():
    run = program("--mistake=two-eyes-divided-by-two", text="twoeyes\nquit\n")
    assert run.stdout.startswith("= There are 0 two eye for blacks.")


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
def test_an_unknown_name_is_refused():
    run = program("--mistake", "none-such")
    assert (run.returncode, run.stdout) == (2, "")
    assert "no mistake 'none-such'; --mistake list shows all" in run.stderr


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


@pytest.mark.processes
def test_the_right_engine_imports_none_of_it():
    code = "from oracle.gtp import new_engine as n; n('gomoku'); import sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not [name for name in run.stdout.split() if name.startswith("oracle.mistakes")]
