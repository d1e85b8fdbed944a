"""What happens seldom to case files and answers, each branch by itself."""

from __future__ import annotations

import io
import os
import sys
from signal import SIGVTALRM
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import (
    CaseError,
    HarnessError,
    UndecidedError,
    UsageError,
)
from harness.judging import (
    board_replay,
    diagnosis,
    equivalence,
    explain,
    in_process,
    mutant_replay,
)
from harness.reading import answer_files, casefile, expectation, matchers, named_case_files, suite
from harness.reading.named_case_files import Selection
from harness.records import Exchange, Failure, FailureKind, Outcome, Reply, Verdict
from harness.running.file_runner import not_run
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

    ((step, how),) = in_process.replay(CASE.steps, Engine())  # type: ignore[arg-type]
    assert step is CASE.steps[0]
    assert isinstance(how, in_process.Crash)
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


def test_a_position_is_equal_to_positions_alone():
    empty = Position(grid(2))
    assert empty == Position(grid(2)) != Position(grid(3))
    assert empty != empty.place((0, 0), 1) != empty.place((0, 0), 2)
    assert empty.__eq__("a position") is NotImplemented
    assert {empty: 1}[Position(grid(2))] == 1


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
    ("status", "error", "said"),
    [
        (-SIGVTALRM, UndecidedError, "matching took too long"),
        (-9, HarnessError, "the process that matches expressions ended (-9)"),
        (1, HarnessError, "the process that matches expressions ended (1)"),
    ],
)
def test_a_process_that_matches_and_ends_says_why(status, error, said):
    """Too long a time is the expression's fault: the test is not judged. Others are ours."""
    asked = io.BytesIO()
    made: Any = object.__new__(matchers._Matcher)
    made._process = SimpleNamespace(stdin=asked, stdout=io.BytesIO(), wait=lambda: status)
    with pytest.raises(HarnessError) as told:
        made.ask(["matches", "a", "b"])
    assert (type(told.value), str(told.value)) == (error, said)
    assert asked.getvalue() == b'["matches", "a", "b"]\n'


def test_a_process_that_was_killed_before_it_was_asked_says_so():
    """Its end of the pipe is shut then."""

    class Shut(io.BytesIO):
        def flush(self) -> None:
            raise BrokenPipeError

    made: Any = object.__new__(matchers._Matcher)
    made._process = SimpleNamespace(stdin=Shut(), stdout=io.BytesIO(), wait=lambda: -9)
    with pytest.raises(HarnessError) as told:
        made.ask(["matches", "a", "b"])
    assert str(told.value) == "the process that matches expressions ended (-9)"


def test_of_a_process_that_has_died_both_pipes_are_closed():
    """What was written and not sent cannot be sent any more."""
    closed: list[str] = []

    def fail() -> None:
        closed.append("stdin")
        raise BrokenPipeError

    made: Any = object.__new__(matchers._Matcher)
    made._process = SimpleNamespace(
        returncode=-9,
        stdin=SimpleNamespace(close=fail),
        stdout=SimpleNamespace(close=lambda: closed.append("stdout")),
    )
    made.leave()
    assert closed == ["stdin", "stdout"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, UndecidedError])
def test_a_process_that_gave_no_answer_is_ended_and_asked_no_more(error, monkeypatch):
    """It may still compute, and its answer would be taken for that to the next question."""
    ended = []

    class Matcher:
        def ask(self, question: list[object]) -> bool:
            raise error

        def end(self) -> None:
            ended.append(self)

    monkeypatch.setattr(matchers, "_waiting", waiting := [])
    matcher: Any = Matcher()
    with pytest.raises(error):
        matchers._answer(matcher, ["matches", "a", "b"])
    assert (ended, waiting) == ([matcher], [])


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


def reply(text: str, *, ok: bool = True) -> Reply:
    return Reply(ok, text, f"{'=' if ok else '?'} {text}", 0.0)


@pytest.mark.parametrize(
    ("verdict", "theirs", "mine", "alike"),
    [
        (Verdict.NOT_JUDGED, reply("1"), reply("2"), True),
        (Verdict.IGNORED, reply("1"), reply("2"), True),
        (Verdict.FAILED, None, reply("2"), True),
        (Verdict.PASSED, reply("0"), reply("0"), True),
        (Verdict.PASSED, reply("0"), reply("2"), False),
        (Verdict.FAILED, reply("2"), reply("0"), False),
        (Verdict.FAILED, reply("2"), reply(" 2.0 "), True),
        (Verdict.FAILED, reply("2"), reply("3"), False),
        (Verdict.FAILED, reply("2"), reply("2", ok=False), False),
        (Verdict.FAILED, reply("2", ok=False), reply("3", ok=False), True),
    ],
)
def test_whether_a_test_ended_alike(verdict, theirs, mine, alike):
    file: Any = SimpleNamespace(case=CASE)
    assert diagnosis._ends_alike(file, Outcome(1, verdict, theirs), mine) is alike


