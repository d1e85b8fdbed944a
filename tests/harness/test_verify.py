"""``gtp-harness verify``: each kind of fault is found where it is, and nothing else."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.core.errors import CaseError
from harness.judging import in_process
from harness.judging.in_process import specifications_of
from harness.reading import casefile, suite
from harness.reading.dialect import find_dialect
from harness.reading.pattern import escape_answer, read_gogui
from harness.specifications import specification
from harness.specifications.record import reply_of
from harness.verifying.expectation_judge import FindingKind, near
from harness.verifying.verification import specification_of, verify
from tests.harness.shipped_assignments import SOME_LONG

CASES = Path(__file__).parents[2] / "cases"

GO = "boardsize 3\nclear_board\nkomi 0.5\nplay B B2\n10 score\n"
WHOLE = "boardsize 3\nclear_board\nkomi 0\nplay B B2\n10 score\n"
FIVE = "boardsize 7\nclear_board\n" + "".join(f"play B {c}3\n" for c in "ABCDE")
THREES = """boardsize 9
clear_board
policy rule_based
play B C5
play W A1
play B D5
play W A9
play B E5
play W J1
play B C2
play W A5
play B D2
play W J9
play B E2
10 policy_moves
"""


def find_in_text(text, assignment=None):
    """Return (kind, line) of what is found in a case file's text."""
    verified = verify(
        [casefile.parse(text.encode(), "some.gtp")],
        specification(assignment) if assignment else None,
    )
    return [(one.kind, one.line) for one in verified.findings]


