"""Many mutants at once: each answers as it does alone."""

from itertools import pairwise

import pytest

from harness.assignments import assignment as assignments
from harness.judging import in_process, shared_replay
from harness.judging.mutant_replay import RecordedConversation, Replayer, answers
from harness.reading import casefile
from harness.specifications import specification
from harness.specifications.record import reply_of
from oracle.mistakes import ASSIGNMENTS, Breakdown

# What mutants may do differently with what they share.
TEXTS = {
    "moves are taken back": (
        "go-scoring",
        "boardsize 5\nplay b c3\nplay w b3\n1 score\nundo\n2 score\nundo\n3 score\n"
        "play b a1\n4 score",
    ),
    "of two scores": ("go-scoring", "boardsize 5\nplay b c3\n1 score\n2 score\n3 score"),
    "new games": (
        "gomoku-rules",
        "boardsize 7\nplay b a1\nplay w a1\n1 gogui-rules_legal_moves\nclear_board\n"
        "2 gogui-rules_legal_moves\nboardsize 8\nplay w b2\n3 gogui-rules_final_result",
    ),
    "sequences": (
        "gomoku-rules",
        "boardsize 6\ngogui-play_sequence b a1 w b1 b a2 b a3 b a4 b a5\n"
        "1 gogui-rules_final_result\nundo\nundo\n2 gogui-rules_final_result\nplay b a4",
    ),
    "random moves": (
        "gomoku-policy",
        "boardsize 6\npolicy random\n1 policy_moves\ngenmove b\ngenmove w\n2 policy_moves\n"
        "policy rule_based\ngenmove b\n3 policy_moves\n4 genmove w\n5 policy_moves",
    ),
    "an end": ("java-go", "boardsize 5\nplay b c3\n1 score\nquit\n2 score"),
    "lines that name no command": ("java-go", "1\n2 3 score\nis_captured\n4 is_captured\n5 score"),
}


def assert_alike(case, assignment):
    """Compare with what each mutant answers alone."""
    shown = shared_replay.find_shown(case, specification(assignment).mistakes)
    found = {place: [] for place in shown}
    for told in shared_replay.answers(case, shown):
        for raw, bits in told.by_answer().items():
            for place in shown:
                found[place] += [(told.step, comparable(raw))] * (bits >> place & 1)
    assert shown
    for place, mistake in shown.items():
        alone = in_process.answers(case, in_process.mutant_engine(mistake))
        assert found[place] == [(step, comparable(raw)) for step, raw in alone], mistake


def comparable(raw):
    return repr(raw) if isinstance(raw, Breakdown) else raw


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_mutants_of_shipped_cases_answer_together_as_alone(assignment):
    cases = [casefile.read(str(path)) for path in assignments.find(assignment).public_cases()]
    for case in sorted(cases, key=lambda one: len(one.steps))[:4]:
        assert_alike(case, assignment)


@pytest.mark.parametrize(("assignment", "text"), TEXTS.values(), ids=TEXTS)
def test_mutants_answer_together_as_alone(assignment, text):
    assert_alike(casefile.parse(text.encode(), "x.gtp"), assignment)


@pytest.mark.parametrize(("assignment", "text"), TEXTS.values(), ids=TEXTS)
def test_a_mutant_with_several_mistakes_leaves_the_right_path_and_comes_back(assignment, text):
    steps = casefile.parse(text.encode(), "x.gtp").steps
    right = [raw for _, raw in in_process.replay(steps, in_process.mutant((), assignment))]
    replies = *map(reply_of, right), *[None] * (len(steps) - len(right))
    one = RecordedConversation(steps, replies, None, lambda index, reply: True)
    replayer = Replayer([one], assignment)
    mistakes = specification(assignment).mistakes
    for chosen in [*([alone] for alone in mistakes), *pairwise(mistakes)]:
        found = replayer._replay(0, frozenset(chosen))[1]
        alone = answers(one, in_process.mutant(chosen, assignment))
        assert [*map(comparable, found)] == [*map(comparable, alone)], chosen


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("genmove black", "genmove"),
        ("12 genmove black", "genmove"),
        ("12 34 genmove", ""),  # an engine takes 12 for the id, and 34 for the name
        ("12", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_command_is_the_one_that_an_engine_looks_up(line, name):
    assert shared_replay.command_name(line) == name


def test_of_one_question_at_the_end_mutants_are_asked_nothing_else(monkeypatch):
    asked, answer = [], in_process.answer

    def note(engine, text):
        asked.append(text)
        return answer(engine, text)

    monkeypatch.setattr(in_process, "answer", note)
    case = casefile.parse(b"boardsize 5\nplay b c3\nkomi 1\n1 score", "x.gtp")
    mistakes = specification("go-scoring").mistakes[:3]
    list(shared_replay.answers(case, dict(enumerate(mistakes))))
    assert asked == ["boardsize 5", "play b c3", "komi 1", *["1 score"] * 4]
