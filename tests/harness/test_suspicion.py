"""Answers learnt by heart are reported; honest mistakes, and faults on one side, are not."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.records import Failure, FailureKind, Outcome, Reply, Verdict
from harness.grading.marks.marker import THRESHOLD, chance, fisher, pairs, suspicion
from harness.grading.records import IMAGE, PUBLIC, Attempt
from harness.judging.in_process import folder_of, mutant_engine
from harness.reading.casefile import parse
from harness.running.file_runner import not_run
from harness.specifications import specification
from oracle.mistakes import ASSIGNMENTS, MISTAKES
from tests.harness.image_runs import attempts, public_cases
from tests.harness.made_attempts import fault_of, result_of

SEEDS = ["one", pytest.param("two", marks=pytest.mark.slow)]


# --- the bank: no false alarm ---


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_right_engine_is_not_reported(assignment):
    found = attempts(assignment, lambda: specification(assignment).reference_engine(), "a secret")
    assert suspicion(found) is None
    assert chance(pairs(found)) == 1


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@pytest.mark.long(0.3)
def test_no_mistake_comes_near_the_threshold(assignment, seed):
    honest = [one for one in MISTAKES.values() if one.assignment == assignment]
    chances = [
        chance(pairs(attempts(assignment, lambda one=one: mutant_engine(one), seed)))
        for one in honest
    ]
    assert min(chances) > 0.5 > 10 * THRESHOLD


# --- lists of answers ---


class Heart:
    """An engine that looks answers up by the position, and does ``otherwise`` with any other."""

    def __init__(self, assignment, table, otherwise):
        self._right, self._table, self._otherwise = (
            specification(assignment).reference_engine(),
            table,
            otherwise,
        )
        self.session = self._right.session

    def in_folder(self, folder):
        self._right.in_folder(folder)
        return self

    def handle(self, line):
        text, number = self._number(line)
        key = self.key(text)
        raw = self._right.handle(line)
        if not number or key in self._table:
            return raw
        return self._otherwise(number, text)

    def learn(self, line):
        self._table.add(self.key(self._number(line)[0]))
        self._right.handle(line)

    def key(self, text):
        game, settings = self.session.game, getattr(self.session, "policy", "")
        position, komi = game.position, str(getattr(self.session, "komi", ""))
        stones = position.black, position.white, position.grid, game.to_play
        return stones, komi, settings, text

    @staticmethod
    def _number(line):
        first, _, rest = line.partition(" ")
        return (rest, first) if first.isdigit() else (line, "")


OTHERWISE = {
    "one answer": lambda number, text: f"={number} 0\n\n",
    "an error": lambda number, text: f"?{number} I do not know this\n\n",
}


def learn_by_heart(assignment):
    table = set()
    for case in public_cases(assignment):
        engine = Heart(assignment, table, None).in_folder(folder_of(case))
        for step in case.steps:
            engine.learn(step.text)
    return table


@pytest.mark.parametrize("otherwise", OTHERWISE)
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_a_list_of_answers_is_reported(assignment, otherwise):
    table = learn_by_heart(assignment)
    found = attempts(assignment, lambda: Heart(assignment, table, OTHERWISE[otherwise]), "secret")
    public = [
        one for attempt in found if attempt.kind == PUBLIC for one in attempt.result.outcomes
    ]
    assert {one.verdict for one in public} == {Verdict.PASSED}
    got = suspicion(found)
    assert got is not None
    assert got.chance < 0.008 < THRESHOLD
    assert got.tests <= len(public)
    assert got.tests <= got.images
    assert got.images / 4 < got.failed <= got.images
    assert "was answered right. Its variant" in got.example
    assert " turned or mirrored" in got.example.partition("Failed: ")[2]


# --- faults on one side ---


@pytest.mark.parametrize("kind", ["symmetry", "colors", "larger", "order"])
@pytest.mark.parametrize("assignment", sorted(set(ASSIGNMENTS) - {"gosensei"}))
def test_a_fault_that_shows_under_one_kind_of_change_is_not_reported(assignment, kind):
    number = ["symmetry", "colors", "larger", "order"].index(kind)
    found = attempts(assignment, lambda: specification(assignment).reference_engine(), "a secret")
    spoilt = [spoil(one, number) if one.kind == IMAGE else one for one in found]
    assert suspicion(spoilt) is None
    everything = spoilt
    for other in range(3):
        everything = [spoil(one, other) if one.kind == IMAGE else one for one in everything]
    assert suspicion(everything) is not None


def spoil(attempt, number):
    """The same attempt, with all images of one kind failed."""
    result = attempt.result
    outcomes = tuple(
        one._replace(verdict=Verdict.FAILED)
        if result.case.steps[one.step].id % 10 == number
        else one
        for one in result.outcomes
    )
    return attempt._replace(result=result._replace(outcomes=outcomes))


def test_an_engine_that_breaks_fails_the_test_under_way_and_no_other():
    case = parse(b"10 score\n#? [1]\n20 score\n#? [2]\n", "a.gtp")
    image = parse(b"10 score\n#? [1]\n30 score\n#? [1]\n31 score\n#? [1]\n", "a.gtp")
    died = Failure(FailureKind.DIED, "It died.", 1)
    outcomes = result_of("p--").outcomes
    own = Attempt("ada", PUBLIC, "a.gtp", result_of("pp")._replace(case=case))
    broken = result_of("p--")._replace(case=image, outcomes=outcomes, failures=(died,))
    found = list(pairs([own, Attempt("ada", IMAGE, "a.gtp", broken)]))
    assert [(p.kind, p.test.step.line, p.image.passed) for p in found] == [
        ("symmetry", 1, True),
        ("symmetry", 3, False),
    ]


def images_that_fail(tests, failed):
    """Return an attempt at images of three kinds of so many tests, of which so many fail."""
    lines = [
        f"{line * 10 + kind} score\n#? [right]\n"
        for kind in range(3)
        for line in range(1, 2 * tests, 2)
    ]
    case = parse("".join(lines).encode(), "a.gtp")
    wrong = Reply(True, "wrong", "= wrong", 0.0)
    outcomes = tuple(
        Outcome(step, Verdict.FAILED if step % tests < failed else Verdict.PASSED, wrong)
        for step in range(len(case.steps))
    )
    result = not_run(case)._replace(outcomes=outcomes, replies=(wrong,) * len(case.steps))
    return Attempt("ada", IMAGE, "a.gtp", result)


@pytest.mark.parametrize(
    ("tests", "failed", "is_told"),
    [(6, 5, True), (4, 4, False)],  # chances of 1/132 and of 1/70
)
def test_answers_are_suspected_from_a_chance_of_one_in_a_hundred(tests, failed, is_told):
    public = Attempt("ada", PUBLIC, "a.gtp", result_of("p" * tests))
    found = suspicion([public, images_that_fail(tests, failed)])
    assert (found is not None) is is_told


def test_only_public_tests_that_passed_are_counted():
    """Eight of ten pass; all images of all ten fail."""
    public = Attempt("ada", PUBLIC, "a.gtp", result_of("pppppppp" + "ff"))
    found = suspicion([public, images_that_fail(10, 10)])
    assert found is not None
    assert found[:3] == (8, 24, 24)
    assert found[-1].startswith("a.gtp:1, 'score', was answered right.")
    assert "Failed: 8 of 8 turned or mirrored, 8 of 8 with the colors exchanged," in found[-1]


def test_nothing_is_said_without_images_or_results():
    assert suspicion([]) is None
    assert suspicion([fault_of(), fault_of(kind=IMAGE)]) is None
    public = attempts("go-scoring", lambda: specification("go-scoring").reference_engine(), "s")
    assert suspicion([one for one in public if one.kind == PUBLIC]) is None


# --- the numbers ---


@given(st.integers(0, 5), st.integers(0, 5))
def test_fisher_counts_all_ways_to_draw(first, second):
    size = 5
    cards = range(2 * size)  # those from 5 on are images
    ways = list(combinations(cards, first + second))
    extreme = sum(sum(card >= size for card in hand) >= second for hand in ways)
    assert fisher(first, second, size) == pytest.approx(extreme / len(ways))