# assignment, text, kind, line
FAULTS = [
    ("go-scoring", GO + "#? [W\\+8\\.5]", FindingKind.WRONG, 5),
    ("go-scoring", GO + "#? [B\\+8\\.5]", None, 0),
    ("go-scoring", GO + "#? [B\\+8\\.5]*", None, 0),
    ("go-scoring", GO + "#? [!W.*]", FindingKind.LOOSE, 5),
    ("go-scoring", GO + "#? [!B\\+8\\.5]", FindingKind.WRONG, 5),
    ("go-scoring", GO + "#? [B\\+8.5]", FindingKind.LOOSE, 5),
    ("go-scoring", GO + "#? [.*]", FindingKind.LOOSE, 5),
    ("go-scoring", GO + "#? [B\\+8\\.5|B\\+7\\.5]", FindingKind.LOOSE, 5),
    ("go-scoring", GO + "#?", FindingKind.LOOSE, 5),
    ("go-scoring", WHOLE + "#? [B\\+9]", FindingKind.TIGHT, 5),
    ("go-scoring", WHOLE + "#? [B\\+9(\\.0)?]", None, 0),
    ("go-scoring", WHOLE + "#? [B\\+9(\\.0)*]", FindingKind.LOOSE, 5),
    ("go-scoring", WHOLE + "#? [(a*)*b]", FindingKind.WRONG, 5),
    ("go-scoring", "boardsize 3\nkomi 0\n10 score\n#? [0(\\.0)?]", FindingKind.LOOSE, 3),
    ("go-scoring", "boardsize 3\nplay B A9\nkomi 0\n10 name\n", FindingKind.UNREACHABLE, 2),
    ("go-scoring", "boardsize 3\nkomi 0\nquit\n10 score\n#? [0]", FindingKind.UNREACHABLE, 4),
    ("go-scoring", "10 final_score\n#? [B\\+1000]", None, 0),
    ("go-scoring", "10 play B B2\n#? [anything]*", None, 0),
    ("java-go", "10 is_legal black Z99\n#? [false]", FindingKind.WRONG, 1),
    ("gomoku-rules", FIVE + "10 gogui-rules_final_result\n#? [black]", None, 0),
    ("gomoku-rules", FIVE + "10 gogui-rules_final_result\n#? [black|white]", FindingKind.LOOSE, 8),
    ("gomoku-rules", FIVE + "10 gogui-rules_final_result\n#? [(?i)black]", None, 0),
    ("gomoku-rules", FIVE + "10 genmove w\n#? [resign]", None, 0),
    ("gomoku-rules", FIVE + "10 genmove b\n#? [resign]", FindingKind.OPEN, 8),
    ("gomoku-rules", FIVE + "10 genmove b\n#?", None, 0),
    ("gomoku-rules", "10 play b a1\n#? []\n" + FIVE + "play W A1\n", FindingKind.UNREACHABLE, 10),
    ("gomoku-rules", "10 play b a1\n#? []\n" + FIVE + "play W A3\n", FindingKind.UNREACHABLE, 10),
    ("gomoku-rules", FIVE + "play W A1\n", None, 0),  # no test, no fault
    ("gomoku-rules", "boardsize 5\n10 play b i1\n#? [.*]", FindingKind.OPEN, 2),
    ("gomoku-rules", 'boardsize 5\n10 play c a1\n#? [illegal move: "c" wrong color]',
     FindingKind.TIGHT, 2),
    ("gomoku-rules", 'boardsize 5\n10 play C a1\n#? [(?i)illegal move: "c" wrong color]', None, 0),
    ("gomoku-rules", 'boardsize 5\n10 play C a1\n#? [(?i)illegal move: "c.*" wrong color]',
     FindingKind.LOOSE, 2),
    ("gomoku-rules", "boardsize 5\n10 genmove b\n#? [(?i)[a-e][1-5]]", None, 0),
    ("gomoku-rules", "boardsize 5\n10 genmove b\n#? [[A-E][1-5]]", FindingKind.TIGHT, 2),
    ("gomoku-rules", "boardsize 5\n10 genmove b\n#? [(?i)[a-e][0-5]]", FindingKind.LOOSE, 2),
    ("gomoku-rules", "boardsize 5\n10 genmove b\n#? [pass]", FindingKind.WRONG, 2),
    ("gomoku-rules", "boardsize 5\nplay B A1\n10 genmove w\n#? [(?i)[a-e][1-5]]",
     FindingKind.LOOSE, 3),
    ("gomoku-rules", "boardsize 5\nplay B A1\n10 genmove w\n#? [(?i)(?!a1)[a-e][1-5]]", None, 0),
    # what the engine chose is not known, so that a list may be described
    ("gomoku-rules", "boardsize 5\ngenmove b\n10 gogui-rules_legal_moves\n"
     "#? [(?i)([a-e][1-5] ){23}[a-e][1-5]]", None, 0),
    ("gomoku-rules", "boardsize 5\ngenmove b\n10 gogui-rules_legal_moves\n"
     "#? [(?i)([a-e][1-5] ){24}[a-e][1-5]]", FindingKind.WRONG, 3),
    ("gomoku-rules", "boardsize 4\n10 gogui-rules_final_result\n#? [unknown]",
     FindingKind.OPEN, 2),
    # a setup that the document leaves open is reported once, with what it makes of the tests
    ("go-scoring", "boardsize 3\nkomi 0\nplay black B2\nplay white A1\n10 score\n#? [0]",
     FindingKind.OPEN, 3),
    ("go-scoring", GO.replace("play B B2", "5 play black B2") + "#? [B\\+8\\.5]",
     FindingKind.OPEN, 4),
    ("gomoku-rules", "boardsize 7\n10 play BLACK A1\n20 gogui-rules_side_to_move\n#? [white]",
     FindingKind.OPEN, 2),
    ("gomoku-rules", "boardsize 7\n10 play black A1\n#? [.*]", FindingKind.OPEN, 2),
    ("gomoku-rules", "boardsize 7\nplay W A1\n10 gogui-rules_side_to_move\n#? [black]", None, 0),
    ("gomoku-policy", "boardsize 7\nplay W A1\nplay W A2\n", None, 0),
    ("gomoku-policy", "boardsize 7\nplay W A1\nplay W A2\n10 name\n", FindingKind.OPEN, 2),
    ("gomoku-policy", "policy random\nboardsize 10\n10 policy_moves\n#? [(?i)Random A1 A10.*]",
     FindingKind.OPEN, 3),
    ("gomoku-rules", "boardsize 10\n10 gogui-rules_legal_moves\n#? [a1 a2.*]",
     FindingKind.OPEN, 2),
    ("gomoku-rules", "boardsize 10\n10 gogui-rules_legal_moves\n#? [(?i)([a-hjk]1?[0-9] ?)+]",
     None, 0),  # any order
    ("gomoku-policy", THREES + "#? [(?i)BlockOpenFour A2 B2 B5 F2 F5]", FindingKind.OPEN, 15),
    ("gomoku-policy", THREES + "#? [(?i)(Block|Rand).*]", None, 0),  # either reading passes
    ("gosensei", "clear_board\n10 eyes\n#? [There are 0 eyes for black.]", FindingKind.LOOSE, 2),
    ("gosensei", "clear_board\n10 eyes\n#? [There are 0 eyes for black\\.]", None, 0),
    ("gosensei", "clear_board\n10 is_valid no-such-file\n#? [false]", None, 0),
    ("java-go", "clear_board\n10 is_over\n#? [false]", None, 0),
    ("java-go", "play B pass\nplay W pass\nplay B A1\n10 is_over\n#? [false]",
     FindingKind.UNREACHABLE, 3),
    ("java-go", "clear_board\n10 score black\n#? [0.*]", FindingKind.LOOSE, 2),
]  # fmt: skip


