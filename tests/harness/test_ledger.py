"""The ledger, and results as they are stored: nothing lost, nothing doubled, nothing random."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import datetime
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, select

from harness.core.errors import BusyError, UsageError
from harness.core.options import GIB, Limit
from harness.core.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Step,
    Verdict,
)
from harness.grading.ledger import chains
from harness.grading.ledger import ledger as ledger_module
from harness.grading.ledger.ledger import (
    BuildRow,
    CaseRow,
    FinishedRun,
    Ledger,
    MarkRow,
    PlannedAttempt,
    ResultRow,
    Run,
)
from harness.grading.ledger.ledger_tables import ATTEMPT
from harness.grading.ledger.places import LedgerFile
from harness.grading.records import CheckLog, Marks, PartMark, Student, Submission
from harness.work import canonical_json, records
from harness.work.records import PLACE, Measurements
from tests.harness.ledgers import KINDS, execute, finish, place_of, set_build

RUN = Run("2026-01-01T00:00:00Z", "1.0", "go-scoring", "d" * 64, "{}")
ROW = ResultRow("{}", "2026-01-01T00:00:01Z", 1, 0.5, 0.25, 1 << 20, 0.01, "{}")
ATTEMPTS = [
    PlannedAttempt(f"basis{i}", f"student{i // 2}", "public", f"c{i % 2}.gtp", "")
    for i in range(4)
]
BASES = [one.basis for one in ATTEMPTS]


@pytest.fixture(params=KINDS)
def place(request, tmp_path):
    return place_of(request.param, request, tmp_path)


@pytest.fixture
def ledger(place):
    ledger = Ledger(place)
    ledger.plan(ledger.begin(RUN), ATTEMPTS)
    yield ledger
    ledger.close()


def states(ledger):
    return [ledger.states(BASES)[basis].state for basis in BASES]


# --- attempts ---


def test_an_attempt_waits_is_leased_and_done(ledger):
    assert states(ledger) == ["waiting"] * 4
    token = ledger.lease(BASES[:2])
    assert states(ledger) == ["leased"] * 2 + ["waiting"] * 2
    assert finish(ledger, BASES[0], token, ROW, 1, last=True)
    ledger.release(token)
    assert states(ledger) == ["done"] + ["waiting"] * 3
    assert ledger.results(BASES[0]) == [("{}", "{}")]


def test_many_results_are_written_at_once_each_once_and_those_alone_that_are_leased(ledger):
    token = ledger.lease(BASES[:3])
    finish(ledger, BASES[0], token, ROW, 1, last=True)
    other = ROW._replace(result="other")
    runs = [FinishedRun(basis, other, 1, True) for basis in (*BASES, BASES[1])]
    assert not ledger.finish_all(token, runs)
    assert [[text for text, _ in ledger.results(basis)] for basis in BASES] == [
        *(["{}"], ["other"], ["other"], [])
    ]
    assert states(ledger) == ["done", "done", "done", "waiting"]
    ledger.check()


def test_builds_are_written_with_the_results_and_what_is_known_stays(ledger):
    token = ledger.lease(BASES)
    set_build(ledger, "known", "first", 1.0)
    builds = [
        BuildRow(*one) for one in (("known", "later", 1.0), ("b", "1", 1.0), ("b", "2", 1.0))
    ]
    run = FinishedRun(BASES[0], ROW, 1, last=False)
    assert ledger.finish_all(token, [run], builds)
    assert (ledger.build("known"), ledger.build("b")) == ("first", "1")
    assert (states(ledger)[0], len(ledger.results(BASES[0]))) == ("leased", 1)
    ledger.check()


def test_of_what_is_written_at_once_all_is_there_or_nothing(ledger):
    token = ledger.lease(BASES)
    runs = [FinishedRun(basis, ROW, 1, last=True) for basis in BASES]
    with pytest.raises(ZeroDivisionError):
        ledger.finish_all(token, runs, (BuildRow("b", "1", 1 / n) for n in (1, 0)))
    assert states(ledger) == ["leased"] * 4
    assert not any(map(ledger.results, BASES))
    assert ledger.finish_all(token, runs)


def test_without_the_lease_nothing_is_written(ledger):
    token = ledger.lease(BASES)
    ledger.release(token)
    ledger.lease(BASES)
    assert not finish(ledger, BASES[0], token, ROW, 1, last=True)
    assert ledger.results(BASES[0]) == []


def test_an_interrupt_within_a_statement_keeps_no_lease(ledger, place):
    """SQLAlchemy closes a connection whose statement was interrupted: its leases must be free."""

    def interrupt(*_):
        raise KeyboardInterrupt

    token = ledger.lease(BASES)
    finish(ledger, BASES[0], token, ROW, 1, last=True)
    engine = ledger.db.engine
    event.listen(engine, "do_execute", interrupt)
    with pytest.raises(KeyboardInterrupt):
        finish(ledger, BASES[1], token, ROW, 1, last=True)
    event.remove(engine, "do_execute", interrupt)
    ledger.release(token)
    with closing(Ledger(place)) as other:
        assert other.lease_free(BASES, 9).bases == tuple(BASES[1:])


def test_planning_again_changes_nothing(ledger):
    token = ledger.lease(BASES)
    finish(ledger, BASES[0], token, ROW, 1, last=True)
    second = ledger.begin(RUN)
    ledger.plan(second, ATTEMPTS[:2])
    assert states(ledger)[0] == "done"
    assert ledger.list_planned(second) == ATTEMPTS[:2]


def test_a_second_run_stands_beside_the_first(ledger):
    token = ledger.lease(BASES)
    finish(ledger, BASES[0], token, ROW, 1, last=False)
    assert states(ledger)[0] == "leased"
    finish(ledger, BASES[0], token, ROW._replace(result="second"), 2, last=True)
    assert [text for text, _ in ledger.results(BASES[0])] == ["{}", "second"]
    assert states(ledger)[0] == "done"


def test_a_fault_is_tried_again_and_then_recorded(ledger):
    token = ledger.lease(BASES)
    ledger.record_error(BASES[0], token, "the disk is full", most=2)
    assert ledger.states(BASES[:1])[BASES[0]] == ("leased", 1, "the disk is full")
    ledger.record_error(BASES[0], token, "the disk is full", most=2)
    assert states(ledger)[0] == "fault"
    assert not finish(ledger, BASES[0], token, ROW, 1, last=True)
    ledger.lease(BASES)  # the next call of the command
    assert ledger.states(BASES[:1])[BASES[0]] == ("leased", 0, "")


@pytest.mark.parametrize(("pause", "is_renewed"), [(61.0, True), (59.0, False)])
def test_whoever_finishes_something_renews_the_lease_once_in_a_minute(
    pause, is_renewed, ledger, monkeypatch
):
    now = SimpleNamespace(time=lambda: 5000.0, monotonic=lambda: 100.0)
    monkeypatch.setattr(ledger_module, "time", now)
    monkeypatch.setattr(ledger_module.places, "now", lambda _: now.time())
    token = ledger.lease(BASES[:2])
    ledger.finish_all(token, [])
    now.monotonic, now.time = (lambda: 100.0 + pause), (lambda: 5000.0 + pause)
    assert finish(ledger, BASES[0], token, ROW, 1, last=True)
    query = select(ATTEMPT.c.until).where(ATTEMPT.c.basis == BASES[1])
    assert ledger.db.execute(query).scalar() == 8600.0 + (pause if is_renewed else 0.0)


def test_the_figures_of_many_attempts_are_those_of_the_runs_that_count(ledger):
    token = ledger.lease(BASES)
    for basis, number in ((BASES[0], 1), (BASES[2], 1), (BASES[2], 2)):
        figures = f"{basis} {number}"
        finish(ledger, basis, token, ROW._replace(figures=figures), number, last=number == 2)
    finish(ledger, BASES[3], token, ROW, 1, last=True)
    ledger.release(token)
    ledger.withdraw(BASES[3:], "why")
    found = ledger.figures([*BASES, "unheard of"])
    assert found == {BASES[0]: ["basis0 1"], BASES[2]: ["basis2 1", "basis2 2"]}


def test_of_many_builds_the_last_one_counts(ledger):
    """Each has the first one's name and a number; by their names, 10 comes before 2."""
    for number in range(12):
        set_build(ledger, "", f"build {number}", 1.0)
        assert ledger.build("") == f"build {number}"
        token = ledger.lease(BASES[:1])
        finish(ledger, BASES[0], token, ROW, len(ledger.results(BASES[0])) + 1, last=True)
        ledger.release(token)
        ledger.withdraw(BASES[:1], "why")
        assert ledger.build("") is None


