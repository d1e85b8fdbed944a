"""The diagnosis names every mistake of the bank, none for the right engine; it never guesses."""

import json
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from markupsafe import escape

from harness.cli import main
from harness.core.records import Diagnosis, Failure, FailureKind, Outcome, Restart
from harness.judging import diagnosis, in_process, mutant_replay
from harness.judging.diagnosis import diagnoses
from harness.reading import casefile, suite
from harness.reading.dialect import find_dialect
from harness.running.file_runner import not_run
from harness.running.runs import run
from harness.specifications import specification
from harness.specifications.record import reply_of
from oracle.mistakes import ASSIGNMENTS, MISTAKES, Hang, mistaken_engine
from oracle.mistakes import find_mistake as mistake_named
from tests.tiers import long_if, one_in

CASES = Path(__file__).parents[2] / "cases"
SETTLED = [one for one in MISTAKES.values() if not one.is_open]


def diagnose(files, memory=None):
    """The diagnosis of files of one assignment, None if there is none."""
    found = diagnoses(files, memory)
    assert len(found) <= 1
    return found[0] if found else None


def names(found):
    """The names of mistakes that each explain everything."""
    return [one.name for (one,) in found.sets]


@cache
def read_shipped_cases(assignment):
    return [casefile.read(path) for path in suite.expand([str(CASES / assignment)])]


def result_of(case, engine, change=lambda step, reply: reply):
    """What a run would have found, had it started this engine; ``change`` rewrites replies."""
    outcomes, replies, failure = [], [], None
    for index, (step, raw) in enumerate(in_process.answers(case, engine)):
        if not isinstance(raw, str):
            kind = FailureKind.TIMEOUT if isinstance(raw, Hang) else FailureKind.DIED
            failure = Failure(kind, "It broke.", index)
            break
        reply = change(step, reply_of(raw))
        replies.append(reply)
        if step.is_test:
            verdict = find_dialect("gogui").verdict(step.pattern, reply)
            outcomes.append(Outcome(index, verdict, reply))
    rest = [one for one in not_run(case).outcomes if one.step >= len(replies)]
    replies += [None] * (len(case.steps) - len(replies))
    return not_run(case)._replace(
        outcomes=(*outcomes, *rest), replies=tuple(replies), failures=(failure,) if failure else ()
    )


# What mutants answered to the cases that ship, of all tests: as grading remembers it for a class.
REMEMBERED = {}


@cache
def public(assignment):
    """All that ``check`` runs for a student."""
    folder = CASES / assignment
    return [case for case in read_shipped_cases(assignment) if Path(case.path).parent == folder]


NAMES = [one.name for one in SETTLED]
BY_PUBLIC_CASES = [
    long_if(place % 2 == 1, public, name, seconds=0.1) for place, name in enumerate(NAMES)
]
# One in thirty with all cases, which take long; the others so in the slow tier.
BY_ALL_CASES = [
    pytest.param(
        read_shipped_cases, name, marks=pytest.mark.slow if place % 30 else pytest.mark.long(0.2)
    )
    for place, name in enumerate(NAMES)
]


@pytest.mark.parametrize(("cases", "name"), [*BY_PUBLIC_CASES, *BY_ALL_CASES])
def test_the_right_mistake_is_named_and_no_other(cases, name):
    """The public cases alone tell every two mistakes apart, and so do all together."""
    mistake = MISTAKES[name]
    engine = in_process.mutant_engine
    files = [result_of(case, engine(mistake)) for case in cases(mistake.assignment)]
    found = diagnose(files, REMEMBERED)
    assert found is not None
    assert names(found) == [name]


