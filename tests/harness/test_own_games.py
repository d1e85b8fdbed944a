"""Games of one's own: fuzzing finds each wrong program, by a short script, and no right one."""

import random

import pytest

from tests.harness.own_games import GAMES, fuzzed, right, wrong

EXAMPLES = 3000
SHORT = 14  # commands

WRONG = [(game, name) for game in GAMES for name in wrong(game)]


@pytest.mark.long(1)
@pytest.mark.parametrize(("game", "name"), WRONG)
def test_each_wrong_program_is_found_by_a_short_script(game, name):
    random.seed(0)
    with fuzzed(game, wrong(game)[name], examples=EXAMPLES) as fuzzer:
        found = next(fuzzer.findings(), None)
    assert found is not None
    assert len(found.script.commands) <= SHORT


@pytest.mark.parametrize("game", GAMES)
def test_there_are_ten_wrong_programs_of_each(game):
    assert len(wrong(game)) == 10


@pytest.mark.long(2)
@pytest.mark.parametrize("game", GAMES)
def test_the_right_program_is_not_accused(game):
    random.seed(0)
    with fuzzed(game, right(game), examples=200) as fuzzer:
        assert list(fuzzer.findings()) == []
        assert fuzzer.unconfirmed == 0