def test_what_is_done_is_never_leased_again(ledger):
    finish(ledger, BASES[0], ledger.lease(BASES), ROW, 1, last=True)
    ledger.lease(BASES)
    assert states(ledger) == ["done"] + ["leased"] * 3
    assert [len(ledger.results(basis)) for basis in BASES] == [1, 0, 0, 0]


# --- several processes ---


@pytest.mark.parametrize("when", [0, 1, 2])
def test_a_key_is_found_whenever_its_maker_puts_it_in_place(tmp_path, monkeypatch, when):
    path, looks, read_key = tmp_path / "key", [], chains.read_key
    made = chains.prepare_key(lambda _name: path)

    def look(wanted):
        if len(looks) == when:
            chains._pending_path(path).rename(path)
        looks.append(wanted)
        return read_key(wanted)

    monkeypatch.setattr(chains, "read_key", look)
    found = chains.find_key(path)
    assert found and found.name == made.name
    monkeypatch.undo()
    assert chains.find_key(tmp_path / "another") is None


def hold_in_another_process(place):
    """Lease all in a process of its own; return its id."""
    ready, told = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            Ledger(place).lease(BASES)
            os.write(told, b"+")
            time.sleep(60)
        finally:
            os._exit(1)
    os.close(told)
    with open(ready, "rb") as line:
        assert line.read(1) == b"+"
    return pid


