"""Fuzzing finds what is wrong, makes it small, says what it is, and finds nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from harness.cli import main
from harness.core.options import Limits
from harness.core.records import Reply
from harness.engine.launch import PlainLauncher
from harness.fuzzing import findings
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.drawing import legal
from harness.fuzzing.fuzzed_engine import FuzzedProgram
from harness.fuzzing.judges import SURPLUS, differences, kind
from harness.judging import in_process
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.specifications import specification
from harness.vocabulary.script import Script
from oracle.mistakes import ASSIGNMENTS, MISTAKES, engine_with, mistaken_engine
from tests.harness.in_process import InProcess, start_fuzzer
from tests.harness.umasks import strict_umask
from tests.oracle.naive_engine import PLAIN
from tests.tiers import one_in

ROOT = Path(__file__).parents[2]

FOUND_SOON = [
    *("neutral-points-to-white", "komi-cut-to-whole", "captured-stones-stay", "points-add-up"),
    *("state-kept-after-clear-board", "fill-never-ends-on-empty-board", "four-wins"),
    *("draw-one-move-early", "genmove-does-not-place"),
    *("error-order", "row-above-9-not-read", "one-end-blocked", "random-policy-ignored"),
    *("rule-based-by-default", "second-stone-overwrites"),
    *("checking-loads-the-board", "is-captured-reads-past-column-0", "ko-ignored"),
    *("captures-kept-in-new-game", "ends-with-one-pass"),
    # What was said before matters: another game, in the same process.
    *("winner-kept-after-boardsize", "passes-need-not-follow"),
    # Rare positions are drawn often enough: far eyes, two threats at one point.
    *("two-eyes-by-distance-3", "duplicates", "own-open-four-before-block"),
]


def first_finding(start, assignment, **more):
    with start_fuzzer(start, assignment, examples=1500, **more) as fuzzer:
        return next(fuzzer.findings(), None), fuzzer


@pytest.mark.long(1)
@pytest.mark.parametrize("name", one_in(5, FOUND_SOON))
def test_a_mistake_is_found_made_small_and_named(name, tmp_path):
    mistake = MISTAKES[name]
    found, _ = first_finding(lambda: mistaken_engine(mistake, playouts=0), mistake.assignment)
    assert found is not None
    assert not found.is_flaky
    assert found.setup <= 8
    assert mistake in found.mistakes
    path = findings.write(
        tmp_path, 1, found, judge_of(specification(mistake.assignment), tmp_path)
    )
    case = casefile.read(str(path))
    assert not in_process.failing_lines(
        case, specification(mistake.assignment).reference_engine(), find_dialect("gogui")
    )
    last = max(step.line for step in case.steps)
    assert in_process.failing_lines(case, mistaken_engine(mistake), find_dialect("gogui")) == {
        last
    }


@pytest.mark.long(1)
@pytest.mark.parametrize("examples", [50, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_right_engine_is_never_blamed(assignment, examples):
    with start_fuzzer(
        lambda: specification(assignment).reference_engine(), assignment, examples=examples
    ) as fuzzer:
        assert list(fuzzer.findings()) == []
        assert fuzzer.unconfirmed == 0


@pytest.mark.long(1)
@pytest.mark.parametrize("examples", [6, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("assignment", PLAIN)
def test_nor_is_another_right_program(assignment, examples):
    """The second implementation shares nothing with the oracle, and is slow."""
    with start_fuzzer(PLAIN[assignment], assignment, examples=examples, seed=1) as fuzzer:
        assert list(fuzzer.findings()) == []


# --- what is compared --------------------------------------------------------------------------


def reply(text, ok=True):
    return Reply(ok, text, "", 0.0)


@pytest.mark.parametrize(
    ("right", "got", "what"),
    [
        ("true", "false", "false for true"),
        ("B+3", "B+4", "too high"),
        ("B+3", "W+3", "w+3 for b+3"),
        ("Win A1", "win a1.", "written otherwise"),
        ("a1 b1 c1", "b1 a1 c1", "another order"),
        ("a1 b1 c1", "a1 c1", "something missing"),
        ("a1 b1", "a1 b1 c1", "something too much"),
        ("a1", "", "nothing for a1"),
    ],
)
def test_kinds_of_difference(right, got, what):
    assert kind(reply(right), reply(got)) == what


@pytest.mark.parametrize(
    ("assignment", "commands", "kept"),
    [
        ("go-scoring", ["play B A1", "boardsize 3", "score"], ["boardsize 3"]),
        ("go-scoring", ["boardsize 3", "komi 1", "clear_board", "score"], [0, 1, 2]),
        ("go-scoring", ["boardsize 2", "play B A1", "play W A1"], [0, 1]),
        ("gomoku-rules", ["boardsize 4", "boardsize 5", "play c A1", "play b i1"], [1, 2]),
        ("java-go", ["play B A1", "gogui-setup W A2", "captures black"], [0, 2]),
        ("gosensei", ["gogui-setup B A1", "eyes", "unheard-of"], [0, 1, 2]),
    ],
)
def test_only_what_is_settled_is_sent(assignment, commands, kept, tmp_path):
    wanted = [commands[one] if isinstance(one, int) else one for one in kept]
    assert (
        list(legal(Script(tuple(commands)), specification(assignment), tmp_path).commands)
        == wanted
    )


def found_in(start, assignment, *commands):
    program = InProcess(start, Path())
    judge = judge_of(specification(assignment), Path())
    return list(differences(program.answer(Script(commands)), judge))


class Scripted:
    """Answers what it is told to."""

    def __init__(self, *replies):
        self.replies = iter(replies)

    def handle(self, line):
        return f"{next(self.replies)}\n\n"


@pytest.mark.parametrize("answer", ["A1", "resign", "pass", "E5 A1", "E5 # five", "E5\nA1", "E05"])
def test_a_move_of_genmove_is_judged_by_whether_it_is_legal(answer):
    asked = ("boardsize 5", "play B A1", "genmove w")
    assert not found_in(lambda: Scripted("=", "=", "= E5"), "gomoku-rules", *asked)
    (found,) = found_in(lambda: Scripted("=", "=", f"= {answer}"), "gomoku-rules", *asked)
    assert found.got == answer


def test_a_command_that_was_refused_leaves_nothing_open():
    moves = [move for c in "ABCD" for move in (f"play b {c}1", f"play w {c}3")]
    asked = ("boardsize 5", *moves, "play b E1", "undo", "genmove w", "gogui-rules_final_result")
    replies = *("=" for _ in asked[:-3]), "? unknown command", "= resign", "= draw"
    (found,) = found_in(lambda: Scripted(*replies), "gomoku-rules", *asked)
    assert (found.right, found.got) == ("black", "draw")


def test_what_depends_on_the_move_that_genmove_chose_is_not_judged():
    asked = ("boardsize 5", "genmove b", "gogui-rules_legal_moves", "gogui-rules_side_to_move")
    replies = ("=", "= E5", "= a1", "= black")
    (found,) = found_in(lambda: Scripted(*replies), "gomoku-rules", *asked)
    assert found.command == "gogui-rules_side_to_move"


def test_the_five_that_fills_the_board_is_legal_and_its_result_open():
    # X X . X X at the bottom, and no other five.
    rows = ("BBWBB", "BWBBW", "BBWWB", "WWBBW", "BBWWB")
    moves = [f"play {color} {'ABCDE'[c]}{r}" for r, row in enumerate(rows, 1)
             for c, color in enumerate(row) if (r, c) != (1, 2)]  # fmt: skip
    script = Script(("boardsize 5", *moves, "play B C1", "gogui-rules_final_result"))
    trace = InProcess(PLAIN["gomoku-rules"], Path()).answer(script)
    assert [reply.ok for reply in trace.replies[-2:]] == [True, False]
    assert list(differences(trace, judge_of(specification("gomoku-rules"), Path()))) == []


def test_an_open_answer_is_no_finding():
    asked = ("boardsize 10", "gogui-rules_legal_moves")  # the order is open from 10 by 10 on
    shuffled = sorted((f"{c}{r}" for c in "abcdefghjk" for r in range(1, 11)), reverse=True)
    assert not found_in(lambda: Scripted("=", "= " + " ".join(shuffled)), "gomoku-rules", *asked)


# --- several causes, and flaky engines ----------------------------------------------------


def both(*names):
    mistakes = [MISTAKES[name] for name in names]
    return engine_with(mistakes, mistakes[0].assignment)


@pytest.mark.long(4)
def test_it_goes_on_to_the_next_cause():
    names = ("captures-of-the-other-color", "never-over")
    with start_fuzzer(lambda: both(*names), "java-go", examples=150) as fuzzer:
        found = [finding.mistakes[0].name for finding in fuzzer.findings()]
    assert sorted(found) == sorted(names)


@pytest.mark.long(1)
def test_unknown_causes_are_one_finding_for_each_kind():
    class Lying:
        def __init__(self):
            self.right = specification("java-go").reference_engine()

        def handle(self, line):
            answer = self.right.handle(line)
            lie = {"= true\n\n": "= yes\n\n"}
            return lie.get(answer, answer) if line.startswith("is_captured") else answer

    with start_fuzzer(Lying, "java-go", examples=100) as fuzzer:
        (found,) = fuzzer.findings()
    assert found.difference.signature == ("is_captured", "yes for true")
    assert found.mistakes == ()


@pytest.mark.long(1)
def test_flaky_findings_are_said_to_be():
    count = iter(range(10**6))

    class Moody:
        def __init__(self):
            self.right = mistaken_engine(MISTAKES["komi-twice"])
            if next(count) % 2:
                self.right = specification("go-scoring").reference_engine()

        def handle(self, line):
            return self.right.handle(line)

    found, _ = first_finding(Moody, "go-scoring")
    assert found.is_flaky
    assert "Flaky" in findings.text(1, found, judge_of(specification("go-scoring"), Path()))


# --- the command, with real processes ----------------------------------------------------------


def fuzz(capsys, *words):
    status = main(["fuzz", *words])
    out = capsys.readouterr()
    return status, out.out + out.err


def oracle_with(name):
    return f"{sys.executable} -m oracle gtp --mistake {name}"


@pytest.mark.long(2)
def test_the_command_writes_a_case_file_that_the_engine_fails(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder, report = tmp_path / "found" / "deep", tmp_path / "found.json"
    status, out = fuzz(
        capsys,
        *(oracle_with("komi-ignored"), "--assignment", "go-scoring", "--sandbox", "off"),
        *("--findings", "1", "--output", str(folder), "--json", str(report)),
    )
    assert status == 1
    assert "komi-ignored: As if the komi were 0." in out
    (path,) = folder.glob("*.gtp")
    assert main(["run", oracle_with("komi-ignored"), str(path)]) == 1
    (entry,) = json.loads(report.read_text())["findings"]
    assert entry["setup_commands"] == 2
    assert entry["mistakes"][0]["name"] == "komi-ignored"


@pytest.mark.long(1)
def test_the_same_seed_finds_the_same(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    texts = []
    for name in "ab":
        words = (oracle_with("minus-sign"), "--assignment", "go-scoring", "--sandbox", "off")
        fuzz(capsys, *words, "--findings", "1", "--seed", "7", "--output", str(tmp_path / name))
        texts.append([path.read_text() for path in (tmp_path / name).iterdir()])
    assert texts[0] == texts[1]
    assert len(texts[0]) == 1


@pytest.mark.long(2)
@pytest.mark.processes
def test_after_an_interrupt_it_tells_what_it_found_and_leaves_nothing_else(tmp_path):
    report = tmp_path / "found.json"
    words = ["fuzz", oracle_with("komi-ignored"), "--assignment", "go-scoring", "--seconds", "0"]
    words += ["--sandbox", "off", "--output", str(tmp_path / "found"), "--json", str(report)]
    with subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 130
    assert "01-score-" in first
    assert "1 finding in" in rest
    assert len(json.loads(report.read_text())["findings"]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found", "found.json"]


# --- replies that nothing had asked for ---------------------------------------------------------

TALKATIVE = """\
import os, sys
from oracle.mistakes import MISTAKES, mistaken_engine
engine, how = mistaken_engine(MISTAKES["komi-ignored"]), sys.argv[1]
def say(text):
    os.write(1, text.encode())
