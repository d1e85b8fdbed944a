"""Images of public tests: right by the oracle, and the same questions by another reckoning."""

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.assignments.assignment import find
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.attempt_plan import PlannedCase
from harness.grading.attempts.variants import image_of, origin, reorder
from harness.grading.records import IMAGE, PUBLIC
from harness.judging.in_process import folder_of, is_exact, is_underspecified
from harness.reading import casefile
from harness.specifications import specification
from harness.specifications.record import reply_of
from harness.vocabulary.transformations import (
    COLORS,
    KINDS,
    LARGER,
    ORDER,
    SYMMETRY,
    Transformation,
    draw,
)
from oracle.gtp import new_engine
from oracle.mistakes import ASSIGNMENTS
from oracle.position import grid, parse_vertex
from oracle.symmetry import ALL
from tests.harness.image_runs import attempt, images, public_cases
from tests.tiers import long_if


def image(text, assignment="go-scoring", seed="secret"):
    own = specification(assignment)
    return image_of(casefile.parse(text.encode(), "a.gtp"), own, seed)


def list_tests(case):
    return [step for step in case.steps if step.is_test]


# --- all that ships ---


@pytest.mark.parametrize(
    ("seed", "folder"),
    [("a secret", "."), long_if(True, "a secret", "thorough", seconds=0.5)],
)
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_oracle_passes_all_images_of_what_ships(assignment, seed, folder):
    found = images(assignment, seed, folder)
    assert found
    for _, image in found:
        result = attempt(image, specification(assignment).reference_engine(), IMAGE).result
        assert {one.verdict.value for one in result.outcomes} == {"passed"}
        assert all(reply.ok for reply in result.replies)
        assert len(result.outcomes) == len({step.id for step in list_tests(image)})


# gosensei is about Black's eyes on 9 by 9; in gomoku-policy colors take turns and Black begins.
FITTING = {"gosensei": {SYMMETRY, ORDER}, "gomoku-policy": {SYMMETRY, LARGER, ORDER}}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_most_tests_have_images_of_every_kind_that_fits(assignment):
    exact = {
        (case.path, step.line)
        for case in public_cases(assignment)
        for step in list_tests(case)
        if is_exact(step.command, specification(assignment))
        and not step.command.startswith("is_valid")
    }
    fitting = FITTING.get(assignment, set(KINDS))
    having = {kind: set() for kind in KINDS}
    for case, image in images(assignment, "a secret"):
        for step in list_tests(image):
            having[origin(step).kind].add((case.path, origin(step).line))
    for kind in KINDS:
        share = len(having[kind] & exact) / len(exact)
        assert (share > 0.45) if kind in fitting else share == 0


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_image_asks_what_its_original_asks_and_nothing_that_is_left_open(assignment):
    for case, image in images(assignment, "a secret"):
        originals = {step.line: step.command.split() for step in list_tests(case)}
        engine = specification(assignment).reference_engine(folder_of(case))
        for step in image.steps:
            if step.is_test:
                assert not is_underspecified(engine, step.command)
                original, words = originals[origin(step).line], step.command.split()
                assert (words[0], len(words)) == (original[0], len(original))
            engine.handle(step.text)


def test_a_seed_makes_an_image_and_another_seed_another():
    assert images.__wrapped__("go-scoring", "a secret") == images("go-scoring", "a secret")
    assert images("go-scoring", "x") != images("go-scoring", "a secret")


def test_a_komi_that_is_set_later_does_not_reach_the_images_before_it():
    found = image(
        "play b a1\n7 score\n#? [B\\+361]\nkomi 6.5\n8 score\n#? [B\\+354\\.5]\n", seed=""
    )
    engine = new_engine("go", playouts=0)
    replies = [(step, reply_of(engine.handle(step.text))) for step in found.steps]
    tests = [(step, reply) for step, reply in replies if step.is_test]
    assert len({step.id % 10 for step, _ in tests}) > 1
    assert all(re.fullmatch(step.pattern.expression, reply.text) for step, reply in tests)


