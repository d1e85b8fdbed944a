"""Engines that make several mistakes at once, drawn, and what their diagnosis says of them.

They are asked what a teacher asks: all case files that ship for the assignment, and some private
ones. A diagnosis is right when it names the very set that was drawn, or one that answers all of
:data:`SCRIPTS` further conversations in the same way: nobody could tell these apart.
"""

import random
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, settings

from harness.fuzzing.drawing import scripts
from harness.judging import in_process
from harness.judging.diagnosis import diagnoses
from harness.specifications import specification
from harness.vocabulary.script import lay_files
from oracle.mistakes import can_meet
from tests.harness.test_diagnosis import result_of

SCRIPTS = 2_000
RIGHT = ("drawn", "alike", "among")


class Judged(NamedTuple):
    """What a diagnosis says of a set of mistakes.

    ``word``: *drawn*, the set itself and no other; *alike*, one that behaves the same; *among*,
    the set or one alike is one of several named; *part*, some of its mistakes, said to explain
    only some of the failures; *silent*; *wrong*.
    """

    word: str
    seconds: float  # of the processor
    drawn: tuple[str, ...]
    told: str


def draw(assignment, size, count, seed=0):
    """Sets of mistakes of one bank that one engine can make, no two the same."""
    bank, generator = specification(assignment).settled_mistakes, random.Random(seed)
    found = {}
    while len(found) < count:
        chosen = generator.sample(bank, size)
        if can_meet(chosen):
            found[frozenset(chosen)] = tuple(chosen)
    return list(found.values())


def judge(mistakes, cases, memory=None, count=SCRIPTS):
    """Diagnose the engine that makes all of some mistakes."""
    assignment = mistakes[0].assignment
    files = [result_of(case, in_process.mutant(mistakes, assignment)) for case in cases]
    began = time.process_time()
    found = diagnoses(files, memory)
    seconds = time.process_time() - began
    sets = [chosen for one in found for chosen in one.sets]
    names = tuple(one.name for one in mistakes)
    word = _word(mistakes, sets, assignment, count)
    claims_part = any(one.failures < one.total for one in found)
    if word == "wrong" and claims_part and all(set(one) < set(mistakes) for one in sets):
        word = "part"
    return Judged(word, seconds, names, "; ".join(map(str, found)))


def _word(mistakes, sets, assignment, count):
    if not sets:
        return "silent"
    if any(set(chosen) == set(mistakes) for chosen in sets):
        return "drawn" if len(sets) == 1 else "among"
    if not any(behave_alike(chosen, mistakes, assignment, count) for chosen in sets):
        return "wrong"
    return "alike" if len(sets) == 1 else "among"


def behave_alike(some, others, assignment, count=SCRIPTS):
    """Whether two mutants answer further conversations in the same way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        both = (
            [answers(chosen, assignment, script, folder) for chosen in (some, others)]
            for script in further(assignment, count)
        )
        return all(one == other for one, other in both)


def answers(mistakes, assignment, script, folder):
    engine = in_process.mutant(mistakes, assignment).in_folder(str(folder))
    found = []
    lay_files(script, folder)
    for command in script.commands:
        try:
            found.append(engine.handle(command))
        except Exception as error:  # noqa: BLE001 - a mistaken program may fail in any way
            return [*found, type(error).__name__]
    return found


@cache
def further(assignment, count):
    """Conversations drawn as fuzzing draws them, the same in every run."""
    found = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(scripts(specification(assignment)))
    def take(script):
        found.append(script)

    take()
    return found
