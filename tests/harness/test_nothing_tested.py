"""No command that had nothing to tell by is a success: whatever was empty, the status says so."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from harness.cli import main
from harness.core.errors import ExitCode
from harness.fuzzing import two_engines
from harness.fuzzing.fuzzer import ENOUGH
from harness.grading.auditing.wrong_answers import Looker
from tests.harness import made_class, own_assignments
from tests.harness.in_process import start_fuzzer
from tests.oracle.naive_engine import PLAIN

# Speaks GTP and lists no commands; arguments: what it adds to the komi, its questions.
TINY = """\
import sys
size, stones, komi, (wrong, *questions) = 5, {}, 0.0, sys.argv[1:]
for line in sys.stdin:
    name, *words = line.split() or [""]
    answer = "= "
    if name in ("boardsize", "clear_board"):
        size, stones = int((words or [size])[0]), {}
    elif name == "komi":
        komi = float(words[0])
    elif name == "play":
        column, row = "abcdefghj".find(words[1][0].lower()), int(words[1][1:])
        if words[1].lower() in stones or not (0 <= column < size and 0 < row <= size):
            answer = "? illegal move"
        else:
            stones[words[1].lower()] = words[0][0].lower()
    elif name in questions:
        lead = sum(1 if one == "b" else -1 for one in stones.values()) - komi - float(wrong)
        answer = f"= {'B' if lead > 0 else 'W'}+{abs(lead)}" if lead else "= 0"
    elif name != "quit":
        answer = "? unknown command"
    print(answer, end="\\n\\n", flush=True)
    if name == "quit":
        break
