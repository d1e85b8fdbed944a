"""A file that goes on with a new engine after one broke: where, what is sent again, what is told.

The worst that could happen is a verdict that a file without a break would not have had. So each
place of each existing case file, and of files drawn at random, is tried with the oracle's
engines: from there on a new one must answer as the one that was sent everything.
"""

import json
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.options import Limits, Options
from harness.core.records import FailureKind, Verdict
from harness.judging import in_process
from harness.judging.diagnosis import diagnoses
from harness.reading import casefile
from harness.reading.suite import gather
from harness.report import json as json_report
from harness.report import junit, tap
from harness.report.file_view import view
from harness.report.html import log as log_module
from harness.report.html.log import log_pages, part_cuts
from harness.report.html.parts import troubles
from harness.report.paint import Paint
from harness.report.tally import exit_code, tally
from harness.report.terminal_report import Terminal
from harness.running import restarting
from harness.running.runs import run, run_gathered
from harness.specifications import EVERYONES
from oracle.gtp import new_engine

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
JAVA_GO = ROOT / "cases" / "java-go" / "thorough"  # has boards to be loaded
ENGINES = ROOT / "tests" / "engines"
GAMES = {"go-scoring": "go", "gomoku-rules": "gomoku", "gomoku-policy": "gomoku"}
LETTERS = {Verdict.PASSED: "P", Verdict.FAILED: "F", Verdict.NOT_RUN: "-"}


def parse(text, path="some.gtp"):
    return casefile.parse(text.encode(), path)


def place_after(text, broken, begun=None):
    """Return the line of the next place after a line, and what is sent there.

    ``begun``: the line at which the engine began; by default the one that broke it.
    """
    case = parse(text)
    index, first = (
        next(i for i, step in enumerate(case.steps) if step.line == line)
        for line in (broken, begun or broken)
    )
    found = restarting.next_place(case, index, first, EVERYONES)
    return found and (case.steps[found.step].line, found.settings)


TWO = "boardsize 7\nclear_board\nplay b a1\n10 score\n"


@pytest.mark.parametrize(
    ("text", "broken", "expected"),
    [
        (f"{TWO}{TWO}", 4, (5, ())),
        (f"{TWO}{TWO}", 1, (5, ())),
        (f"{TWO}boardsize 9\nclear_board\n10 score\n", 1, (5, ())),  # it sets its own size
        (f"{TWO}clear_board\n10 score\n", 1, None),  # it would be sent again
        (f"{TWO}{TWO}", 8, None),  # nothing comes after it
        (f"{TWO}clear_board\n10 score\n", 4, (5, ("boardsize 7",))),
        (f"{TWO}clear_board\nplay b a1\n", 4, None),  # nothing is asked after it
        (f"{TWO}boardsize 5\nplay b a1\n10 score\n", 4, None),  # the stones of the board before
        # Komi and policy outlive boardsize and clear_board: the last one is sent again.
        (f"komi 1\nkomi 6.5\n{TWO}{TWO}", 6, (7, ("komi 6.5",))),
        (f"{TWO}5 komi 2\n{TWO}", 4, (6, ("komi 2",))),  # though it is a test
        (f"{TWO}komi 2\n{TWO}", 5, None),  # it was the komi that broke it
        (f"{TWO}komi 2\n{TWO}komi 3\n{TWO}", 5, (10, ())),
        # As the course's own file of 2021 begins, and goes on.
        (
            "boardsize 7\npolicy rule_based\nclear_board\n10 policy_moves\nclear_board\n"
            "20 policy_moves\n",
            4,
            (5, ("boardsize 7", "policy rule_based")),
        ),
        ("clear_board\n10 score\npolicy random\nclear_board\n20 score\n", 2, (3, ())),
        # What is not known may make a setting: setup is sent again, after a test there is none.
        (f"selection ucb\n{TWO}{TWO}", 5, (6, ("selection ucb",))),
        (f"5 selection ucb\n{TWO}{TWO}", 5, None),
        (f"5 selection ucb\n{TWO}#! restart\n{TWO}", 5, (7, ())),
        (f"komi 5\n{TWO}#! restart\n{TWO}", 5, (7, ())),
        (f"komi 5\n{TWO}  #!  restart \n\n# more\nplay b a1\n20 score", 5, (9, ())),
        (f"{TWO}# restart\nplay b a1\n20 score", 4, None),
        (f"{TWO}load_board a.txt\n20 eyes\n", 4, (5, ())),
        ("load_board a.txt\n10 eyes\nclear_board\n20 eyes\n", 2, (3, ("load_board a.txt",))),
        (f"{TWO}quit\n{TWO}", 4, None),
    ],
)
def test_places(text, broken, expected):
    assert place_after(text, broken) == expected