@pytest.mark.processes
def test_a_lease_of_a_living_process_holds_and_of_a_dead_one_does_not(ledger, place):
    pid = hold_in_another_process(place)
    with pytest.raises(BusyError, match=f"process {pid} on .* is using"):
        ledger.lease(BASES[:1])
    assert states(ledger) == ["leased"] * 4
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert finish(ledger, BASES[0], ledger.lease(BASES), ROW, 1, last=True)


def test_a_lease_of_another_machine_holds_until_it_runs_out(ledger, place):
    ledger.lease(BASES)
    execute(place, "UPDATE attempt SET owner = 'elsewhere 1 5@b'")
    with pytest.raises(BusyError, match="process 1 on elsewhere"):
        ledger.lease(BASES)
    execute(place, f"UPDATE attempt SET until = {time.time() - 1}")
    ledger.lease(BASES)


# Writes results as fast as it can; each line it prints names one that is surely written.
WRITER = """
import sys
from pathlib import Path
from harness.grading.ledger import places
from harness.grading.ledger.ledger import Ledger, PlannedAttempt
from tests.harness.test_ledger import ROW, RUN, finish
ledger = Ledger(places.of(sys.argv[1], Path(sys.argv[2])))
with ledger.naming_errors():
    bases = [f"{i:05}" for i in range(2000)]
    planned = [PlannedAttempt(basis, "s", "public", basis, "") for basis in bases]
    ledger.plan(ledger.begin(RUN), planned)
    left = [b for b, state in ledger.states(bases).items() if state.state != "done"]
    token = ledger.lease(left)
    for basis in left:
        assert finish(ledger, basis, token, ROW._replace(result=basis), 1, last=True)
        print(basis, flush=True)
"""


@pytest.mark.long(10)
@pytest.mark.processes
def test_what_was_written_survives_sigkill_at_any_moment(tmp_path):
    """On a server, too: see ``test_ledger_server``."""
    place = LedgerFile(tmp_path / "ledger.sqlite")
    chance = random.Random(5)
    told = set()
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, place.path, tmp_path / "key"],
            stdout=subprocess.PIPE,
            text=True,
        )
        first = writer.stdout.readline()
        time.sleep(chance.random() * 0.2)
        writer.send_signal(signal.SIGKILL)
        rest = writer.communicate()[0]
        told |= set((first + rest).split())
        assert execute(place, "PRAGMA integrity_check") == [("ok",)]
        rows = execute(place, "SELECT basis, result FROM result")
        done = {row[0] for row in execute(place, "SELECT basis FROM attempt WHERE state = 'done'")}
        assert {basis for basis, _ in rows} == done >= told
        assert all(basis == result for basis, result in rows)
        assert len(done) <= len(told) + 3  # one unsaid for each kill


