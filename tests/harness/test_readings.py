"""Nobody is accused wrongly: no case that ships, is generated or drawn asks what is left open.

For each thing that a document leaves open there is an engine that reads it the other way
(:mod:`oracle.readings`). It passes all case files, and fuzzing finds nothing in it.
"""

from pathlib import Path

import pytest
from hypothesis import settings

from harness.cli import main
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.drawing import DRAW, find, scripts
from harness.generating import scene_production
from harness.generating.scene_production import Stage
from harness.judging import in_process
from harness.reading import casefile, suite
from harness.reading.dialect import find_dialect
from harness.specifications import specification
from oracle.mistakes import ASSIGNMENTS, MISTAKES
from oracle.readings import READINGS
from tests.harness.in_process import start_fuzzer
from tests.tiers import one_in

ROOT = Path(__file__).parents[2]
SECRETS = [1, pytest.param(10, marks=pytest.mark.slow)]
EXAMPLES = 8  # conversations for each reading

_DRAW = settings(DRAW, max_examples=15)


def engines(assignment):
    """Return what starts each engine that reads an assignment otherwise, by its name.

    Mistakes that show only where the answer is open are such readings as well.
    """
    found = {
        one.name: (lambda one=one: one.engine(assignment, playouts=0))
        for one in READINGS.values()
        if assignment in one.assignments
    }
    return found | {
        one.name: (lambda one=one: in_process.mutant_engine(one))
        for one in MISTAKES.values()
        if one.assignment == assignment and one.is_open
    }


BOTH = [(assignment, name) for assignment in ASSIGNMENTS for name in engines(assignment)]
EACH = pytest.mark.parametrize(("assignment", "name"), BOTH)
EVERY = pytest.mark.parametrize("assignment", ASSIGNMENTS)


def list_accused(assignment, paths):
    """Return the tests that some engine fails which reads the assignment otherwise."""
    found = []
    for path in paths:
        case = casefile.read(str(path))
        for name, start in engines(assignment).items():
            bad = in_process.failing_lines(case, start(), find_dialect("gogui"))
            found += [f"{path}:{line}: {name}" for line in sorted(bad)]
    return found


@EVERY
def test_no_case_that_ships_asks_what_is_left_open(assignment):
    assert list_accused(assignment, suite.expand([str(ROOT / "cases" / assignment)])) == []


def test_a_case_that_asks_it_would_be_noticed(tmp_path):
    """The check is not blind."""
    path = tmp_path / "asks.gtp"
    path.write_text("boardsize 7\nplay w a1\n10 gogui-rules_side_to_move\n#? [black]\n")
    assert list_accused("gomoku-policy", [path]) == [
        f"{path}:3: moves-are-the-side-to-moves",
        f"{path}:3: turn-by-number-of-stones",
    ]


@pytest.mark.long(3)
@EVERY
@pytest.mark.parametrize("count", SECRETS)
def test_private_sets_do_not_ask_it_either(assignment, count, tmp_path, monkeypatch, capsys):
    # What makes a set strong, or counts what it catches, takes time and asks nothing else.
    monkeypatch.setattr(
        scene_production, "Stage", lambda specification, _: Stage(specification, ())
    )
    monkeypatch.setattr(scene_production, "_ROUNDS", 0)
    monkeypatch.setattr(scene_production, "FROM_NOTHING", 1)
    paths = []
    for number in range(count):
        monkeypatch.setenv("SECRET_OF_THE_COURSE", f"correct horse battery {number}")
        paths.append(tmp_path / f"{number}.gtp")
        words = ("--assignment", assignment, "--secret", "env:SECRET_OF_THE_COURSE", "-n", "60")
        assert main(["generate", *words, "-o", str(paths[-1])]) in {
            0,
            1,
        }  # 1: fewer tests than asked for
    capsys.readouterr()
    assert len({path.read_text() for path in paths}) == count
    assert list_accused(assignment, paths) == []


@pytest.mark.long(1)
@pytest.mark.parametrize(("assignment", "name"), one_in(8, BOTH))
def test_fuzzing_finds_nothing_in_it(assignment, name):
    with start_fuzzer(
        engines(assignment)[name], assignment, examples=EXAMPLES, seed=len(name)
    ) as fuzzer:
        assert list(fuzzer.findings()) == []
        assert fuzzer.unconfirmed == 0


@pytest.mark.long(1)
def test_what_is_drawn_names_colors_by_one_letter(tmp_path):
    """Of all five assignments: the course's starter knows no others."""

    for assignment in ASSIGNMENTS:
        said = set()

        def hear(script, said=said):
            said.update(word.lower() for one in script.commands for word in one.split()[1:])
            return False

        judge = judge_of(specification(assignment), tmp_path)
        find(scripts(specification(assignment)), hear, judge.cut_to_allowed, _DRAW, 0)
        assert said, assignment
        assert not said & {"black", "white"}, assignment