def test_shipped_files_have_a_place_at_each_new_board():
    for path in sorted(ROOT.glob("cases/*/**/*.gtp")):
        case = casefile.read(str(path))
        places = {place.step for place in restarting._places(case, EVERYONES)}
        for index, step in enumerate(case.steps):
            if step.command.startswith(("clear_board", "load_board")):
                assert index in places, f"{case.path}:{step.line}"


# --- a new engine answers as the one that was sent everything ------------------------------------


def replies(engine, commands):
    return [engine.handle(command) for command in commands]


def assert_same_from_each_place(case, game):
    full = new_engine(game, playouts=0).in_folder(in_process.folder_of(case))
    expected = replies(full, [step.text for step in case.steps])
    for place in restarting._places(case, EVERYONES):
        engine = new_engine(game, playouts=0).in_folder(in_process.folder_of(case))
        replies(engine, place.settings)
        got = replies(engine, [step.text for step in case.steps[place.step :]])
        chosen = False  # what a player chose may differ, and the board with it
        pairs = zip(case.steps[place.step :], got, expected[place.step :], strict=True)
        for step, mine, theirs in pairs:
            chosen = not step.command.startswith(("clear_board", "load_board")) and (
                chosen or step.command.startswith("genmove")
            )
            if step.is_test and not chosen:
                assert mine == theirs, (case.path, place, step)


@pytest.mark.parametrize("path", sorted(ROOT.glob("cases/*/*.gtp")), ids=lambda p: p.stem)
def test_from_each_place_of_the_shipped_files(path):
    key = path.relative_to(ROOT / "cases").parts[0]
    assert_same_from_each_place(casefile.read(str(path)), GAMES.get(key, key))


COMMANDS = {
    "go": [
        *("boardsize 3", "boardsize 4", "clear_board", "clear_board", "komi 1.5", "komi 3"),
        *("play b a1", "play w b1", "play w a2", "gogui-setup b c3", "undo", "score", "get_komi"),
        *("captures b", "showboard", "loadsgf none.sgf", "gogui-setup_player w"),
    ],
    "gomoku": [
        *("boardsize 5", "boardsize 6", "clear_board", "clear_board", "policy rule_based"),
        *("policy random", "play b a1", "play w b1", "play b c3", "policy_moves"),
        *("gogui-rules_side_to_move", "gogui-rules_board_size", "gogui-rules_legal_moves", "undo"),
    ],
    "java-go": [
        *("boardsize 3", "boardsize 5", "clear_board", "clear_board", "play b a1", "play w a2"),
        *(
            "score b",
            "captures b",
            "is_over",
            "can_play w a1",
            "gogui-setup w b2",
            "load_board boards/wide.txt",
        ),
    ],
}


@st.composite
def scripts(draw):
    game = draw(st.sampled_from(sorted(COMMANDS)))
    line = st.tuples(st.sampled_from(COMMANDS[game]), st.booleans())
    lines = draw(st.lists(line, min_size=4, max_size=40))
    return game, "".join(f"{'10 ' * test}{text}\n" for text, test in lines)


@pytest.mark.soak(3_000)
@given(scripts())
@settings(max_examples=40, deadline=None)
def test_from_each_place_of_drawn_files(script):
    game, text = script
    assert_same_from_each_place(parse(text, str(JAVA_GO / "drawn.gtp")), game)


# --- a run ---------------------------------------------------------------------------------------

FAULTS = """\
clear_board
10 one
#? [one]
20 fault
30 three
clear_board
40 four
#? [four]
50 fault
60 six
clear_board
70 seven
#? [6]
"""