# --- any case file ---

VERTICES = st.builds("{}{}".format, st.sampled_from("abcdeg"), st.integers(1, 6))
COLOR = st.sampled_from(["b", "w", "Black", "WHITE"])
PLAYS = st.builds("play {} {}".format, COLOR, VERTICES)
SETUPS = st.builds("gogui-setup {} {} {} {}".format, COLOR, VERTICES, COLOR, VERTICES)
FRESH = st.one_of(st.just("clear_board"), st.integers(3, 9).map("boardsize {}".format))
KOMI = st.sampled_from(["komi 0", "komi 6.5", "komi -3"])
POLICY = st.sampled_from(["policy random", "policy rule_based"])
ASKED = {
    "go": st.sampled_from(["score"]),
    "gomoku": st.sampled_from(
        ["policy_moves", "gogui-rules_final_result", "gogui-rules_legal_moves", "genmove b"]
    )
    | PLAYS,
    "gosensei": st.sampled_from(["eyes", "twoeyes", "eyespaces", "display"]),
    "java-go": st.builds("is_legal {} {}".format, COLOR, VERTICES)
    | st.builds("can_play {} {}".format, COLOR, VERTICES)
    | VERTICES.map("is_captured {}".format)
    | COLOR.map("score {}".format)
    | st.just("is_over"),
}
OTHERS = {"go": [KOMI], "gomoku": [POLICY], "gosensei": [SETUPS], "java-go": [SETUPS]}


@pytest.mark.parametrize("game", ASKED)
@settings(max_examples=40)
@given(st.data(), st.text("ab", max_size=3))
def test_the_oracle_passes_the_images_of_any_case_file(game, data, seed):
    plain = st.one_of(PLAYS, PLAYS, PLAYS, FRESH, *OTHERS[game])
    questions = ASKED[game].map("7 {}\n#? [.*]".format)
    lines = data.draw(st.lists(plain | questions, max_size=40))
    assignment = {"go": "go-scoring", "gomoku": "gomoku-policy"}.get(game, game)
    found = image("\n".join(lines) + "\n", assignment, seed)
    if found is None:
        return
    engine = new_engine(game, playouts=0)
    for step in found.steps:
        reply = reply_of(engine.handle(step.text))
        assert reply.ok
        assert not step.is_test or re.fullmatch(step.pattern.expression, reply.text)
    wanted = "\n".join(lines).split("\n")
    for step in list_tests(found):
        assert wanted[origin(step).line - 1].split()[1] == step.command.split()[0]


# --- the same answer, by another reckoning ---


def replay_stones(case, until):
    """The stones and the komi before a test, by a referee of its own."""
    rows, komi = None, 0.0
    for step in case.steps:
        name, *words = step.command.split()
        if step.line == until:
            return rows, komi
        if name == "boardsize":
            size = int(words[0])
        elif name == "clear_board":
            rows = [[0] * size for _ in range(size)]
        elif name == "komi":
            komi = float(words[0])
        elif name == "play" and words[1].lower() != "pass":
            color = 1 if words[0][0] in "bB" else 2
            row, column = parse_vertex(words[1], size, size)
            rows = naive_play(rows, color, size - 1 - row, column)
    raise AssertionError(until)


def naive_play(rows, color, row, column):
    """Put a stone and take what has no liberty, by the naive rules of the oracle's own tests."""
    rows = [list(line) for line in rows]
    rows[row][column] = color
    for other in (3 - color, color):
        for group in groups(rows, other):
            if not any(rows[r][c] == 0 for point in group for r, c in around(rows, *point)):
                for r, c in group:
                    rows[r][c] = 0
    return rows


def around(rows, row, column):
    near = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
    return [(r, c) for r, c in near if 0 <= r < len(rows) and 0 <= c < len(rows[0])]


