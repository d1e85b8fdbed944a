"""What an engine takes long for is asked rarely, and told; what is fast is asked as drawn."""

import pytest

from harness.core.records import Reply
from harness.fuzzing.search import Costs
from harness.specifications import specification
from harness.vocabulary.script import Script, Trace
from oracle.command_properties import STANDARD
from tests.harness.in_process import InProcess, start_fuzzer

GAME = ("boardsize 5", "genmove b", "genmove w", "gogui-rules_final_result")


def trace(commands, **seconds):
    """An engine's replies to commands; seconds by the command's name, or hardly any."""
    times = [seconds.get(one.partition(" ")[0], 0.001) for one in commands]
    replies = [Reply(True, "", "= ", taken) for taken in times]
    return Trace(Script(tuple(commands)), tuple(replies))


def costs_after(**seconds):
    costs = Costs(STANDARD)
    costs.note(trace(("name", *GAME), **seconds), is_first=True)
    return costs


def list_affordable(costs, elapsed, commands=GAME):
    (script,) = costs.affordable([Script(tuple(commands))], elapsed)
    return list(script.commands)


def test_of_what_was_never_asked_one_of_each_is_asked():
    """GNU Go takes a second for each final_score, and was sent a hundred before one was timed."""
    kept = Costs(STANDARD).affordable([Script(GAME)] * 3, 0)
    assert kept[0].commands == ("boardsize 5", "genmove b", "gogui-rules_final_result")
    assert [len(one.commands) for one in kept] == [3, 1, 1]


@pytest.mark.parametrize("slow", [{"score": 1}, {"play": 3}])
def test_set_up_is_never_left_out_nor_are_questions_where_all_are_slow(slow):
    asked = ("boardsize 5", "play b a1", "score", "score")[: 3 + ("score" in slow)]
    costs = Costs(STANDARD)
    costs.note(trace(asked, **slow))
    assert list_affordable(costs, 0, asked) == [*asked]


def test_fast_commands_are_asked_as_drawn():
    assert list_affordable(costs_after(), 0) == list(GAME)
    assert costs_after().list_slow() == []


@pytest.mark.parametrize(("elapsed", "asked"), [(4, 0), (11.9, 0), (18.1, 1), (24.1, 2), (60, 2)])
def test_slow_ones_get_a_third_of_the_time(elapsed, asked):
    costs = costs_after(genmove=2)  # twice: 4 s are spent
    kept = list_affordable(costs, elapsed)
    assert sum("genmove" in one for one in kept) == asked
    assert "gogui-rules_final_result" in kept
    assert costs.list_slow() == [("genmove", 2, 2, 2 - asked)] * (asked < 2)


@pytest.mark.parametrize(("named", "size"), [("7", 7), ("small", 0), ("1" * 5_000, 0)])
def test_the_size_of_a_board_counts_where_it_is_one(named, size):
    assert Script((f"boardsize {named}",)).weight[:2] == (1, size)


def test_the_start_of_an_engine_is_no_command_s_cost():
    costs = Costs(STANDARD)
    costs.note(trace(("gogui-rules_final_result", *GAME)), is_first=True)
    costs.note(trace(("gogui-rules_final_result",), **{"gogui-rules_final_result": 9}))
    assert list_affordable(costs, 0) == list(GAME), (
        "one long wait on a busy machine does not make it slow"
    )


BIG, SMALL = ("boardsize 19", "genmove b"), ("boardsize 7", "genmove b", "genmove w")


def test_what_is_slow_on_a_big_board_alone_is_left_out_there_alone():
    """A policy that tries every point on a copy of the board: seconds on 19 by 19, else nothing.

    One quick answer, as after the end of a game, does not make it fast there.
    """
    costs = Costs(STANDARD)
    costs.note(trace(("gogui-rules_final_result", *SMALL)))
    costs.note(trace((*BIG, *BIG[1:], *BIG[1:]), genmove=2))
    costs.note(trace(BIG))
    assert list_affordable(costs, 4, (*BIG, *SMALL)) == [BIG[0], *SMALL]
    ((name, seconds, asked, left_out),) = costs.list_slow()
    assert (name, asked, left_out) == ("genmove", 4, 1)
    assert 1 < seconds < 2


def test_what_is_slow_wherever_it_was_asked_is_not_tried_on_every_other_board():
    costs = costs_after(genmove=2)
    assert list_affordable(costs, 4, BIG) == ["boardsize 19"]
    assert list_affordable(costs, 24, BIG) == list(BIG)


@pytest.mark.long(1)
def test_a_player_that_thinks_leaves_time_for_all_else(monkeypatch):
    """With genmove at two seconds there was one conversation in ten, and nothing was found."""
    at_once = InProcess.answer

    def think(self, script):
        found = at_once(self, script)
        replies = [
            reply._replace(seconds=2.0 if command.startswith("genmove") else 0.0)
            for command, reply in zip(script.commands, found.replies, strict=False)
        ]
        return found._replace(replies=tuple(replies))

    monkeypatch.setattr(InProcess, "answer", think)
    start = specification("gomoku-rules").reference_engine
    with start_fuzzer(start, "gomoku-rules", examples=20) as fuzzer:
        assert list(fuzzer.findings()) == []
        ((name, _, _, left_out),) = fuzzer.slow
    assert name == "genmove"
    assert left_out > 0