"""
SETUP = "boardsize 5\nclear_board\n"
OPEN = "boardsize 5\n10 name\n#? [.*]\n20 list_commands\n"
EXPECTED_TO_FAIL = "boardsize 3\n10 gogui-rules_board_size\n#? [7]*\n"
ORACLE = f"{sys.executable} -m oracle gtp --game go"
GO = ("--assignment", "go-scoring")
BROKEN, FAILED, ATTENTION = ExitCode.BROKEN, ExitCode.FAILED, ExitCode.ATTENTION


class Vain(NamedTuple):
    """A command line with nothing to tell by; {place} is the folder, {tiny} the engine above."""

    words: tuple[str, ...]
    says: str
    status: ExitCode = BROKEN


NONE, OFF = "found no test", ("--sandbox", "off")
VAIN = {
    "run, no test": Vain(("run", ORACLE, "{place}/setup.gtp"), NONE),
    "run, no file": Vain(("run", ORACLE, "{place}/empty"), "found no case files"),
    "run, none selected": Vain(("run", ORACLE, "{place}/open.gtp", "--only", "x"), "selects none"),
    "verify, no test": Vain(("verify", "{place}/setup.gtp", *GO), NONE),
    "verify, no file": Vain(("verify", "{place}/empty", *GO), "found no case files"),
    "verify, no right answer": Vain(("verify", "{place}/open.gtp", *GO), "nothing checked"),
    "strength, no test": Vain(("strength", "{place}/setup.gtp", *GO), NONE),
    "strength, no file": Vain(("strength", "{place}/empty", *GO), "found no case files"),
    "strength, nothing caught": Vain(("strength", "{place}/open.gtp", *GO), "rate 0 %", FAILED),
    "strength, empty bank": Vain(
        ("strength", "{place}/open.gtp", *GO, "--bank", "{place}/bank"), "found no engines"
    ),
    "strength, no mutant": Vain(
        ("strength", "{place}/open.gtp", *GO, "--mutants", "0"), "expected a number of mutants"
    ),
    "strength, no mistake": Vain(
        ("strength", "--assignment", "{place}/nogo"), "0 of 0, 0 %", FAILED
    ),
    "fuzz, no question": Vain(
        ("fuzz", "{tiny} 0", "--against", "{tiny} 1", *OFF), "no question in common"
    ),
    "fuzz, no question in common": Vain(
        ("fuzz", "{tiny} 0 score", "--against", "{tiny} 1 final_score", *OFF),
        "no question in common",
    ),
    "fuzz, no question declared": Vain(
        ("fuzz", "{nogo}", "--assignment", "{place}/bare", "--examples", "20", *OFF),
        "this says nothing about the engine: no question was asked",
    ),
    "fuzz, empty bank": Vain(
        ("fuzz", "{tiny} 0 score", *GO, "--bank", "{place}/bank", *OFF), "found no engines"
    ),
    "calibrate, no question declared": Vain(
        ("calibrate", "{place}/bare", "--conversations", "5", *OFF), "things to look at", FAILED
    ),
    "check, no test": Vain(
        ("check", "{place}/submission/nogo", "--assignment", "{place}/untested"), NONE
    ),
    "grade, no test that counts": Vain(
        ("grade", "{place}/class", "--assignment", "{place}/nogo", "--output", "{place}/graded"),
        "worth nothing, because it has no tests",
        ATTENTION,
    ),
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    for name in ("empty", "bank"):
        (tmp_path / name).mkdir()
    for name, text in (("setup.gtp", SETUP), ("open.gtp", OPEN), ("bank/bank.toml", "")):
        (tmp_path / name).write_text(text)
    (tmp_path / "tiny.py").write_text(TINY)
    for name, text in (
        ("nogo", EXPECTED_TO_FAIL),
        ("bare", EXPECTED_TO_FAIL),
        ("untested", SETUP),
    ):
        made = own_assignments.make(tmp_path / f"{name}.made", "nogo").rename(tmp_path / name)
        for case in (made / "cases").iterdir():
            case.unlink()
        (made / "cases" / "a.gtp").write_text(text)
    bare = tmp_path / "bare" / "assignment.toml"
    declared = bare.read_text().partition("[[command]]")[0]
    bare.write_text(re.sub(r"\nover = .*", "", declared))
    for folder in ("submission/nogo", "class/amy"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "nogo.py").write_text((tmp_path / "nogo" / "nogo.py").read_text())
    return tmp_path


def tell(place, words, capsys):
    """Run a command; return its status and all that it says, on one line."""
    programs = {"tiny": f"{sys.executable} -S -E {place}/tiny.py"}
    programs["nogo"] = f"{sys.executable} -S -E {place}/nogo/nogo.py"
    status = main([word.format(place=place, **programs) for word in words])
    said = capsys.readouterr()
    return status, " ".join((said.out + said.err).split())


@pytest.mark.processes
@pytest.mark.parametrize("name", VAIN)
def test_what_had_nothing_to_tell_by_is_no_success(name, place, capsys):
    vain = VAIN[name]
    status, said = tell(place, vain.words, capsys)
    assert vain.says in said, said
    assert status == vain.status, said


# --- two engines -------------------------------------------------------------------------------


@pytest.mark.processes
@pytest.mark.long(1)
@pytest.mark.parametrize("question", ["score", "final_score"])
def test_a_wrong_komi_is_seen_by_engines_that_list_no_commands(question, place, capsys):
    """0 findings in 13,920 conversations: nobody had asked anything."""
    given = ("--against", f"{{tiny}} 1 {question}", "--examples", "40", "--findings", "1", *OFF)
    status, said = tell(place, ("fuzz", f"{{tiny}} 0 {question}", *given), capsys)
    assert status == ExitCode.FAILED, said
    assert f"{question}: " in said
    assert re.search(rf"asked: {question} [1-9]", said)
    right = ("--against", f"{{tiny}} 0 {question}", "--examples", "40", *OFF)
    status, said = tell(place, ("fuzz", f"{{tiny}} 0 {question}", *right), capsys)
    assert status == ExitCode.OK, said
    assert re.search(rf"asked: {question} [1-9]", said)


def replies_to(monkeypatch, *engines):
    """Let engines answer as tables say: a text, a number of seconds, or nothing, by command."""

    def answer(engine, begun, lines):
        found = []
        for line in lines:
            text, seconds = engine.get(line.partition(" ")[0], (None, 0.0))
            reply = SimpleNamespace(text=text, seconds=seconds)
            found.append(reply if text is not None else None)
        return found

    monkeypatch.setattr(two_engines, "try_commands", answer)
    found, slow = two_engines.find_common_commands(engines, 5)
    return [one.name for one in found], slow


def test_only_what_both_answer_is_asked_and_pictures_if_they_are_alike(monkeypatch):
    one = {"score": ("B+1", 0.0), "showboard": ("X .", 0.0), "undo": ("", 0.0)}
    other = one | {"showboard": ("x  .", 0.0), "captures": ("0", 0.0)}
    assert replies_to(monkeypatch, one, other) == (["score", "undo"], ())
    alike = one | {"showboard": ("X  .\n", 0.0)}
    assert replies_to(monkeypatch, one, alike) == (["score", "showboard", "undo"], ())


def test_a_question_that_takes_long_is_left_out_if_others_do_not(monkeypatch):
    """GNU Go's final_score took the time of a thousand other questions."""
    slow = {"final_score": ("B+1", 2.0), "captures": ("0", 0.0)}
    assert replies_to(monkeypatch, slow, slow) == (["captures"], ("final_score",))
    only = {"final_score": ("B+1", 2.0)}
    assert replies_to(monkeypatch, only, only) == (["final_score"], ())


