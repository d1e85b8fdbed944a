"""Second opinions: which workers are trusted, and which ones lie."""

import pytest

from harness.cluster.results import ResultVotes
from harness.core.records import CaseFile, FileResult, Outcome, Verdict
from harness.work import canonical_json
from harness.work.records import NOTHING, AttemptFinished, HarnessFailed, Measurements


def report_verdicts(*verdicts, stderr=""):
    """What a worker tells of a case file with these verdicts."""
    outcomes = tuple(Outcome(step, one, None) for step, one in enumerate(verdicts))
    case = CaseFile("", (), ())
    result = FileResult(case, outcomes, (), (), (), 0, (), (), stderr, "", "", 0.0, 0.0)
    text = canonical_json.dumps(result)
    return AttemptFinished("basis", text, Measurements(), failed=False, doubtful=False)


RIGHT, WRONG, NEITHER = (
    report_verdicts(Verdict.PASSED),
    report_verdicts(Verdict.FAILED),
    report_verdicts(Verdict.NOT_RUN),
)


def hear_opinions(*said):
    """What is believed after several say something, each on a machine."""
    opinions = ResultVotes()
    return [opinions.add(f"tcp://{machine}", machine, word) for machine, word in said]


def test_one_opinion_is_not_enough_and_two_that_agree_are():
    other = report_verdicts(Verdict.PASSED, stderr="another number each time")
    first, second = hear_opinions(("a", RIGHT), ("b", other))
    assert first is None
    assert (second.word, second.liars, second.why) == (RIGHT, (), "")


@pytest.mark.parametrize(
    ("said", "believed", "liar"),
    [
        ((RIGHT, WRONG, RIGHT), RIGHT, "tcp://b"),
        ((WRONG, RIGHT, RIGHT), RIGHT, "tcp://a"),
    ],
)
def test_of_three_who_stands_alone_is_a_liar(said, believed, liar):
    verdicts = hear_opinions(*zip("abc", said, strict=True))
    assert verdicts[:2] == [None, None]
    assert verdicts[2].word == believed
    assert verdicts[2].liars == (liar,)
    assert "two others" in verdicts[2].why


@pytest.mark.parametrize("again", [("a", RIGHT), ("b", WRONG)])
def test_a_machine_that_agrees_with_itself_decides_nothing_against_another(again):
    (*_, verdict) = hear_opinions(("a", RIGHT), ("b", WRONG), again)
    assert isinstance(verdict.word, HarnessFailed)
    assert verdict.liars == ()
    assert "a, b" in verdict.why
    assert verdict.word == HarnessFailed("basis", verdict.why)


@pytest.mark.parametrize(("again", "believed"), [(("a", WRONG), WRONG), (("b", RIGHT), RIGHT)])
def test_what_both_of_two_machines_have_said_is_believed(again, believed):
    (*_, verdict) = hear_opinions(("a", RIGHT), ("b", WRONG), again)
    assert (verdict.word, verdict.liars) == (believed, ())
    assert "a, b" in verdict.why


def test_if_nobody_else_can_do_it_one_alone_is_believed_and_two_that_differ_are_not():
    opinions = ResultVotes()
    assert opinions.close("basis") is None
    opinions.add("tcp://a", "a", RIGHT)
    assert opinions.close("basis") == (RIGHT, (), "")
    opinions.add("tcp://b", "b", WRONG)
    assert isinstance(opinions.close("basis").word, HarnessFailed)


def test_nothing_agrees_with_nothing_alone():
    nothing = RIGHT._replace(result=NOTHING)
    assert hear_opinions(("a", nothing), ("b", nothing))[1].word == nothing
    assert hear_opinions(("a", nothing), ("b", WRONG))[1] is None


def test_where_nobody_agrees_it_is_run_again():
    (*_, verdict) = hear_opinions(("a", RIGHT), ("b", WRONG), ("c", NEITHER))
    assert verdict.liars == ()
    assert verdict.word.doubtful