def groups(rows, color):
    left = {(r, c) for r, line in enumerate(rows) for c, x in enumerate(line) if x == color}
    while left:
        group, frontier = set(), {left.pop()}
        while frontier:
            group |= frontier
            frontier = {p for q in frontier for p in around(rows, *q) if p in left}
            left -= frontier
        yield group


def area(rows):
    """Black's area less White's: stones, and regions that touch one color only."""
    points = {1: sum(line.count(1) for line in rows), 2: sum(line.count(2) for line in rows)}
    for region in groups(rows, 0):
        touched = {rows[r][c] for point in region for r, c in around(rows, *point)} - {0}
        if len(touched) == 1:
            points[touched.pop()] += len(region)
    return points[1] - points[2]


def test_scores_of_images_are_those_of_a_referee_on_paper():
    count = 0
    for _, image in images("go-scoring", "a secret"):
        for step in list_tests(image):
            rows, komi = replay_stones(image, step.line)
            lead = area(rows) - komi
            text = "0" if not lead else f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"
            assert re.fullmatch(step.pattern.expression, text)
            count += 1
    assert count > 40


def test_symmetry_keeps_a_score_and_an_exchange_of_colors_turns_it_round():
    for case, image in images("go-scoring", "a secret"):
        originals = {step.line: step.pattern.text for step in list_tests(case)}
        for step in list_tests(image):
            kind, line = origin(step)
            text = originals[line]
            if kind in (SYMMETRY, ORDER):
                assert step.pattern.text == text
            if kind == COLORS:
                assert step.pattern.text == text.translate(str.maketrans("BW", "WB"))


# --- what has no image ---


def test_what_follows_a_move_of_the_engine_s_own_has_no_image():
    text = "boardsize 7\nclear_board\nplay b a1\n{}10 gogui-rules_side_to_move\n#? [white]\n"
    assert image(text.format(""), "gomoku-policy") is not None
    assert image(text.format("genmove w\n"), "gomoku-policy") is None
    assert image(text.format("undo\n"), "gomoku-policy") is None
    again = "genmove w\nboardsize 7\nclear_board\nplay b b1\n"
    assert image(text.format(again), "gomoku-policy") is not None


def test_what_the_change_leaves_as_it_was_is_no_image():
    text = "boardsize 5\nclear_board\nkomi 6.5\n10 score\n#? [W\\+6\\.5]\n"
    kinds = {origin(step).kind for step in list_tests(image(text))}
    assert kinds == {COLORS, LARGER}


def test_unreliable_tests_and_inexact_commands_have_no_image():
    text = "boardsize 5\nclear_board\nkomi 1\nplay b a1\n10 score\n#? [B\\+24]{}\n"
    assert image(text.format("")) is not None
    assert image(text.format("*")) is None
    asks = "boardsize 5\nclear_board\nplay b a1\n10 genmove b\n#? [.*]\n"
    assert image(asks, "gomoku-policy") is None


def test_a_capture_that_is_none_on_a_larger_board_ends_the_scene():
    text = "boardsize 3\nclear_board\nkomi 0\nplay w c3\nplay b b3\nplay b c2\nplay b c3\n"
    found = image(f"{text}10 score\n#? [B\\+9]\n")
    kinds = {origin(step).kind for step in list_tests(found)}
    assert {SYMMETRY, COLORS} <= kinds
    assert LARGER not in kinds


def test_boards_of_files_are_set_up_by_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "square.txt").write_text("0 1 0\n0 2 0\n0 0 0\n")
    (tmp_path / "wide.txt").write_text("0 1 0\n0 2 0\n")
    text = "load_board {}.txt\n10 is_legal white B3\n#? [false]\n"
    found = image(text.format("square"), "java-go")
    assert not any(step.command.startswith("load_board") for step in found.steps)
    assert {origin(step).kind for step in list_tests(found)} == {SYMMETRY, COLORS, LARGER}
    assert image(text.format("wide"), "java-go") is None