@pytest.mark.parametrize("name", one_in(2, ["captures-as-in-go", "never-resigns"]))
@pytest.mark.parametrize("seed", one_in(2, [1, 7]))
@pytest.mark.long(0.5)
def test_random_moves_may_be_others(name, seed):
    engines = [
        mistaken_engine(MISTAKES[name], seed=seed, playouts=0)
        for _ in read_shipped_cases("gomoku-rules")
    ]
    found = diagnose(list(map(result_of, read_shipped_cases("gomoku-rules"), engines)))
    assert names(found) == [name]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_right_engine_is_not_diagnosed(assignment):
    files = [
        result_of(case, specification(assignment).reference_engine())
        for case in read_shipped_cases(assignment)
    ]
    assert diagnose(files) is None


# --- honesty -----------------------------------------------------------------------------------

NEUTRAL = b"""\
boardsize 3
komi 0
play b a1
play w c1
10 score
#? [0]
komi 1
20 score
#? [W\\+1]
play b b2
30 score
#? [0]
"""


def of_text(name="neutral-points-to-white", text=NEUTRAL, **more):
    case = casefile.parse(text, "some.gtp")
    return result_of(case, mistaken_engine(mistake_named(name)), **more)


def test_what_mutants_answered_is_remembered_for_further_engines(monkeypatch):
    memory = {}
    first = diagnose([of_text()], memory)
    assert sum(map(len, memory.values())) > 1
    monkeypatch.setattr(in_process, "mutant", None)  # nobody is asked any more
    assert diagnose([of_text()], memory) == first
    with pytest.raises(TypeError):
        diagnose([of_text()], {})


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ("30 score", {"text": "W+99"}),  # another wrong answer
        ("20 score", {"text": "W+1"}),  # a right one that the mistake would not give
        ("komi 1", {"ok": False}),  # a refused setup
    ],
)
def test_one_other_reply_and_nothing_is_named(place, changes):
    assert diagnose([of_text()]) is not None
    changed = of_text(
        change=lambda step, reply: reply._replace(**changes) if step.text == place else reply
    )
    assert diagnose([changed]) is None


def test_a_file_that_passes_speaks_against_a_mistake():
    passed = result_of(
        casefile.parse(NEUTRAL, "some.gtp"), specification("go-scoring").reference_engine()
    )
    assert diagnose([of_text(), passed]) is None


def test_files_in_which_something_failed_are_looked_at_first():
    """They rule out nearly all mistakes, so that the others cost little."""
    longer = casefile.parse(NEUTRAL + b"name\n", "some.gtp")
    passed = result_of(longer, specification("go-scoring").reference_engine())
    memory = {}
    diagnose([passed, of_text()], memory)
    asked = [len(commands) for _, _, _, commands, _ in memory]
    assert asked == [len(longer.steps) - 1, len(longer.steps)]


def test_the_form_of_a_number_does_not_matter():
    def change(step, reply):
        return reply._replace(text=f"{reply.text}.0") if step.is_test else reply

    assert diagnose([of_text(change=change)]).failures == 3


def test_nothing_is_said_of_other_games():
    text = b"10 reg_genmove black\n#? [A1]\n"
    assert diagnose([of_text(text=text)]) is None


def test_equal_looks_are_all_told_unless_they_are_too_many(monkeypatch):
    text = b"boardsize 3\nplay b a1\nplay w c1\nplay w c3\n10 score\n#? [W\\+1]\n"
    found = diagnose([of_text(text=text)])
    assert names(found) == ["neutral-points-to-white", "neutral-points-to-majority"]
    assert ", or as if " in str(found)
    assert str(found).endswith(": 1 of 1 failure explained")
    monkeypatch.setattr(diagnosis, "TOO_MANY", 2)
    assert diagnose([of_text(text=text)]) is None, "to name so many would be to guess"


def test_a_hang_is_explained_by_a_hang_only():
    text = b"boardsize 3\nkomi 0\n10 score\n#? [0]\n"
    hung = of_text("fill-never-ends-on-empty-board", text)
    found = diagnose([hung])
    assert names(found) == ["fill-never-ends-on-empty-board"]
    died = hung._replace(failures=(hung.failure._replace(kind=FailureKind.DIED),))
    assert diagnose([died]) is None
    elsewhere = hung._replace(failures=(hung.failure._replace(step=0),), replies=(None,) * 3)
    assert diagnose([elsewhere]) is None


