"""Mixed mistakes, drawn: the diagnosis names the right set for most, and never a wrong mistake.

``python -m tests.benchmarks diagnosis`` draws hundreds from each bank, asks private tests as well
and looks at what behaves alike; here a few pairs are drawn from each; triples in the slow tier.
"""

from collections import Counter
from functools import partial

import pytest

from harness.core.records import Verdict
from harness.judging import diagnosis, in_process
from harness.judging.diagnosis import diagnoses
from oracle.mistakes import ASSIGNMENTS
from tests.harness.mixed import RIGHT, behave_alike, draw, judge
from tests.harness.test_diagnosis import public, read_shipped_cases, result_of

pytestmark = pytest.mark.long(20)

PAIRS, TRIPLES = 3, 5


@pytest.mark.parametrize(
    ("size", "count", "floor"),
    [(2, PAIRS, 0.8), pytest.param(3, TRIPLES, 0.8, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_set_that_was_drawn_is_named(assignment, size, count, floor):
    memory = {}
    judged = [
        judge(mistakes, read_shipped_cases(assignment), memory, count=300)
        for mistakes in draw(assignment, size, count, seed=20)
    ]
    words = Counter(one.word for one in judged)
    assert sum(words[word] for word in RIGHT) >= floor * count, judged
    assert max(one.seconds for one in judged) < 5


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_what_explains_everything_answers_everything_alike(assignment):
    """Computed anew, from the public tests alone: few, and many sets look the same to them."""
    memory, explained = {}, 0
    for mistakes in draw(assignment, 2, 3, seed=22):
        files = files_of(mistakes, assignment)
        for found in diagnoses(files, memory):
            for chosen in found.sets if found.failures == found.total else ():
                assert answers(files_of(chosen, assignment)) == answers(files)
                explained += 1
    assert explained


def files_of(mistakes, assignment):
    """The results of the engine that makes all of some mistakes."""
    return [
        result_of(case, in_process.mutant(mistakes, assignment)) for case in public(assignment)
    ]


def answers(files):
    """The verdicts, and the wrong answers: a right one may be written in several ways."""
    return [
        (one.verdict, one.verdict is Verdict.FAILED and one.reply.ok and one.reply.text.lower())
        for file in files
        for one in file.outcomes
    ]


@pytest.mark.parametrize("count", [1, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_of_a_mistake_that_the_bank_lacks_nothing_else_is_said(assignment, count, monkeypatch):
    """Other mistakes together would often explain the few failures, and be a wrong trail."""
    real, memory = diagnosis._candidates, {}
    for (mistake,) in draw(assignment, 1, count, seed=22):
        others = partial(_without, mistake, real)
        monkeypatch.setattr(diagnosis, "_candidates", others)
        for found in diagnoses(files_of([mistake], assignment), memory):
            assert behave_alike(found.sets[0], [mistake], assignment, 100), (mistake, found)


def _without(mistake, candidates, specification):
    return ([one for one in each if one is not mistake] for each in candidates(specification))
