"""What an engine was sent and chose is played again: to boards, reasons and mistaken programs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.records import Exchange, Reply
from harness.judging import board_replay, in_process, mutant_replay
from harness.reading import casefile
from harness.running.file_runner import not_run
from harness.specifications import specification
from oracle.mistakes import find_mistake

CASE = casefile.parse(b"loadsgf a.sgf\n10 score\n#? [0]\n", "x.gtp")


def test_whatever_breaks_a_mistaken_program_breaks_it_down():
    class Engine:
        def handle(self, text: str) -> str:
            raise KeyError(text)

    ((step, how),) = in_process.replay(CASE.steps, Engine())  # type: ignore[arg-type]
    assert step is CASE.steps[0]
    assert isinstance(how, in_process.Crash)
    assert str(how) == "KeyError('loadsgf a.sgf')"


def test_the_oracle_follows_the_moves_that_an_engine_chose():
    """What it answered to genmove is a move on the board of the oracle."""
    case = casefile.parse(b"boardsize 3\ngenmove b\n10 gogui-rules_legal_moves\n#? [x]\n", "x.gtp")
    replies = tuple(Reply(True, text, f"= {text}", 0.0) for text in ("", "B2", "x"))
    file: Any = SimpleNamespace(case=case, replies=replies)
    seen: list[str] = []
    own = specification("gomoku-rules")
    made = own.reference_engine("")

    class Noting:
        session = made.session

        def handle(self, text: str) -> str:
            seen.append(text)
            return made.handle(text)

        def explain(self, text: str) -> object:
            return made.explain(text)

    told: Any = SimpleNamespace(reference_engine=lambda _: Noting(), commands=own.commands)
    board_replay.reasons(file, {2}, told)
    assert seen[:2] == ["boardsize 3", "play b B2"]


def reply(text: str, *, ok: bool = True) -> Reply:
    return Reply(ok, text, f"{'=' if ok else '?'} {text}", 0.0)


def test_a_board_has_what_was_sent_before_the_file_and_to_an_engine_that_was_started_again():
    case = casefile.parse(b"boardsize 3\nplay b A1\n10 score\n#? [x]\n20 score\n#? [x]\n", "x")
    file = not_run(case)._replace(
        before=(
            Exchange("1 boardsize 2", reply("")),
            Exchange("22  play w B2", reply("")),
            Exchange("play w A2", reply("", ok=False)),
        ),
        replies=(None, None, None, None),
    )
    found = board_replay.boards(file, {0, 2}, specification("go-scoring").commands)
    shown = {at: repr(one.position) for at, one in found.items()}
    assert shown == {0: "<Position .W/..>"}  # what the engine made of the first command is unknown
    file = file._replace(replies=(reply(""), reply(""), reply("x"), reply("x")))
    found = board_replay.boards(file, {2}, specification("go-scoring").commands)
    shown = {at: repr(one.position) for at, one in found.items()}
    assert shown == {2: "<Position .../.../B..>"}
    assert board_replay.boards(file, set(), specification("go-scoring").commands) == {}


def test_nothing_is_asked_of_an_engine_that_was_told_to_quit():
    case = casefile.parse(b"10 name\n#? [x]\nquit\n20 name\n#? [x]\n", "x")
    engine = specification("go-scoring").reference_engine()
    assert [step.text for step, _ in in_process.replay(case.steps, engine)] == ["10 name", "quit"]


def test_a_mutant_that_stands_again_where_the_right_engine_does_is_asked_no_more(monkeypatch):
    asked, answer = [], in_process.answer
    monkeypatch.setattr(
        in_process, "answer", lambda engine, text: asked.append(text) or answer(engine, text)
    )
    case = casefile.parse(b"boardsize 5\nplay b c3\n10 score\nplay w a1\n", "x")
    list(mutant_replay.answers_of_mutants(case, [find_mistake("komi-twice")]))
    assert asked == [*(step.text for step in case.steps), "10 score"]


@pytest.mark.parametrize("chosen", ["A1", "e5", "D2"])
def test_a_mutant_chooses_at_random_what_another_engine_chose(chosen):
    """Else their games differ from there on, and no mistake would explain the engine's answers."""
    case = casefile.parse(b"boardsize 5\ngenmove b\ngenmove w\n", "x")
    heard = mutant_replay.RecordedConversation(
        case.steps, (reply(""), reply(chosen), None), None, lambda *_: True, ""
    )
    engine = in_process.mutant(frozenset(), "gomoku-rules")
    assert mutant_replay.answers(heard, engine)[1:] == [f"= {chosen.upper()}\n\n"]


@pytest.mark.parametrize("sent", [(), ("boardsize 5", "nonsense", "play b E5")])
def test_an_engine_hears_what_the_harness_sent_before(sent):
    case = casefile.parse(b"10 showboard\n", "x")
    engine = specification("go-scoring").reference_engine()
    heard = mutant_replay.RecordedConversation(
        case.steps, (reply("x"),), None, lambda *_: True, "", sent
    )
    (raw,) = mutant_replay.answers(heard, engine)
    assert (engine.session.game.position.grid.rows == 5) is bool(sent)
    assert engine.session.game.position.black.bit_count() == len(sent[:1])
    assert str(raw).startswith("=10 ")


def test_a_mistake_in_what_the_harness_sent_before_shows_in_the_answers_after_it():
    """They cannot be those of an engine that took it rightly."""
    case = casefile.parse(b"10 score\nclear_board\n", "x")

    def is_alike(index: int, mine: Reply) -> bool:
        return index > 0 or mine.text == "0"

    heard = mutant_replay.RecordedConversation(
        case.steps, (reply("0"), reply("")), None, is_alike, "", ("komi 2", "boardsize 3")
    )
    replayer = mutant_replay.Replayer([heard], "go-scoring", {})
    assert replayer.behaviour() == (0b10, 0)
    assert replayer.behaviour([find_mistake("komi-lost-with-board")]) == (0b11, 0b01)