for line in sys.stdin:
    reply, name = engine.handle(line), line.split()[0]
    if how == "early" and name == "play":
        say(reply + engine.handle("score"))
    elif name == "score":
        say(2 * reply if how == "twice" else "")
    else:
        say(reply)
"""
ASKED = Script(("boardsize 3", "komi 1", "play b b2", "score", "komi 2", "score"))
RIGHT = ["", "", "", "B+9", "", "B+9"]


@pytest.fixture
def talkative(tmp_path, monkeypatch):
    """The words of an engine that answers too often, or too early."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "engine.py").write_text(TALKATIVE)
    return [sys.executable, str(tmp_path / "engine.py")]


def test_whose_reply_is_whose_is_known_of_an_engine_that_answers_too_often(talkative, tmp_path):
    started = PlainLauncher, Limits(), tmp_path
    with closing(FuzzedProgram([*talkative, "twice"], *started)) as program:
        traces = [program.answer(ASKED) for _ in range(2)]
    for trace in traces:
        assert [reply.text for reply in trace.replies] == RIGHT
        assert trace.has_surplus
    with closing(FuzzedProgram([*talkative, "early"], *started)) as program:
        trace = program.answer(ASKED)
    assert [reply.text for reply in trace.replies] == RIGHT[:3]
    assert trace.failure
    assert "did not answer 'score'" in trace.failure.message