WRONG_THEN_EMPTY = b"""\
boardsize 3
komi 0
play b b2
10 score
#? [0]
clear_board
komi 0
20 score
#? [0]
"""


def test_a_failed_test_before_a_break_is_counted_with_it():
    """The test expects what no engine answers, and the mistake hangs afterwards."""
    found = diagnose([of_text("fill-never-ends-on-empty-board", WRONG_THEN_EMPTY)])
    assert names(found) == ["fill-never-ends-on-empty-board"]
    assert found.failures == 2


def test_a_break_and_wrong_answers_are_two_mistakes():
    hung = in_process.mutant(
        find_mistakes("fill-never-ends-on-empty-board komi-twice"), "go-scoring"
    )
    case = casefile.parse(WRONG_THEN_EMPTY.replace(b"komi 0", b"komi 2"), "some.gtp")
    found = diagnose([result_of(case, hung), of_text("komi-twice")])
    assert [{one.name for one in chosen} for chosen in found.sets] == [
        {"fill-never-ends-on-empty-board", "komi-twice"}
    ]


def test_answers_after_a_new_start_are_compared_as_well():
    """Else an engine that hangs in one place would be told of nothing that it does elsewhere."""
    mistakes = find_mistakes("fill-never-ends-on-empty-board neutral-points-to-white")
    texts = (b"boardsize 3\nkomi 0\n10 score\n#? [0]\n", NEUTRAL)
    parts = [
        result_of(casefile.parse(text, "some.gtp"), in_process.mutant(mistakes, "go-scoring"))
        for text in texts
    ]
    start = len(parts[0].case.steps)
    later = [one._replace(step=one.step + start) for one in parts[1].outcomes]
    found = diagnose(
        [
            not_run(casefile.parse(b"".join(texts), "some.gtp"))._replace(
                outcomes=(*parts[0].outcomes, *later),
                replies=(*parts[0].replies, *parts[1].replies),
                failures=parts[0].failures,
                restarts=(Restart(start, ()),),
            )
        ]
    )
    assert list_explanations(found) == [{one.name for one in mistakes}]


def test_an_engine_that_does_not_start_is_not_diagnosed():
    case = casefile.parse(NEUTRAL, "some.gtp")
    assert diagnose([not_run(case, Failure(FailureKind.NOT_STARTED, "No."))]) is None


# --- several mistakes at once ------------------------------------------------------------------


def find_mistakes(names):
    return [mistake_named(name) for name in names.split()]


def list_explanations(found):
    return found and [{one.name for one in chosen} for chosen in found.sets]


@pytest.mark.long(0.3)
@pytest.mark.parametrize(
    "drawn",
    [
        "neutral-points-to-white komi-to-black",
        "neutral-points-to-black draw-with-winner",  # a draw only the other mistake makes
        "win-not-seen rows-from-the-top split-three-not-seen",
        "exactly-five error-order sorted-by-rows",
        "columns-skip-i spaces-touching-white upside-down",
        "diagonal-liberties ko-ignored ends-with-one-pass",
    ],
)
def test_the_smallest_set_is_named(drawn):
    mistakes = find_mistakes(drawn)
    assignment = mistakes[0].assignment
    mutants = [in_process.mutant(mistakes, assignment) for _ in read_shipped_cases(assignment)]
    found = diagnose(list(map(result_of, read_shipped_cases(assignment), mutants)), REMEMBERED)
    assert list_explanations(found) == [set(drawn.split())]
    assert found.failures == found.total


FIVES = {"rising": "a1 b2 c3 d4 e5", "falling": "a5 b4 c3 d2 e1", "row": "a1 b1 c1 d1 e1"}


