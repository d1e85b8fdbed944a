"""Remarks on what was seen of a declaration, without a reference."""

import tomllib

import pytest

from harness.declared.declaration import Declaration, DeclaredCommand, Kind
from harness.declared.remarks import Matter, Note, notes
from harness.declared.trial import Observations

QUESTIONS = ("winner", "result", "victor", "outcome", "leader", "champion")
ASKS = Declaration(commands=tuple(DeclaredCommand(name, Kind.ASKS) for name in QUESTIONS))


@pytest.fixture
def seen():
    seen = Observations(QUESTIONS)
    for tally in seen.tallies.values():
        tally.asked = 1
    return seen


def over_of(seen):
    (text,) = [one.text for one in notes(seen, ASKS) if one.matter is Matter.GAME]
    return tomllib.loads(text.partition("does that end a game? ")[2])["over"]


def test_of_several_questions_that_name_a_result_it_is_the_first_declared(seen):
    for tally in seen.tallies.values():
        tally.texts.update(["black", "none"])
    text = 'winner says black: does that end a game? over = { ask = "winner", is = … }'
    assert notes(seen, ASKS) == [Note("", Matter.GAME, text)]


@pytest.mark.parametrize(
    ("replies", "pattern"),
    [(["yes"], "yes"), (["W+3", "B+1"], r"B\+1|W\+3"), (['"over"'], '"over"')],
)
def test_the_end_of_a_game_is_proposed_as_a_pattern_of_the_replies(seen, replies, pattern):
    seen.moves_after = {("winner", reply): [4, 0] for reply in replies}
    seen.moves_after["winner", "open"] = [0, 4]
    assert over_of(seen) == {"ask": "winner", "is": pattern}
