"""Expressions that would take for ever are given up, and nobody gets a wrong mark for it."""

from __future__ import annotations

import re
import signal
import sys
import threading
from xml.etree import ElementTree

import pytest

from harness.cli import main
from harness.errors import UndecidedError
from harness.exits import ExitCode
from harness.options import Limits
from harness.reading import deadline, pattern
from harness.reading.deadline import within
from harness.records import Verdict
from harness.report.tally import exit_code
from harness.running.runs import Options, run
from tests.harness.test_broken_engines import ENGINES

# Each would take minutes at least, most of them longer than the universe.
ENDLESS = [
    (r"(a+)+b", "a" * 60),
    (r"(a|aa)+b", "a" * 100),
    (r"(?:a|a)*b", "a" * 60),
    (r"(a*)(?:a*)*\1b", "a" * 60),
    (r"(.*)\1x", "a" * 1_000_000),
    (r"(?<x>.*)\k<x>.*\k<x>.*x", "a" * 1_000_000),
    (r".*.*.*.*x", "a" * 10_000),
    (r"(?=(a+)+b)a*", "a" * 60),
    (r"(?!(a+)+b)c*", "a" * 60),
    (r"(,|,,)*;", "," * 100),
    (r"((a{0,9}){0,9}){0,9}b", "a" * 100_000),
]


@pytest.fixture
def soon(monkeypatch):
    """Nothing to wait for: a limit that leaves every decent match a thousand times its time."""
    monkeypatch.setattr(deadline, "LIMIT", 0.05)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(("expression", "text"), ENDLESS, ids=lambda value: value[:12])
def test_what_takes_for_ever_is_given_up(expression, text):
    test = pattern.matcher.__wrapped__(expression)
    with pytest.raises(UndecidedError):
        test(text)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("expression", ["(a+)+b", "b|(a|a)*c", "a*a*a*a*b"])
def test_so_is_what_awk_would_search(expression):
    test = pattern.searcher.__wrapped__(expression)
    with pytest.raises(UndecidedError):
        test("a" * 10_000)


# What needs a deadline is matched as ever, look-around and back-references too.
DECENT = [
    (r"(a+)+b", "aaab", True),
    (r"([A-T]\d+ ?)+", "A1 B2 C3", True),
    (r"([A-T]\d+ ?)+", "A1 B2 U3 ", False),
    (r"(\w+) \1", "one one", True),
    (r"(\w+) \1", "one two", False),
    (r"(?=.*B2)(?!.*C3).*", "A1 B2", True),
    (r"(?=.*B2)(?!.*C3).*", "A1 B2 C3", False),
    (r".*(?<=W\+)\d+(\.5)?", "W+4.5", True),
]


@pytest.mark.parametrize(("expression", "text", "matches"), DECENT)
def test_verdicts_are_those_of_re(expression, text, matches):
    assert bool(pattern.matcher(expression)(text)) is matches


@pytest.mark.parametrize("expression", ["a*b", "[a-z]+1", "a{1,9}b", r"(aa)*\+", "(a|b)"])
def test_what_needs_none_is_quick_with_the_longest_reply(expression):
    """It has none of its own: were its time not linear, a million characters took minutes."""
    assert not within(5, pattern.matcher(expression), "a" * 1_000_001)


def test_nothing_stays_behind(soon):
    def mine(_number, _frame):
        raise AssertionError("the timer still runs")

    former = signal.signal(signal.SIGVTALRM, mine)
    try:
        assert within(1, re.compile("a+").fullmatch, "aaa")
        with pytest.raises(UndecidedError):
            within(0.01, re.compile("(a+)+b").fullmatch, "a" * 60)
        assert signal.getsignal(signal.SIGVTALRM) is mine
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
    finally:
        signal.signal(signal.SIGVTALRM, former)


def test_beside_the_main_thread_the_result_is_the_same():
    results = []
    test = pattern.matcher(r"(a|b)+c*")
    thread = threading.Thread(target=lambda: results.append(bool(test("abcc"))))
    thread.start()
    thread.join()
    assert results == [True]


# --- a whole run -------------------------------------------------------------------------------

CASE = """\
10 first
#? [first]
20 fault
#? [(a+)+b]
30 fault
#? [!(a+)+b]*
40 last
#? [last]
"""
WRONG = (
    r"bait\.gtp:3: the reply to '20 fault' could not be judged: matching it with the expectation"
    r" takes more than 2 s; an expression should not offer many ways .*"
)
BAIT = f"{sys.executable} {ENGINES / 'baits.py'}"


@pytest.fixture
def sooner(monkeypatch):
    """A tenth of the limit, for expressions that nobody has read before."""
    monkeypatch.setattr(deadline, "LIMIT", deadline.LIMIT / 10)
    pattern.matcher.cache_clear()
    yield
    pattern.matcher.cache_clear()


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    path = tmp_path_factory.mktemp("bait") / "bait.gtp"
    path.write_text(CASE)
    return path


@pytest.mark.processes
@pytest.mark.usefixtures("sooner")
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_case_file_is_at_fault_and_nobody_else(jobs, case):
    """The engine does not pay for the time either: its limit for the file is one second."""
    other = case.with_name("other.gtp")
    other.write_text("1 a\n#? [a]\n")
    limits = Limits(file=1, startup=20)
    result = run(BAIT, [str(case), str(other)], Options(jobs=jobs, limits=limits))
    judged, untouched = result.files
    assert [outcome.verdict for outcome in judged.outcomes] == [
        *(Verdict.PASSED, Verdict.NOT_JUDGED, Verdict.NOT_JUDGED, Verdict.PASSED)
    ]
    assert (judged.failure, untouched.failure, result.faults) == (None, None, ())
    assert len(result.errors) == 2
    assert re.search(WRONG, result.errors[0])
    assert exit_code(result) is ExitCode.BROKEN


@pytest.mark.processes
@pytest.mark.usefixtures("sooner")
def test_every_report_says_so(case, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(case.parent)
    paths = [tmp_path / name for name in ("out", "x.json", "x.xml", "x.tap")]
    options = zip(("--output", "--json", "--junit", "--tap"), map(str, paths), strict=True)
    given = [word for pair in options for word in pair]
    assert main(["run", *given, "--report", BAIT, "bait.gtp"]) == ExitCode.BROKEN
    terminal = capsys.readouterr().out
    assert "? not judged  20 fault" in terminal
    assert re.search(f"✗ case file  {WRONG}", terminal)
    assert "4 tests, 2 not judged, 2 passed" in terminal
    html = paths[0].joinpath("index.html").read_text()
    json, junit, tap = (path.read_text() for path in paths[1:])
    assert "2 not judged" in html
    assert html.count("could not be judged") == 2
    assert "? not judged" in paths[0].joinpath("bait.gtp.html").read_text()
    assert json.count('"verdict": "not judged"') == 2
    suite, trouble = ElementTree.fromstring(junit)
    assert [case.get("message") for case in suite.iter("skipped")] == ["not judged"] * 2
    assert len(list(trouble.iter("error"))) == 2
    assert tap.count(" # SKIP not judged\n") == 2
    assert "not ok 2 - case file" in tap