def run_engine(tmp_path, name, text=FAULTS, on_test=None, **options):
    case = tmp_path / "case.gtp"
    case.write_text(text)
    program = shlex.join([sys.executable, str(ENGINES / f"{name}.py")])
    limits = Limits(timeout=20, quit=1)
    own = {key: options.pop(key) for key in Limits._fields if key in options}
    limits = limits._replace(**own)
    options = Options(limits=limits, jobs=1, **options)
    return run_gathered(program, gather([str(case)]), options, on_test=on_test)


def test_a_program_that_tells_its_error_and_ends_costs_one_test(tmp_path):
    text = "boardsize 5\nclear_board\n10 score\nboardsize 6\nclear_board\n20 name\n" * 2
    (file,) = run_engine(tmp_path, "dies_after_an_error", text, restart=True).files
    assert verdicts(file) == "FPFP"
    assert [one.step for one in file.restarts] == [3, 9]
    # And one that dies in its setup costs the tests of that board.
    text = "boardsize 5\nclear_board\n10 name\nboardsize 2\nclear_board\n20 name\n" * 2
    (file,) = run_engine(tmp_path, "dies_after_an_error", text, restart=True).files
    assert verdicts(file) == "P-P-"


def verdicts(file):
    return "".join(LETTERS[outcome.verdict] for outcome in file.outcomes)


def unknown(text):
    """Return a case whose commands are not known, with marks before its boards."""
    return text.replace("clear_board", "#! restart\nclear_board")


def test_a_crash_costs_the_tests_up_to_the_next_place(tmp_path):
    told = []
    result = run_engine(
        tmp_path, "dies", unknown(FAULTS), lambda _, outcome: told.append(outcome), restart=True
    )
    (file,) = result.files
    assert tuple(told) == file.outcomes, "each test is told once and in order"
    assert verdicts(file) == "P--P--F"
    assert [file.case.steps[one.step].text for one in file.failures] == ["20 fault", "50 fault"]
    assert [file.case.steps[one.step].line for one in file.restarts] == [8, 14]
    assert {one.kind for one in file.failures} == {FailureKind.DIED}
    assert [reply is None for reply in file.replies] == [
        *(False, False, True, True),
        *(False, False, True, True),
        *(False, False),
    ]
    assert exit_code(result).value == 2
    assert file.stderr.count("KeyError:") == 2


def test_without_the_option_nothing_is_run_after_a_crash(tmp_path):
    (file,) = run_engine(tmp_path, "dies", unknown(FAULTS)).files
    assert verdicts(file) == "P------"
    assert (len(file.failures), file.restarts) == (1, ())


def test_a_hang_is_restarted_as_a_crash_is(tmp_path):
    (file,) = run_engine(
        tmp_path, "answers_once_in_a_minute", unknown(FAULTS), restart=True, timeout=0.7
    ).files
    assert verdicts(file) == "P--P--F"
    assert {one.kind for one in file.failures} == {FailureKind.TIMEOUT}


def test_five_restarts_are_the_most(tmp_path):
    text = "#! restart\n10 fault\n" * 8
    (file,) = run_engine(tmp_path, "dies", text, restart=True).files
    assert verdicts(file) == "-" * 8
    assert (len(file.failures), len(file.restarts)) == (6, 5)


def test_an_engine_that_cannot_begin_again_is_not_tried_for_ever(tmp_path):
    """It dies of the setting that is sent again."""
    text = "fault\n10 one\nclear_board\n20 two\nclear_board\n30 three\n"
    (file,) = run_engine(tmp_path, "dies", text, restart=True).files
    assert (verdicts(file), len(file.failures), file.restarts) == ("---", 1, ())


def test_the_time_of_the_file_holds_for_all_engines_together(tmp_path):
    text = "#! restart\n10 fault\n" * 8
    name = "answers_once_in_a_minute"
    (file,) = run_engine(tmp_path, name, text, restart=True, file=1).files
    (failure,) = file.failures
    assert "the file's 1 s were used up" in failure.message


