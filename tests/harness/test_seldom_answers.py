"""What happens seldom to case files and answers, each branch by itself."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import (
    CaseError,
    UndecidedError,
    UsageError,
)
from harness.judging import explain, mistaken
from harness.reading import casefile, matchers, named_case_files, suite
from harness.reading.selection import Selection
from harness.records import Reply, Verdict
from harness.specifications import specification
from oracle.answers import gomoku_rules
from oracle.grid import grid
from oracle.position import Position

CASE = casefile.parse(b"loadsgf a.sgf\n10 score\n#? [0]\n", "x.gtp")


def test_an_expression_that_is_none_is_told():
    with pytest.raises(UsageError) as told:
        Selection(only="(")
    assert str(told.value).startswith("--only '(' is not a regular expression: missing )")


@pytest.mark.parametrize(
    ("reply", "played"),
    [
        (Reply(True, "C3", "= C3", 0.0), "play b C3"),
        (Reply(True, "PASS", "= PASS", 0.0), "#"),
        (Reply(True, "resign", "= resign", 0.0), "#"),
        (Reply(False, "C3", "? C3", 0.0), "#"),
        (None, "#"),
    ],
)
def test_what_an_engine_chose_is_played_to_the_oracle(reply, played):
    (step, other) = casefile.parse(b"genmove b\nplay w A1\n", "x").steps
    assert explain._as_played(step, reply) == played
    assert explain._as_played(other, reply) == "play w A1"


def test_whatever_breaks_a_mistaken_program_breaks_it_down():
    class Engine:
        def handle(self, text: str) -> str:
            raise KeyError(text)

    ((step, how),) = mistaken.replay(CASE.steps, Engine())  # type: ignore[arg-type]
    assert step is CASE.steps[0]
    assert isinstance(how, mistaken.Crash)
    assert str(how) == "KeyError('loadsgf a.sgf')"


def test_what_is_not_made_to_be_read_to_its_end(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(CaseError) as told:
        casefile.content(str(tmp_path / "fifo"), "suite")
    assert told.value.message == "the suite cannot be read: found a FIFO, expected a file"
    assert casefile.content(os.devnull) == b""
    with pytest.raises(CaseError) as told:
        casefile.content("a\0b")
    assert told.value.message == "cannot be read: embedded null byte"


def test_a_position_is_shown_row_by_row():
    assert repr(Position(grid(2)).place((0, 1), 1).place((1, 0), 2)) == "<Position W./.B>"


def test_moves_may_come_in_other_orders():
    moves = [(0, 0), (1, 0), (0, 1)]
    assert list(gomoku_rules.orders(Position(grid(10)), moves).values()) == [
        moves,
        [(0, 0), (1, 0), (0, 1)],
        [(0, 1), (1, 0), (0, 0)],
    ]
    assert gomoku_rules.orders(Position(grid(9)), moves) == {"sorted as strings": moves}


def test_what_cannot_be_decided_gets_no_reason(monkeypatch):
    def undecided(*_: object) -> None:
        raise UndecidedError("too long")

    monkeypatch.setattr(
        explain, "reasons", lambda file, steps, specification, holds, boards: holds
    )
    file: Any = SimpleNamespace(case=CASE)
    (_, step) = CASE.steps
    for verdict, holds in [(lambda *_: Verdict.PASSED, True), (undecided, False),
                           (lambda *_: Verdict.FAILED, False)]:  # fmt: skip
        dialect = SimpleNamespace(verdict=verdict)
        monkeypatch.setattr(explain, "dialect_of", lambda *_, dialect=dialect: dialect)
        asked: Any = explain.explain_agreed(file, (), None, {})  # type: ignore[arg-type]
        assert asked(step, "= 0\n\n") is holds


def test_a_process_that_matches_imports_nothing_of_ours(monkeypatch):
    asked: list[Any] = []
    monkeypatch.setattr(
        matchers.subprocess, "Popen", lambda *words, **named: asked.append((words, named))
    )
    matchers._Matcher()
    ((words, named),) = asked
    assert words == ([sys.executable, "-ISs", matchers._PROGRAM],)
    pipe = matchers.subprocess.PIPE
    assert named == {"stdin": pipe, "stdout": pipe, "process_group": 0}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("a.gtp\n", True), ("# of mine\na.gtp\nnone\n", True), ("none.gtp\n", False),
     ("notes.txt\n", False), ("none\n", False), ("", False)],
)  # fmt: skip
def test_a_file_that_names_a_case_file_is_a_suite(text, is_one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.gtp", "notes.txt"):
        (tmp_path / name).write_text("10 x\n")
    (tmp_path / "mine").write_text(text)
    assert named_case_files._hint("mine") == ("; did you mean @mine?" if is_one else "")


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
    explain.reasons(file, {2}, told)
    assert seen[:2] == ["boardsize 3", "play b B2"]


@pytest.mark.parametrize(
    ("name", "found"),
    [("@inner", "@at/inner"), ("inner", "inner"), ("a.gtp", "at/a.gtp"), ("none", "none")],
)
def test_a_folder_is_no_suite_of_its_name(name, found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "at").mkdir()
    for file in ("inner", "a.gtp"):
        (tmp_path / "at" / file).write_text("")
    assert suite._locate(name, "at") == found