def test_a_mistake_in_the_rules_beside_one_in_the_policy():
    empty = "A1 A2 A3 A4 A5 B1 B2 B3 B4 B5 C1 C2 C3 C4 C5 D1 D2 D3 D4 D5 E1 E2 E3 E4 E5"
    lines = ["boardsize 5", *["10 policy_moves", f"#? [Random {empty}]"] * 2]
    for points in (*FIVES.values(), "a1 a2 a3 a4 a5"):
        lines += ["clear_board", *(f"play b {point}" for point in points.split())]
        lines += ["20 policy_moves", "#? []"]
    case = casefile.parse("\n".join([*lines, ""]).encode(), "some.gtp")
    mistakes = find_mistakes("no-diagonals rows-from-the-top")
    found = diagnose([result_of(case, in_process.mutant(mistakes, "gomoku-policy"))])
    assert list_explanations(found) == [{"no-diagonals", "rows-from-the-top"}]


def test_what_several_sets_have_in_common_is_told_once():
    one, two, three = find_mistakes("komi-twice minus-sign draw-with-winner")
    told = str(Diagnosis(((one, two), (one, three)), 1, 2))
    assert (told.count("komi were added twice"), told.count(", and either as if")) == (1, 1)
    assert told.endswith(": 1 of 2 failures explained")


@pytest.mark.long(1)
def test_a_mistake_beside_one_that_the_bank_does_not_have():
    """Most failures are explained; the others show nothing that speaks against it."""
    strange = []

    def change(step, reply):
        if step.command != "gogui-rules_final_result" or len(strange) == 2:
            return reply
        strange.append(step)
        return reply._replace(text="?!")

    files = [
        result_of(case, in_process.mutant(find_mistakes("errors-silent"), "gomoku-rules"), change)
        for case in read_shipped_cases("gomoku-rules")
    ]
    found = diagnose(files)
    assert list_explanations(found) == [{"errors-silent"}]
    assert 3 * found.total <= 4 * found.failures < 4 * found.total
    assert f"{found.failures} of {found.total} failures explained" in str(found)


def test_a_failure_of_its_own_may_be_in_any_file():
    """In the third file as well: what it failed there is counted there."""
    own = b"boardsize 3\nplay b A1\n40 score\n#? [B+9]\n"
    case = casefile.parse(NEUTRAL + b"clear_board\n" + own, "third.gtp")
    engine = mistaken_engine(mistake_named("neutral-points-to-white"))
    third = result_of(
        case, engine, lambda step, reply: reply._replace(text="?!") if step.id == 40 else reply
    )
    assert str(diagnose([of_text(), of_text(), third])) == TOLD.replace("3 of 3", "9 of 10")


@pytest.mark.long(1)
@pytest.mark.parametrize("assignment", one_in(2, ASSIGNMENTS))
def test_of_nonsense_nothing_is_said_and_that_soon(assignment):
    """The search gives up in time, whatever there is to be explained."""

    def change(step, reply):
        return reply._replace(text="?!") if step.is_test else reply

    right = specification(assignment).reference_engine
    files = [result_of(case, right(), change) for case in read_shipped_cases(assignment)]
    began = time.process_time()
    found = diagnoses(files)
    assert time.process_time() - began < 5
    assert found == ()


# --- seen in real classes ----------------------------------------------------------------------


def test_what_passes_elsewhere_is_not_the_reason_here():
    """The turn is wrong after an error in one file; in another play never passes it on."""
    lost = b"boardsize 5\nplay b a1\nplay w a1\n10 gogui-rules_side_to_move\n#? [white]\n"
    kept = b"boardsize 5\nplay b b1\nplay w b1\n10 gogui-rules_side_to_move\n#? [white]\n"
    wrong = of_text("turn-lost-by-an-error", lost)
    assert "turn-lost-by-an-error" in names(diagnose([wrong]))
    right = result_of(
        casefile.parse(kept, "b.gtp"), specification("gomoku-rules").reference_engine()
    )
    found = diagnose([wrong, right])
    assert found is None or all(
        one.name != "turn-lost-by-an-error" for chosen in found.sets for one in chosen
    )