def test_what_all_engines_write_counts_together(tmp_path):
    text = "#! restart\n10 name\n20 fault\n" * 3
    (file,) = run_engine(tmp_path, "dies", text).files
    replies = [*(one.reply for one in file.before), *file.replies]
    written = len(file.stderr) + sum(len(reply.raw) + 2 for reply in replies if reply)
    most = written + 5  # the first replies of the second engine go over it
    (file,) = run_engine(tmp_path, "dies", text, restart=True, max_total_output=most).files
    assert file.failures[-1].kind is FailureKind.OUTPUT
    assert f"{most:,} are allowed" in file.failures[-1].message
    assert len(file.failures) < 3


# --- reports -------------------------------------------------------------------------------------


def test_every_report_tells_each_break_once(tmp_path):
    result = run_engine(tmp_path, "dies", unknown(FAULTS), restart=True)
    (file,) = result.files
    counts = [tally(file)]
    document = json.loads("".join(json_report.parts(result, counts)))
    broke = document["files"][0]["failures"]
    assert [one["command"] for one in broke] == ["20 fault", "50 fault"]
    assert [(one["not_run"], one["restarted"]) for one in broke] == [(2, 8), (2, 14)]
    assert document["files"][0]["failure"] == broke[0]
    xml = "".join(junit.document(result.files, counts, []))
    assert (xml.count('name="(engine)"'), xml.count('errors="2"')) == (2, 2)
    points = "\n".join(tap.lines(result))
    assert points.count(" - engine") == 2
    assert "1..9" in points
    shown = "\n".join(Terminal(Paint(False)).file(view(file)))
    assert shown.count("ENGINE died") == 2
    assert shown.count("2 tests not run") == 2
    assert f"The engine was started again at {file.case.path}:14." in shown
    assert "".join(troubles(file)).count("Engine failure: died") == 2
    log = log_text(file, result)
    assert log.count("The engine was started again.") == 2
    assert log.count("<i>not sent:</i>") == 2
    for step in file.case.steps:
        if step.is_test:
            assert log.count(f'id="L{step.line}"') == 1


def log_text(file, run):
    pages = log_pages(file, run, "case.html", part_cuts(file), {})
    return "".join(text for _, page in pages for text in page)


def test_a_log_shows_every_line_once(tmp_path, monkeypatch):
    """Though it is cut into parts."""
    monkeypatch.setattr(log_module, "_PART", 60)
    text = "".join(f"#! restart\n# about {n}\n{n} fault\n#? [x]\nplay {n}\n" for n in range(1, 4))
    result = run_engine(tmp_path, "dies", text, restart=True)
    log = log_text(result.files[0], result)
    for number in range(1, 4):
        assert log.count(f"# about {number}") == 1
        assert log.count(f'<b id="L{5 * number - 2}">{number} fault</b>') == 1
        assert log.count(f"play {number}") == 1


# --- what it says of the engine ------------------------------------------------------------------


def test_a_mistake_that_hangs_is_recognised_over_all_engines(tmp_path):
    """The bank's engine that hangs on the empty board hangs on it each time."""
    case = tmp_path / "case.gtp"
    case.write_text(
        "boardsize 5\nclear_board\nkomi 0.5\n10 score\n#? [W\\+0\\.5]\n"
        "boardsize 5\nclear_board\nplay b c3\n20 score\n#? [B\\+24\\.5]\n"
        "boardsize 5\nclear_board\n30 score\n#? [W\\+0\\.5]\n"
        "boardsize 5\nclear_board\nplay w c3\n40 score\n#? [W\\+25\\.5]\n"
    )
    mistake = "fill-never-ends-on-empty-board"
    program = f"{sys.executable} -m oracle gtp --game go --mistake {mistake}"
    result = run(program, [str(case)], Options(restart=True, jobs=1, limits=Limits(timeout=2)))
    (file,) = result.files
    assert verdicts(file) == "-P-P"
    assert [one.sent[-1].text for one in file.restarts] == ["komi 0.5", "komi 0.5"]
    (found,) = diagnoses(result.files)
    assert mistake in {one.name for (one,) in found.sets}
    assert found.failures == 2