def test_boards_lie_beside_the_case_file_wherever_a_class_is_graded(tmp_path):
    (tmp_path / "square.txt").write_text("0 1 0\n0 2 0\n0 0 0\n")
    text = b"load_board square.txt\n10 is_legal white B3\n#? [false]\n"
    case = PlannedCase(PUBLIC, "a.gtp", text, str(tmp_path / "a.gtp"))
    (found,) = attempt_plan.images(find("java-go"), [case], "secret")
    assert (found.kind, found.name, found.path) == (IMAGE, "a.gtp", case.path)
    assert b"load_board" not in found.content


def test_settings_outlive_a_board_in_an_image_too():
    text = "komi 2\nboardsize 3\nclear_board\nplay b a1\n10 score\n#? [B\\+7]\n"
    found = image(text)
    by_kind = {origin(step).kind: step.pattern.text for step in list_tests(found)}
    assert by_kind[SYMMETRY] == r"B\+7(\.0)?"
    assert by_kind[COLORS] == r"W\+7(\.0)?"
    text = "boardsize 7\nclear_board\nplay b a1\n10 policy_moves\n#? [.*]\n"
    assert "policy random" in [step.command for step in image(text, "gomoku-policy").steps]


# --- one command ---


@pytest.mark.parametrize(
    ("change", "command", "wanted"),
    [
        (Transformation(SYMMETRY, symmetry=1), "play b a1", "play b e1"),
        (Transformation(SYMMETRY, symmetry=2), "play BLACK A1", "play BLACK A5"),
        (Transformation(SYMMETRY, symmetry=4), "play W pass", "play W pass"),
        (Transformation(SYMMETRY, symmetry=1), "play B a9", "play B a9"),  # not on the board
        (Transformation(SYMMETRY, symmetry=1), "gogui-setup B A1 W B2", "gogui-setup B E1 W D2"),
        (Transformation(COLORS), "play b a1", "play w a1"),
        (Transformation(COLORS), "play WHITE a1", "play BLACK a1"),
        (Transformation(COLORS), "komi 6.5", "komi -6.5"),
        (Transformation(COLORS), "komi 0.0", "komi 0.0"),
        (Transformation(COLORS), "score black", "score white"),
        (Transformation(LARGER, growth=2), "play b e5", "play b e5"),
    ],
)
def test_a_command_is_translated_word_by_word(change, command, wanted):
    assert change.command(command, grid(5)) == wanted


@given(st.randoms(use_true_random=False))
def test_another_order_keeps_colors_stones_and_the_rest(random):
    given_ = ["komi 1", "play b a1", "play w b1", "play b c1", "score", "play w d1"]
    got = reorder(given_, random)
    assert [c.rpartition(" ")[0] for c in got] == [c.rpartition(" ")[0] for c in given_]
    assert sorted(got) == sorted(given_)
    assert reorder(["gogui-setup b a1 w b1"], random)[0] in (
        "gogui-setup b a1 w b1",
        "gogui-setup w b1 b a1",
    )


def test_in_another_order_a_test_has_the_board_of_its_original():
    """Each play is a test here; after the first one the board is another."""
    text = "boardsize 5\nclear_board\n10 play b a1\n#? []\n20 play b b1\n#? []\n"
    found = [image(text, "gomoku-rules", str(seed)) for seed in range(10)]
    tests = [origin(step) for one in found for step in list_tests(one)]
    assert {one.line for one in tests if one.kind == ORDER} == {5}
    assert {one.line for one in tests if one.kind == SYMMETRY} == {3, 5}


def test_nothing_is_drawn_where_a_kind_does_not_fit():
    random = Random(0)
    assert draw(LARGER, grid(19), random) is None
    assert draw(LARGER, grid(18), random).growth == 1
    assert draw(SYMMETRY, grid(2, 3), random) is None
    assert draw(LARGER, grid(11), random, usual=11) is None  # a game is played on no other
    assert draw(LARGER, grid(9), random, usual=11) is not None
    drawn = {draw(SYMMETRY, grid(5), random).symmetry for _ in range(200)}
    assert drawn == set(ALL) - {0}