# --- files ---


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"Student,ID\n" * 100, "is not a ledger"),
        (b"", None),  # SQLite's own idea of a new database
    ],
)
def test_other_files_are_refused(tmp_path, content, expected):
    path = tmp_path / "file"
    path.write_bytes(content)
    if expected is None:
        Ledger(path).close()
        return
    with pytest.raises(UsageError, match=expected):
        Ledger(path)
    assert path.read_bytes() == content


def test_other_databases_and_versions_are_refused(tmp_path):
    other = tmp_path / "other"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    with pytest.raises(UsageError, match="not a ledger of gtp-harness"):
        Ledger(other)
    Ledger(tmp_path / "own").close()
    with sqlite3.connect(tmp_path / "own") as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(UsageError, match="another version: found version 9"):
        Ledger(tmp_path / "own")
    with pytest.raises(UsageError, match="cannot be used"):
        Ledger(tmp_path / "absent" / "file")


# --- marks ---


def test_marks_are_only_added(ledger):
    run = ledger.begin(RUN)
    first = MarkRow("a", "1", "s", ("basis0", "basis1"))
    ledger.give(run, "t1", [first])
    ledger.give(run, "t2", [first])  # the same again is nothing new
    ledger.give(run, "t3", [first._replace(marks="2"), first._replace(key="b")])
    ledger.give(run, "t4", [first])
    assert [(one.marks, one.given) for one in ledger.history("a")] == [
        ("1", "t1"),
        ("2", "t3"),
        ("1", "t4"),
    ]
    assert {key: one.given for key, one in ledger.in_force().items()} == {"a": "t4", "b": "t3"}
    assert ledger.in_force()["b"].bases == ("basis0", "basis1")


def test_runs_cases_and_submissions(ledger):
    assert ledger.find_run() is None
    run = ledger.begin(RUN)
    cases = [
        CaseRow("public", "b.gtp", b"x\xff", "/b.gtp", "1"),
        CaseRow("private", "a.gtp", b"", "/own/a.gtp", "2"),
    ]
    ledger.set_cases(run, cases)
    ledger.set_submissions(run, {"b": "B", "a": "A"})
    again = ledger.begin(RUN._replace(options="other"))
    ledger.set_cases(again, cases[:1])  # the content is known
    assert ledger.find_run() == (run, RUN)
    assert ledger.cases(run) == cases
    assert ledger.content("1") == b"x\xff"
    assert ledger.submissions(run) == {"a": "A", "b": "B"}
    set_build(ledger, "x", "first", 1.0)
    set_build(ledger, "x", "second", 1.0)
    assert (ledger.build("x"), ledger.build("y")) == ("first", None)


# --- records as text ---

REPLIES = st.builds(
    Reply,
    st.booleans(),
    st.text(max_size=5),
    st.text(max_size=5),
    st.floats(0, 9),
    st.text(max_size=3),
)
FRACTIONS = st.fractions(max_denominator=60)
PARTS = st.builds(PartMark, st.text(), FRACTIONS, FRACTIONS, st.text(), st.booleans())


@given(st.lists(PARTS, max_size=3).map(tuple), FRACTIONS, st.text())
def test_marks_come_back_from_their_text(parts, points, text):
    marks = Marks(parts, points, text, points, points, text, withheld=True)
    assert canonical_json.loads(Marks, canonical_json.dumps(marks)) == marks


@given(st.text(), st.one_of(st.none(), st.datetimes()), st.lists(st.text()).map(tuple))
def test_submissions_come_back_from_their_text(text, time, texts):
    students = (Student("k", text, (("canvas", "1"),)), Student("l", text))
    log = CheckLog(present=True, remarks=texts)
    submission = Submission("k", students, text, "f" * 64, time, False, "", texts, log=log)
    assert canonical_json.loads(Submission, canonical_json.dumps(submission)) == submission


