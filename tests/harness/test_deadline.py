"""Expressions that would take for ever are given up, and nobody gets a wrong mark for it."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from re import _parser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.core.errors import ExitCode, HarnessError, UndecidedError
from harness.core.options import Limits
from harness.core.records import Verdict
from harness.reading import matchers, pattern
from harness.report.tally import exit_code
from harness.running.runs import Options, run
from tests.harness.test_broken_engines import ENGINES

# Each would take minutes at least, most of them longer than the universe.
ENDLESS = [
    (r"(a+)+b", "a" * 60),
    (r"(a|aa)+b", "a" * 100),
    (r"(a*)(?:a*)*\1b", "a" * 60),
    (r"(.*)\1x", "a" * 1_000_000),
    (r".*.*.*.*x", "a" * 10_000),
    (r"(?=(a+)+b)a*", "a" * 60),
    (r"((a{0,9}){0,9}){0,9}b", "a" * 100_000),
    (r"(?<n>.*)\k<n>", "a" * 200_000 + "b"),
    (r"\R*x", "\r\n" * 60),
]


@pytest.fixture
def soon(monkeypatch):
    """Nothing to wait for: a limit that leaves every decent match a thousand times its time."""
    monkeypatch.setattr(pattern, "LIMIT", 0.05)


@pytest.mark.processes
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(("expression", "text"), ENDLESS, ids=lambda value: value[:12])
def test_what_takes_for_ever_is_given_up(expression, text):
    test = pattern.matcher.__wrapped__(expression)
    with pytest.raises(UndecidedError):
        test(text)


@pytest.mark.processes
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("expression", ["b|(a|a)*c", r"(a\053)\053b", r"(a\x2b)\x2bb"])
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
    # Too deep to be told how long it takes, and not too deep to be matched.
    ("(a|" * 130 + "b" + ")*" * 130, "a" * 300, True),
]


@pytest.mark.processes
@pytest.mark.parametrize(("expression", "text", "matches"), DECENT)
def test_verdicts_are_those_of_re(expression, text, matches):
    assert bool(pattern.matcher(expression)(text)) is matches


@pytest.mark.parametrize("expression", ["a*b", "[a-z]+1", "a{1,9}b", r"(aa)*\+", "(a|b)"])
def test_what_needs_none_is_quick_with_the_longest_reply(expression):
    """It has no deadline: if its time were not linear, a million characters would take minutes."""
    begun = time.process_time()
    assert not pattern.matcher(expression)("a" * 1_000_001)
    assert time.process_time() - begun < 5


# --- where it is matched ---


def elsewhere(monkeypatch):
    """Count what is not matched in this process."""
    asked = []
    monkeypatch.setattr(matchers, "ask", lambda question: bool(asked.append(question)))
    return asked


# Nothing that shipped case files ask of short replies, and what is hopeless with long ones.
SHORT = [
    r"(?i)a1|b2|c3",
    r"0|B\+4(\.0)?",
    r"(?i)Win +a1 *( +b2 *)?",
    r".*A1.*B2.*",
    r"[a-z]+\d*x?",
]


@pytest.mark.parametrize("expression", SHORT)
def test_what_takes_few_steps_is_matched_here(expression, monkeypatch):
    asked = elsewhere(monkeypatch)
    pattern.matcher.__wrapped__(expression)("Win A1 B2 and some more")
    assert asked == []


@pytest.mark.parametrize(("expression", "text"), ENDLESS, ids=lambda value: value[:12])
def test_what_may_take_for_ever_is_not(expression, text, monkeypatch):
    asked = elsewhere(monkeypatch)
    pattern.matcher.__wrapped__(expression)(text)
    assert len(asked) == 1


REPEATED = ["*", "+", "?", "*?", "+?", "{2}", "{1,3}", "{2,}"]
PIECES = st.sampled_from(["a", "b", "ab", "a|b", ".", "[ab]", "a?", "(?:)", "\\b", "^", "$"])
EXPRESSIONS = st.recursive(
    PIECES,
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds(
            "(?:{}){}".format,
            inner,
            st.sampled_from(REPEATED),
        ),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?={}){}".format, inner, inner),
        st.builds("(?>{})".format, inner),
    ),
    max_leaves=6,
)
TEXTS = st.text("ab", max_size=8)


@settings(deadline=None, max_examples=300)
@given(EXPRESSIONS, TEXTS)
def test_no_expression_has_more_ways_and_steps_than_its_bound(expression, text):
    """A slow matcher that tries all ways, one after the other, counts them."""
    nodes = list(_parser.parse(expression))
    found = matchers._sequence(nodes, len(text))
    STEPS.clear()
    ways = sum(1 for _ in islice(_ends(nodes, text, 0), 10_000))
    assert ways <= found.ways or found.ways > matchers.MOST
    assert len(STEPS) <= found.steps or found.steps > matchers.MOST


STEPS = []  # of the slow matcher: what it has tried


def _ends(nodes, text, place):
    if not nodes:
        yield place
        return
    (kind, value), *others = nodes
    for end in _ends_of(kind, value, text, place):
        yield from _ends(others, text, end)


def _ends_of(kind, value, text, place):
    STEPS.append(kind)
    name = str(kind)
    if name in ("LITERAL", "ANY", "IN"):
        one = re.compile(".", re.DOTALL) if name == "ANY" else None
        is_met = place < len(text) and (one or _is_met(kind, value, text[place]))
        yield from [place + 1] * bool(is_met)
    elif name == "BRANCH":
        for way in value[1]:
            yield from _ends(list(way), text, place)
    elif name == "SUBPATTERN":
        yield from _ends(list(value[3]), text, place)
    elif name in ("MAX_REPEAT", "MIN_REPEAT"):
        yield from _rounds(value, text, place, 0)
    elif name == "ATOMIC_GROUP":
        yield from islice(_ends(list(value), text, place), 1)
    elif name == "ASSERT":
        yield from [place for _ in islice(_ends(list(value[1]), text, place), 1)]
    else:
        yield place  # an anchor: it may hold


def _is_met(kind, value, character):
    codes = [value] if str(kind) == "LITERAL" else [one for _, one in value]
    return ord(character) in codes


def _rounds(value, text, place, done):
    least, most, nodes = value
    if done >= least:
        yield place
    if done < most:
        for end in _ends(list(nodes), text, place):
            if end > place or done < least:  # one that matches nothing is not done again
                yield from _rounds(value, text, end, done + 1)


@pytest.mark.processes
@settings(deadline=None, max_examples=200)
@given(EXPRESSIONS, TEXTS)
def test_the_other_process_answers_as_this_one(expression, text):
    compiled = re.compile(expression, re.ASCII)
    for how in ("fullmatch", "search"):
        here = getattr(compiled, how)(text) is not None
        assert matchers.ask([5.0, expression, compiled.flags, how, text]) is here


# --- threads ---


@pytest.mark.processes
@pytest.mark.usefixtures("soon")
def test_the_limit_holds_in_every_thread_at_once():
    def verdict(one):
        expression, text = one
        try:
            return bool(pattern.matcher.__wrapped__(expression)(text))
        except UndecidedError:
            return "undecided"

    asked = [*ENDLESS[:2], *((expression, text) for expression, text, _ in DECENT[:4])] * 2
    expected = ["undecided", "undecided", True, True, False, True]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(verdict, asked)) == expected * 2


@pytest.mark.processes
def test_processes_are_kept_and_ended():
    test = pattern.matcher(r"([A-T]\d+ ?)+")
    test("A1 " * 40)
    kept = {one._process.pid for one in matchers._waiting}
    test("B2 " * 40)
    assert {one._process.pid for one in matchers._waiting} == kept
    matchers.end_all()
    assert not any(Path(f"/proc/{pid}").exists() for pid in kept)


@pytest.mark.long(1)
@pytest.mark.processes
def test_a_forked_process_leaves_those_that_wait_to_its_parent():
    pattern.matcher(r"([A-T]\d+ ?)+")("A1 " * 40)
    waiting = matchers._waiting[-1]
    forked = multiprocessing.get_context("fork").Process(
        target=lambda: os._exit(len(matchers._waiting))
    )
    forked.start()
    forked.join(20)
    status = forked.exitcode
    forked.kill()
    assert status == 0
    assert waiting._process.poll() is None
    assert matchers._waiting[-1] is waiting


@pytest.mark.processes
def test_a_process_that_was_killed_while_it_waited_is_replaced():
    pattern.matcher(r"([A-T]\d+ ?)+")("A1 " * 40)
    os.kill(matchers._waiting[-1]._process.pid, signal.SIGKILL)
    assert pattern.matcher(r"([A-T]\d+ ?)+")("A1 " * 40)


@pytest.mark.processes
def test_a_process_that_is_killed_at_work_is_the_harness_s_trouble(monkeypatch, tmp_path):
    program = tmp_path / "killed.py"
    program.write_text("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    monkeypatch.setattr(matchers, "_PROGRAM", program)
    matchers.end_all()
    with pytest.raises(HarnessError, match="ended \\(-9\\)"):
        pattern.matcher(r"([A-T]\d+ ?)+")("A1 " * 40)


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
    monkeypatch.setattr(pattern, "LIMIT", pattern.LIMIT / 10)
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
def test_the_case_file_is_at_fault_and_nobody_else(case):
    """The engine does not pay for the time either: its limit for the file is one second."""
    other = case.with_name("other.gtp")
    other.write_text("1 a\n#? [a]\n")
    limits = Limits(file=1, startup=20)
    result = run(BAIT, [str(case), str(other)], Options(jobs=2, limits=limits))
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