@pytest.mark.processes
@pytest.mark.parametrize(("assignment", "text", "kind", "line"), FAULTS)
def test_each_fault_is_found_in_its_line(assignment, text, kind, line):
    assert find_in_text(text, assignment) == ([(kind, line)] if kind else [])


# what a refused setup hides, and until when: assignment, text, lines that are unreachable
HIDDEN = [
    ("go-scoring", "play B A99\nkomi 0\n10 score\n#? [0]\n20 score\n#? [0]", [1, 3, 5]),
    ("go-scoring", "10 loadsgf missing.sgf\n20 score\n#? [B\\+5\\.5]", [1, 2]),
    ("go-scoring", "loadsgf missing.sgf\n10 name\n20 score\n#? [B\\+5\\.5]", [1, 3]),
    ("go-scoring", "10 loadsgf missing.sgf\n#? [.*]\n20 score\n#? [B\\+5\\.5]", [1, 3]),
    ("go-scoring", "10 loadsgf missing.sgf\n#? []*\n20 score\n#? [0]", []),  # it is known
    ("go-scoring", "10 loadsgf missing.sgf\nloadsgf missing.sgf\n", [1, 2]),
    # the board is set anew, but with another size and komi than the record
    ("go-scoring", "10 loadsgf missing.sgf\nclear_board\n20 score\n#? [0]", [1, 3]),
    ("go-scoring", "10 loadsgf missing.sgf\nboardsize 9\n20 score\n#? [0]", [1, 3]),
    ("go-scoring", "10 loadsgf missing.sgf\nkomi 0\n20 score\n#? [0]", [1, 3]),
    ("go-scoring", "10 loadsgf missing.sgf\n" + GO.replace("10", "20") + "#? [B\\+8\\.5]", [1]),
    ("go-scoring", "10 boardsize 99\nclear_board\n20 score\n#? [0]", [1, 3]),
    ("go-scoring", "10 komi x\nclear_board\n20 score\n#? [0]\nkomi 0\n30 score\n#? [0]", [1, 3]),
    ("go-scoring", "play B A99\nclear_board\nkomi 1\n10 score\n#? [W\\+1(\\.0)?]", [1]),
    # what the oracle does not know, but by its name
    ("go-scoring", "10 load_joseki x\n20 score\n#? [W\\+9]", [1, 2]),
    ("go-scoring", GO.replace("10", "10 time_settings x\n20") + "#? [B\\+8\\.5]", []),
    ("go-scoring", GO.replace("10", "10 is_legal b z99\n20") + "#? [B\\+8\\.5]", []),
    # what the oracle does not play
    ("go-scoring", "boardsize 3\nkomi 0\nblack b2\n10 score\n#? [0]", [3, 4]),
    # a komi is nothing to a game that has none
    ("java-go", "boardsize 3\nkomi 7\n10 score b\n#? [0]", [2]),
    ("gomoku-rules", "komi 6.5\n" + FIVE + "10 gogui-rules_final_result\n#? [black]", [1]),
    ("gomoku-policy", "10 policy best\nboardsize 5\n20 policy_moves\n#? [Win]\n"
     "30 gogui-rules_side_to_move\n#? [black]", [1, 3]),
    # Gomoku's errors are replies that a test may be about
    ("gomoku-rules", "boardsize 5\n10 play B Z9\n20 gogui-rules_side_to_move\n#? [white]", [2, 3]),
    ("gomoku-rules", "boardsize 5\n10 play B Z9\n#? [(?i)illegal move: \"z9\" wrong coordinate]\n"
     "play B Z9\n20 gogui-rules_side_to_move\n#? [black]", []),
    ("gosensei", "10 load_board none.txt\n20 eyes\n#? [There are 7 eyes for black\\.]\n"
     "30 is_valid none.txt\n#? [false]", [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("assignment", "text", "lines"), HIDDEN)
def test_what_follows_a_refused_set_up_is_unreachable_and_not_wrong(assignment, text, lines):
    assert find_in_text(text, assignment) == [(FindingKind.UNREACHABLE, line) for line in lines]


def test_a_question_that_is_refused_hides_nothing_though_it_sounds_like_a_move():
    text = "boardsize 3\n10 can_play b z9\n20 score b\n#? [0]"
    assert find_in_text(text, "java-go") == [(FindingKind.WRONG, 2)]


def test_a_move_that_a_test_expects_to_be_played_and_is_refused():
    text = "boardsize 5\n10 play B Z9\n#? []\n20 gogui-rules_side_to_move\n#? [white]"
    assert find_in_text(text, "gomoku-rules") == [
        (FindingKind.WRONG, 2),
        (FindingKind.UNREACHABLE, 4),
    ]


def test_under_gnugos_dialect_a_set_up_without_a_pattern_must_be_silent():
    case = casefile.parse(
        b"10 loadsgf missing.sgf\n20 score\n#? [0]\n", "some.tst", find_dialect("gnugo")
    )
    verified = verify([case], specification("go-scoring"), "gnugo")
    assert [(one.kind, one.line) for one in verified.findings] == [
        (FindingKind.UNREACHABLE, 1),
        (FindingKind.UNREACHABLE, 2),
    ]
    assert "line 1" in verified.findings[1].message


def test_a_test_that_cannot_be_reached_repeats_none():
    text = WHOLE + "#? [B\\+9(\\.0)?]\n" + WHOLE.replace("play B", "play B A9\nplay B")
    assert find_in_text(text + "#? [B\\+9(\\.0)?]") == [
        (FindingKind.UNREACHABLE, 10),
        (FindingKind.UNREACHABLE, 12),
    ]


@pytest.mark.parametrize("assignment", SOME_LONG)
def test_all_that_ships_is_right(assignment):
    cases = [casefile.read(path) for path in suite.expand([str(CASES / assignment)])]
    verified = verify(cases)
    assert verified.findings == ()
    assert (verified.tests, verified.unchecked) == (
        sum(step.is_test for case in cases for step in case.steps),
        0,
    )


# --- faults planted in what ships --------------------------------------------------------------

PUBLIC = [str(path.relative_to(CASES)) for path in sorted(CASES.glob("*/*.gtp"))]


@pytest.mark.parametrize("path", PUBLIC)
def test_an_expectation_that_is_wrong_loose_or_tight_is_found_everywhere(path):
    """Where there are other forms, the oracle's own words are too tight."""
    case, own = casefile.read(str(CASES / path)), specification(Path(path).parts[0])
    replies = {
        step.line: reply_of(raw) for step, raw in in_process.answers(case, own.reference_engine())
    }
    tests = {step.line: step for step in case.steps if step.is_test}

    def find_with(expect):
        """Return the kinds of findings by line when each test expects this of its answer."""
        steps = tuple(
            step._replace(pattern=read_gogui(f"[{expect(replies[step.line])}]"))
            if step.is_test
            else step
            for step in case.steps
        )
        findings = verify([case._replace(steps=steps)], own).findings
        return {one.line: one.kind for one in findings}

    wrong = find_with(lambda right: escape_answer(f"{right.text}x"))
    assert wrong == dict.fromkeys(tests, FindingKind.WRONG)
    assert find_with(lambda right: ".*") == dict.fromkeys(tests, FindingKind.LOOSE)
    several = [
        line
        for line, step in tests.items()
        if len(in_process.forms(step.command, replies[line], own)) > 1
    ]
    tight = find_with(lambda right: escape_answer(right.text))
    assert tight == dict.fromkeys(several, FindingKind.TIGHT)


# --- the same question twice -------------------------------------------------------------------

CORNER = "boardsize 5\nclear_board\nkomi 1\nplay B A2\nplay W C3\n10 score\n#? [W\\+1(\\.0)?]\n"
TURNED = "boardsize 5\nclear_board\nkomi 1\nplay W C3\nplay B D5\n20 score\n#? [W\\+1(\\.0)?]\n"
SWAPPED = "boardsize 5\nclear_board\nkomi -1\nplay W B5\nplay B C3\n20 score\n#? [B\\+1(\\.0)?]\n"


@pytest.mark.parametrize("second", [CORNER, TURNED, SWAPPED])
def test_a_question_is_the_same_turned_and_with_colors_exchanged(second):
    assert find_in_text(CORNER + second) == [(FindingKind.DUPLICATE, 13)]


@pytest.mark.parametrize(
    "second",
    [
        SWAPPED.replace("komi -1", "komi -2").replace("+1", "+2"),
        TURNED.replace("boardsize 5", "boardsize 6"),
        "20 score\n#? [W\\+1(\\.0)?]\n",  # asked again, in the same game
    ],
)
def test_another_question_is_no_duplicate(second):
    assert find_in_text(CORNER + second) == []


def test_the_first_of_two_is_named_across_files():
    first = casefile.parse(CORNER.encode(), "first.gtp")
    (one,) = verify([first, casefile.parse(TURNED.encode(), "second.gtp")]).findings
    assert (one.path, one.line) == ("second.gtp", 6)
    assert one.message.startswith("first.gtp:6 asks the same")


# --- which assignment --------------------------------------------------------------------------


@pytest.mark.parametrize("path", suite.expand([str(CASES)]))
def test_the_commands_tell_the_assignment_as_the_folder_does(path):
    told = specifications_of(casefile.read(path))[0].key
    own = specification_of(casefile.read(path)).key
    # A file of gomoku-policy that never asks for the policy might be about the rules.
    assert told == own


def test_a_file_of_nothing_known_is_an_error():
    case = casefile.parse(b"boardsize 5\n10 name\n#? [x]\n", "strange.gtp")
    with pytest.raises(CaseError, match=r"strange\.gtp: .*expected --assignment"):
        verify([case])


# --- properties --------------------------------------------------------------------------------

POINTS = [f"{letter}{row}" for letter in "ABCDE" for row in range(1, 6)]
KOMI = st.sampled_from(["0", "0.5", "7", "-3.5"])


@st.composite
def draw_scored_case(draw):
    """A case file with a score, without its expectation, and the answer that is right."""
    points = draw(st.lists(st.sampled_from(POINTS), unique=True, max_size=8))
    komi = draw(KOMI)
    colors = draw(st.lists(st.sampled_from("BW"), min_size=8, max_size=8))
    stones = [f"play {color} {point}" for color, point in zip(colors, points, strict=False)]
    text = "\n".join(["boardsize 5", "clear_board", f"komi {komi}", *stones, "10 score", ""])
    engine = specification("go-scoring").reference_engine()
    replies = [reply_of(engine.handle(line)) for line in text.splitlines()]
    return text, replies


@settings(max_examples=25, deadline=None)
@given(draw_scored_case())
@pytest.mark.long(1)
def test_the_exact_expectation_is_never_at_fault_and_a_near_one_always(drawn):
    text, replies = drawn
    if not all(reply.ok for reply in replies):
        assert (FindingKind.UNREACHABLE, 1) not in find_in_text(text + "#?", "go-scoring")
        return
    right = replies[-1]
    exact = in_process.expression("score", right, specification("go-scoring"))
    assert find_in_text(f"{text}#? [{exact}]", "go-scoring") == []
    for other in list(near(right.text))[:12]:
        got = right._replace(text=other)
        if not in_process.same("score", right, got, specification("go-scoring")):
            literal = escape_answer(other)
            ((kind, _),) = find_in_text(f"{text}#? [{literal}]", "go-scoring")
            assert kind is FindingKind.WRONG
            ((kind, _),) = find_in_text(f"{text}#? [{exact}|{literal}]", "go-scoring")
            assert kind is FindingKind.LOOSE


@pytest.mark.parametrize("assignment", SOME_LONG)
def test_expressions_accept_their_forms_and_no_mistaken_answer(assignment):
    """For every shipped test and every mistake: the expression decides as the comparison does."""
    from harness.reading.pattern import matcher
    from harness.verifying.verification import mistaken_answers

    compared = 0
    for path in suite.expand([str(CASES / assignment)]):
        case = casefile.read(path)
        right = {
            step.line: reply_of(raw)
            for step, raw in in_process.answers(case, specification(assignment).reference_engine())
        }
        wrong = mistaken_answers(case, specification(assignment))
        for step in [one for one in case.steps if one.is_test]:
            answer = right[step.line]
            matches = matcher(
                in_process.expression(step.command, answer, specification(assignment))
            )
            assert all(
                matches(text)
                for text in in_process.forms(step.command, answer, specification(assignment))
            )
            for _, got in wrong.get(step.line, ()):
                same = in_process.same(step.command, answer, got, specification(assignment))
                assert same is bool(got.ok and matches(got.text)), (path, step.line, got)
                compared += not same
    assert compared > 100


# --- the command -------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("good.gtp").write_text(GO + "#? [B\\+8\\.5]\n")
    Path("bad.gtp").write_text(WHOLE + "#? [B.9]\n20 name\n#? [Go1]\n")
    return tmp_path


def test_what_is_shown(folder, capsys):
    assert main(["verify", "good.gtp"]) == 0
    assert capsys.readouterr().out == "1 test in 1 file: nothing found\n"
    assert main(["verify", "."]) == 1
    assert capsys.readouterr().out == (
        "✗ TOO TIGHT  10 score  ./bad.gtp:5\n"
        "    it refuses 'B+9.0', which is right, too\n"
        "    found     B.9\n"
        "    expected  B\\+9(\\.0)?\n"
        "    because   Black: 1 stone + 8 points in 1 region = 9. White: 0 stones + 0 points of\n"
        "              territory = 0. The score is B+9.\n"
        "\n"
        "3 tests in 2 files, 1 not checked (no answer to them is wrong): 1 too tight\n"
    )
    assert main(["verify", ".", "--allow", "too tight"]) == 0
    assert capsys.readouterr().out.startswith("3 tests in 2 files, ")


def test_the_document(folder, capsys):
    assert main(["verify", ".", "--json", "found.json"]) == 1
    document = json.loads(Path("found.json").read_text())
    assert (document["schema"], document["version"]) == ("gtp-harness/verify", 1)
    (one,) = document["findings"]
    assert (one["kind"], one["path"], one["line"]) == ("too tight", "./bad.gtp", 5)
    assert (document["files"], document["tests"], document["unchecked"]) == (2, 3, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such.gtp"], "no-such.gtp: cannot be read"),
        (["good.gtp", "--assignment", "chess"], "there is no assignment 'chess'"),
    ],
)
def test_bad_input_is_one_line(folder, capsys, arguments, message):
    assert main(["verify", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