def result_of(replies, folder, measured):
    """Return a result of a file of so many tests, as an engine in ``folder`` would give it."""
    steps = tuple(Step(i + 1, f"{i} name", i, "name", True, None) for i in range(len(replies)))
    heard = tuple(reply and reply._replace(seconds=measured) for reply in replies)
    verdicts = [Verdict.NOT_RUN if reply is None else Verdict.PASSED for reply in heard]
    limit = Limit("memory", measured * GIB, GIB, "bytes")
    return FileResult(
        case=CaseFile("a.gtp", steps, ("name",) * len(steps)),
        outcomes=tuple(map(Outcome, range(len(steps)), verdicts, heard)),
        replies=heard,
        before=(Exchange("cputime", Reply(True, f"{measured}", f"= {measured}", measured)),),
        after=(),
        errors=0,
        warnings=(f"the engine wrote to {folder}/x",),
        failures=(Failure(FailureKind.MEMORY, "It went over its ", limit=limit, rest="."),),
        stderr=f'File "{folder}/assignment1/Go1.py", line 1',
        name="",
        version="",
        seconds=measured,
        cpu_seconds=measured / 2,
    )


@given(st.lists(st.one_of(st.none(), REPLIES)), st.floats(0.1, 9), st.floats(0.1, 9))
def test_two_runs_of_the_same_are_stored_as_the_same_bytes(replies, one, other):
    first, second = result_of(replies, "/tmp/x-1", one), result_of(replies, "/tmp/x-2", other)
    text = canonical_json.dumps(records.strip_measurements(first, "/tmp/x-1"))
    assert text == canonical_json.dumps(records.strip_measurements(second, "/tmp/x-2"))
    assert text.isascii()
    assert f"{PLACE}/assignment1/Go1.py" in text
    (failure,) = canonical_json.loads(FileResult, text).failures
    assert failure.message == "It went over its memory limit: 1 GiB allowed."
    assert failure.limit == Limit("memory", None, GIB, "bytes")


@pytest.mark.parametrize(
    "said", ["time limit: 3 s used, 5 s allowed", "limit: 1 used, 2 used, 3 allowed"]
)
def test_what_an_engine_says_is_stored_as_it_is(said):
    """The words may be those of our own sentences about limits."""
    one = Reply(True, said, f"= {said}", 0.0, said)
    failure = Failure(FailureKind.DIED, f"It died. Its last words: {said}")
    result = result_of([one], "/tmp/x", 1.0)
    result = result._replace(stderr=said, warnings=(said,), failures=(failure,))
    kept = records.strip_measurements(result, "/tmp/x")
    assert (kept.replies, kept.stderr, kept.warnings) == ((one,), said, (said,))
    assert kept.failures == (failure,)


@given(st.lists(st.one_of(st.none(), REPLIES)), st.floats(0.1, 9))
def test_a_stored_result_comes_back_with_its_times(replies, seconds):
    result = result_of(replies, "/tmp/x", seconds)
    figures = canonical_json.loads(
        Measurements, canonical_json.dumps(records.get_measurements(result))
    )
    text = canonical_json.dumps(records.strip_measurements(result, "/nowhere"))
    back = records.add_measurements(canonical_json.loads(FileResult, text), result.case, figures)
    assert back.case == result.case
    assert back.outcomes == tuple(
        outcome._replace(reply=back.replies[outcome.step]) for outcome in result.outcomes
    )
    for before, after in zip(result.replies, back.replies, strict=True):
        if before is None:
            assert after is None
        else:
            assert after._replace(seconds=0.0) == before._replace(seconds=0.0)
            assert after.seconds == pytest.approx(before.seconds, abs=1e-6)
    assert (back.seconds, back.cpu_seconds) == pytest.approx((seconds, seconds / 2), abs=1e-6)


def test_times_of_day_and_fractions_are_written_as_expected():
    value = (Fraction(3, 2), datetime(2018, 1, 29, 23, 55), Verdict.UNEXPECTED_PASS, None, 1.5)
    assert canonical_json.dumps(value) == '["3/2","2018-01-29T23:55:00","PASSED",null,1.5]'