ANSWERS_CASE = casefile.parse(b"?score\n0\n= 1\n", "x.txt")


@pytest.mark.parametrize(
    ("theirs", "mine", "alike"), [("2", "2", True), ("2", "3", False), ("3", "2", False)]
)
def test_whether_a_whole_answer_was_wrong_alike(theirs, mine, alike):
    """A file of answers judges all of a reply; what is compared has its status, too."""
    file: Any = SimpleNamespace(case=ANSWERS_CASE)
    ended = Outcome(0, Verdict.FAILED, answer_files.make_judged_reply(reply(theirs)))
    assert diagnosis._ends_alike(file, ended, reply(mine)) is alike


@pytest.mark.parametrize(
    ("found", "right", "different"),
    [
        (["a", "b"], ["a", "b"], 0b00),
        (["a", "x"], ["a", "b"], 0b10),
        (["x"], ["a", "b", "c"], 0b111),
        (["a", "b", "c"], ["a"], 0b110),
    ],
)
def test_where_the_answers_of_two_programs_differ(found, right, different):
    """Of two programs, either may have ended first."""
    assert mutant_replay._differences(found, right) == different


@pytest.mark.parametrize(
    ("disagreeing", "found"),
    [(set(), []), ({()}, ["a", "b", "c"]), ({(), ("a",), ("c",)}, ["b"]),
     ({(), ("a",), ("b",), ("c",)}, [])],
)  # fmt: skip
def test_of_a_long_file_each_mistake_is_tried_by_itself(disagreeing, found):
    """Where the reference engine does as the engine did there is nothing to be explained."""
    made: Any = object.__new__(diagnosis._Results)
    made._replayer = SimpleNamespace(find_disagreement=lambda some: tuple(some) in disagreeing)
    assert made._single("abc") == [frozenset([one]) for one in found]


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


def test_tests_behind_what_breaks_an_engine_have_no_identity(monkeypatch):
    case = casefile.parse(b"10 name\n#? [x]\n20 name\n#? [x]\n30 name\n#? [x]\n", "x")
    own = specification("go-scoring")
    answers = iter([["fine"], [in_process.Crash("x")]])
    monkeypatch.setattr(
        equivalence.in_process,
        "replay",
        lambda steps, _: [(steps[0], raw) for raw in next(answers)],
    )
    assert [step.id for step, _ in equivalence.identities(case, own)] == [10, 20]


@pytest.mark.parametrize("chosen", ["A1", "e5", "D2"])
def test_a_mutant_chooses_at_random_what_another_engine_chose(chosen):
    """Else their games differ from there on, and no mistake would explain the engine's answers."""
    case = casefile.parse(b"boardsize 5\ngenmove b\ngenmove w\n", "x")
    heard = mutant_replay.RecordedConversation(
        case.steps, (reply(""), reply(chosen), None), None, lambda *_: True, ""
    )
    engine = in_process.mutant(frozenset(), "gomoku-rules")
    assert mutant_replay.answers(heard, engine)[1:] == [f"= {chosen.upper()}\n\n"]


def test_a_mutant_chooses_by_itself_where_another_engine_did_not_play():
    case = casefile.parse(b"boardsize 5\ngenmove b\n", "x")
    chosen = set()
    for answer in (reply("resign"), reply("Z9"), None):
        heard = mutant_replay.RecordedConversation(
            case.steps,
            (reply(""), answer),
            Failure(FailureKind.DIED, "It died.", 1),
            lambda *_: True,
        )
        engine = in_process.mutant(frozenset(), "gomoku-rules")
        chosen.add(str(mutant_replay.answers(heard, engine)[1]))
    (one,) = chosen
    assert one.startswith("= ")


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


@pytest.mark.parametrize(
    "expression",
    [
        "x" * 5000,
        "[a-e]" * 13 + ".*",  # too many to be listed
        ".*(?:a|b)?c",  # what is fixed has a part that may be missing
        "a+.*",
        "b{20001}.*",
        "(?=.*a)(?=.*[ab]).*",
        "(?=.*a)(?=.*b+).*",
        "(?<=a)(?<=b).*",
        "(?=.*a).*",
        ".*",
    ],
)
def test_of_an_expression_that_is_too_general_nothing_is_said_that_is_fixed(expression):
    assert not expectation._by_what_is_fixed(expression)


@pytest.mark.parametrize(("name", "is_one"), [("case.gtp", False), ("case", True)])
def test_a_case_file_is_no_suite_whatever_is_in_it(name, is_one, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("a.gtp\n")
    (tmp_path / "a.gtp").write_text("")
    assert named_case_files._is_suite(name) is is_one
