"""Whatever is in a case file, the harness reads, judges and reports it, or says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from harness.core.errors import CaseError, UndecidedError
from harness.core.records import CaseFile, FileResult, Outcome, Reply, RunResult, Verdict
from harness.core.text import escape_controls, without_surrogates
from harness.judging.diagnosis import diagnoses
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.report import gogui, json, junit, tap
from harness.report.file_view import view
from harness.report.html.file import file_pages
from harness.report.html.log import log_of, log_pages, part_cuts
from harness.report.paint import Paint
from harness.report.tally import tally
from harness.report.terminal_report import Terminal
from harness.running.file_runner import not_run

LONG = "9" * 5_000
WORDS = [
    *("boardsize", "clear_board", "play", "b", "white", "pass", "resign", "loadsgf", "undo"),
    *("komi", "genmove", "final_score", "reg_genmove", "set_free_handicap", "fixed_handicap"),
    *("protocol_version", "quit", "list_commands", "kgs-genmove_cleanup", "showboard", "winner"),
    *("load_board", "policy_moves", "policytype", "sim", "place_free_handicap", "time_left"),
    *("a1", "t19", "C3", "i5", "z99", "9", "19", "3", "0", "-1", "1e400", "nan", LONG, "b" + LONG),
    *("missing.sgf", "/dev/zero", "..", "\ud800", "\x00", "\u2028", "\x85", "\u0661", "#", "\t"),
]
PATTERNS = [
    *("[", "]", "[]", "[a]*", "[!a]", "[!", "[a]&", "@[a]", "[(]", "[\\x{110000}]", "[(?i)a"),
    *(f"[a{{{LONG}}}]", f"[\\{LONG}]", "[(?<n>a)\\k<n>]", "[\\ud800]", "[a&&[^b]]", "[\\Q]", "."),
]

words = st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=5).map(" ".join)
numbers = st.sampled_from(["", "1 ", "2 ", "1", "+5 ", "-3 ", f"{LONG} ", "2147483648 "])
lines = st.one_of(
    st.builds(str.__add__, numbers, words),
    st.sampled_from(PATTERNS).map("#? ".__add__),
    st.text(max_size=8).map("#?".__add__),
    st.just(""),
)
ends = st.sampled_from(["\n", "\r\n", "\r"])
texts = st.builds(
    lambda end, found: end.join(found).encode("utf-8", "surrogatepass"), ends, st.lists(lines)
)
replies = st.sampled_from(["", "a", "B+3", "PASS", LONG, "\ud800\x00", "\u2028", "C3 " * 50])


@given(texts, st.sampled_from(["gogui", "gnugo"]), st.booleans(), replies)
def test_reporting(data: bytes, dialect: str, ok: bool, text: str) -> None:
    case = read(data, dialect)
    if case is None:
        return
    run = RunResult("engine", (file := answer_alike(case, dialect, text, ok=ok),), (), "", "", {})
    run = run._replace(diagnoses=diagnoses(run.files))
    shown = view(file)
    cuts = part_cuts(file)
    log, logs = log_of(file, "x", cuts), log_pages(file, run, "x", cuts, {})
    told = [
        *gogui.lines(file, prefix=True, long=True),
        *Terminal(Paint(on=False), unicode=True, patterns=True).file(shown),
        without_surrogates("".join(json.parts(run, [tally(file)]))),
        *map(escape_controls, junit.document(run.files, [tally(file)], [])),
        *map(escape_controls, tap.lines(run)),
        *(escape_controls(text) for _, page in file_pages(shown, run, "x", log) for text in page),
        *(escape_controls(text) for _, page in logs for text in page),
    ]
    for one in told:
        one.encode()


def read(data: bytes, dialect: str) -> CaseFile | None:
    """Return the case file; None if it is bad, and says so."""
    try:
        return casefile.parse(data, "x.gtp", find_dialect(dialect))
    except CaseError as error:
        assert str(error).startswith("x.gtp:")
        escape_controls(str(error)).encode()
        return None


def answer_alike(case: CaseFile, dialect: str, text: str, *, ok: bool) -> FileResult:
    """Return the result of an engine that answers everything alike."""
    raw = f"={' ' if ok else '?'}{text}"
    reply = Reply(ok, text, raw, 0.1)
    result = not_run(case)
    outcomes = tuple(judge_tests(case, dialect, reply))
    settled = find_dialect(dialect).settle_outcomes(case.steps, list(outcomes))
    return result._replace(outcomes=tuple(settled), replies=(reply,) * len(case.steps))


def judge_tests(case: CaseFile, dialect: str, reply: Reply) -> Iterator[Outcome]:
    """Yield the outcome of each test."""
    for index, step in enumerate(case.steps):
        if step.is_test:
            try:
                verdict = find_dialect(dialect).verdict(step.pattern, reply)
            except UndecidedError:
                verdict = Verdict.NOT_JUDGED
            yield Outcome(index, verdict, reply)