def test_of_a_player_no_reasons_from_the_rules_are_listed():
    """Its list after a five is not empty: a dozen of rules of who wins would explain that."""
    row = b"".join(b"play b %c1\nplay w %c2\n" % (c, c) for c in b"abcd") + b"play b e1\n"
    text = b"boardsize 7\npolicy rule_based\n" + row + b"10 policy_moves\n#? []\n"
    found = diagnose([of_text("list-after-the-end", text)])
    assert found is not None
    assert {one.assignment for chosen in found.sets for one in chosen} == {"gomoku-policy"}
    file = of_text("list-after-the-end", text)
    lied = file.outcomes[-1].reply._replace(text="Win A1")
    strange = file._replace(
        outcomes=(file.outcomes[-1]._replace(reply=lied),), replies=(*file.replies[:-1], lied)
    )
    assert diagnose([strange]) is None


# --- the real thing ----------------------------------------------------------------------------


@pytest.mark.processes
@pytest.mark.parametrize("name", one_in(2, ["prisoners-once", "komi-to-black"]))
def test_a_mistaken_program_is_diagnosed(name):
    program = f"{sys.executable} -m oracle gtp --playouts 0 --mistake {name}"
    found = diagnose(run(program, [str(CASES / MISTAKES[name].assignment)]).files)
    assert names(found) == [name]


# --- in the reports ----------------------------------------------------------------------------

TOLD = "it answers as if neutral points were White's: 3 of 3 failures explained"


@pytest.fixture
def neutral(tmp_path):
    path = tmp_path / "neutral.gtp"
    path.write_bytes(NEUTRAL)
    return str(path)


def engine(*options):
    return " ".join([sys.executable, "-m", "oracle", "gtp", *options])


@pytest.mark.processes
def test_every_report_of_a_run_has_it(neutral, tmp_path, capsys):
    wrong = engine("--mistake", "neutral-points-to-white")
    saved = str(tmp_path / "run.json")
    assert main(["run", "--report", "--json", saved, "--output", str(tmp_path), wrong, neutral])
    assert f"diagnosis  {TOLD}\n1 file: 3 tests" in capsys.readouterr().out
    assert escape(TOLD) in (tmp_path / "index.html").read_text()
    (found,) = json.loads(Path(saved).read_text())["diagnoses"]
    assert (found["failures"], found["total"], found["text"]) == (3, 3, TOLD)
    mistake = {"name": "neutral-points-to-white", "sentence": "As if neutral points were White's."}
    assert found["sets"] == [[mistake]]


@pytest.mark.processes
def test_lines_for_scripts_stay_as_they_are(neutral, capsys):
    main(["run", engine("--mistake", "neutral-points-to-white"), neutral])
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 3
    assert TOLD in said.err


def test_who_hangs_everywhere_is_not_told_of_the_one_mistake_that_hangs_somewhere():
    """Another file, in which that mistake does not hang, hangs too."""
    empty = casefile.parse(b"boardsize 3\n10 score\n#? [0]\n", "empty.gtp")
    hung = result_of(empty, mistaken_engine(mistake_named("fill-never-ends-on-empty-board")))
    assert names(diagnose([hung])) == ["fill-never-ends-on-empty-board"]
    failure = Failure(FailureKind.TIMEOUT, "No answer within 1 s.", step=0)
    other = not_run(casefile.parse(NEUTRAL, "some.gtp"))._replace(failures=(failure,))
    assert diagnoses([hung, other]) == ()


def test_an_engine_that_follows_another_leaves_the_table_of_all_alone():
    one, other = (specification("go-scoring").reference_engine() for _ in range(2))
    right = other.commands["genmove"]
    mutant_replay.follow(one, [])
    assert one.commands["genmove"] is not right and other.commands["genmove"] is right
    assert specification("go-scoring").reference_engine().commands["genmove"] is right