@pytest.mark.long(2)
def test_answering_twice_is_one_finding_and_hides_no_other(talkative, tmp_path, capsys):
    report = tmp_path / "found.json"
    words = (" ".join([*talkative, "twice"]), "--assignment", "go-scoring", "--sandbox", "off")
    more = ("--examples", "6", "--output", str(tmp_path / "found"), "--json", str(report))
    assert fuzz(capsys, *words, *more)[0] == 1
    found = json.loads(report.read_text())["findings"]
    assert sorted(one["kind"] for one in found if one["kind"] == SURPLUS) == [SURPLUS]
    assert "komi-ignored" in [mistake["name"] for one in found for mistake in one["mistakes"]]


@pytest.mark.parametrize(
    ("program", "says"),
    [("/nowhere/engine", "no such file"), (f"{sys.executable} -c pass", "ended")],
)
def test_an_engine_that_does_not_start_is_no_finding(program, says, capsys, tmp_path):
    words = (program, "--assignment", "java-go", "--sandbox", "off", "--output", str(tmp_path))
    status, out = fuzz(capsys, *words)
    assert status == 2
    assert says in out or "give PROGRAM" in out


@pytest.mark.processes
def test_an_engine_that_is_shown_the_folder_for_temporary_files_sees_each_board_file(
    open_place, monkeypatch, capsys
):
    monkeypatch.chdir(open_place)
    found = open_place / "found"
    words = ("gtp-oracle gtp --game gosensei", "--assignment", "gosensei", "--sandbox", "auto")
    temporary = open_place / "temporary"
    temporary.mkdir(mode=0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    shown = ("--show", str(temporary))
    with strict_umask():
        assert main(["fuzz", *words, *shown, "--examples", "4", "--output", str(found)]) == 0
    assert "could not be seen again" not in capsys.readouterr().out


def test_all_folders_for_temporary_files_cannot_be_shown(capsys):
    words = ("true", "--assignment", "gosensei", "--sandbox", "auto", "--show", "/")
    assert main(["fuzz", *words]) == 2
    assert "--show / shows all folders for temporary files: show less" in capsys.readouterr().err