# --- too slow ----------------------------------------------------------------------------------


def search(examples, most, *, asks=True):
    """Return the shortfall of a search that found nothing; ``most``: it was to draw at most."""
    with start_fuzzer(PLAIN["go-scoring"], "go-scoring", examples=most) as fuzzer:
        fuzzer.budget.examples = examples
        if asks:
            trace = fuzzer._program.answer(
                SimpleNamespace(commands=("boardsize 5", "komi 0", "score"), files=())
            )
            fuzzer._asker.costs.note(trace)
        return fuzzer.shortfall


@pytest.mark.parametrize(
    ("examples", "most", "is_enough"),
    [(ENOUGH - 1, 0, False), (0, 0, False), (ENOUGH, 0, True), (20, 20, True), (19, 20, False)],
)
def test_a_search_that_was_too_slow_says_so(examples, most, is_enough):
    """11 conversations find 78 of the bank's 202 mistakes, and 100 find 164."""
    shortfall = search(examples, most)
    assert (shortfall == "") is is_enough
    assert is_enough or f"{examples} conversations in " in shortfall
    assert "no question was asked" in search(examples, most, asks=False)


def test_an_audit_that_was_too_slow_says_so(monkeypatch, tmp_path):
    """It was counted as audited, and nothing else was said of it."""
    from harness.grading.auditing import wrong_answers
    from harness.grading.exports import summary
    from harness.grading.records import Audited

    fuzzer = SimpleNamespace(findings=lambda: (), unconfirmed=0, shortfall="too few")
    monkeypatch.setattr(wrong_answers, "Fuzzer", lambda *_: fuzzer)
    monkeypatch.setattr(wrong_answers, "judge_of", lambda *_: None)
    looker = object.__new__(Looker)
    looker._assignment = SimpleNamespace(
        start=lambda _: ("engine", ""), limits=SimpleNamespace(timeout=1.0), specification=object()
    )
    looker._seconds, looker._runners = 1.0, ()
    whole = made_class.made_class()
    key, owner = whole.graded[0].submission.key, summary.owner_name(whole.graded[0])
    audit, _ = looker._ask(Audited(key, "", 1.0, 0, 0, ()), tmp_path, tmp_path)
    assert audit.trouble == "too few"
    result = whole._replace(audits=(audit, audit._replace(trouble="")))
    assert dict(summary.flags(result))["audited without a result"] == [f"{owner}: too few"]
