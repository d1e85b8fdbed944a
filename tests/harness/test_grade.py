"""``gtp-harness grade`` as a teacher runs it: a download, marks, a ledger that survives all."""

import contextlib
import html
import io
import json
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import pexpect
import pytest

from harness.cli import main
from harness.core.records import FileResult
from harness.grading.records import decimal
from harness.report import progress
from harness.work import canonical_json, crew
from tests.benchmarks.bench_grade import results
from tests.harness import small_class
from tests.harness.small_class import CLASS, Student, file_name, spin

# Together: they share what takes seconds to make.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.long(60),
    pytest.mark.usefixtures("warm_commands"),
]

OK, CHANGES, BAD, FAULT, ATTENTION = 0, 1, 2, 3, 4


@pytest.fixture
def room(tmp_path, sandbox):
    """A class that was not graded yet."""
    return small_class.make(tmp_path)


@pytest.fixture
def few(tmp_path, sandbox):
    """Three quick ones, and the one who submits nothing."""
    return small_class.make(tmp_path, (*CLASS[:2], CLASS[5]))


@pytest.fixture
def slow_class(tmp_path, sandbox):
    """Three of them; one sleeps, so the grading still runs when its first result is there."""
    sleeps = CLASS[5]._replace(body="time.sleep(0.8)\n    return 2 * n")
    return small_class.make(tmp_path, (*CLASS[:2], sleeps))


@pytest.fixture(scope="module")
def once(tmp_path_factory, sandbox):
    """A class that was graded, and what was said at the end. Not to be written into."""
    room = small_class.make(tmp_path_factory.mktemp("graded"))
    said = grade_apart(room, "--no-images")
    return room, said


@pytest.fixture
def graded_class(tmp_path, once):
    """A class that was graded, for a test of its own."""
    return Path(shutil.copytree(once[0], tmp_path / "graded"))


@pytest.fixture(scope="session")
def sandbox():
    from tests.harness.test_check import works

    if not works():
        pytest.skip("no sandbox works on this machine")


def arguments(room, *more, source="submissions", output="out"):
    where = [room / source] if source else []
    words = [*where, "--assignment", room / "counting", "--output", room / output, *more]
    return [sys.executable, "-m", "harness.cli", "grade", *map(str, words)]


def grade(room, *more, status=OK, **rest):
    """Grade in this process; return what was said."""
    words, said = arguments(room, *more, **rest), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            found = main(words[3:])
        except SystemExit as error:  # by argparse
            found = error.code
    assert found == status, said.getvalue()
    assert "Traceback" not in said.getvalue()
    return said.getvalue()


def grade_apart(room, *more, status=OK):
    """Grade in a process of its own; return what was said."""
    done = subprocess.run(
        arguments(room, *more), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def marks(room, output="out"):
    """Return the marks in force, by the student's key."""
    with sqlite3.connect(room / output / "ledger.sqlite") as db:
        rows = db.execute("SELECT key, marks FROM mark ORDER BY id").fetchall()
    return {key: Fraction(json.loads(text)["total"]) for key, text in rows}


def of(student, found):
    number = 100 + CLASS.index(student)
    (mark,) = [mark for key, mark in found.items() if str(number) in key]
    return mark


# --- marks ---


@pytest.mark.full
def test_a_class_gets_its_marks(once):
    room, said = once
    found = marks(room)
    assert {one.name: of(one, found) for one in CLASS} == {one.name: one.mark for one in CLASS}
    assert len(found) == len(CLASS) + 1
    for student in CLASS:
        key = "".join(reversed(student.name.lower().split()))
        line = next(line for line in said.splitlines() if line.startswith(key))
        assert decimal(Fraction(student.mark)) in line.split()
    assert f"{len(CLASS) + 1} marks, 0 withheld" in said
    assert any("limit: 1 s of CPU time allowed" in message for message in failures(room))
    # The one who hands in an endless loop is stopped by processor time, and not run again.
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        assert db.execute("SELECT count(*) FROM result WHERE number > 1").fetchone() == (0,)


def test_nothing_is_run_twice(graded_class):
    room = graded_class
    before = results(room / "out" / "ledger.sqlite")
    said = grade(room, "--no-images")
    assert " 0 of 24 attempts to be run" in said
    assert results(room / "out" / "ledger.sqlite") == before


def test_on_a_terminal_a_line_tells_how_much_is_left(slow_class):
    program, *words = arguments(slow_class, "--no-images")
    screen = pexpect.spawn(program, words, encoding="utf-8", timeout=120, dimensions=(24, 100))
    screen.expect("left")
    screen.expect("0 with failures")
    screen.expect("4 marks, 0 withheld")
    screen.expect(pexpect.EOF)
    screen.close()
    assert screen.exitstatus == OK


def test_off_a_terminal_a_line_now_and_then_tells_what_it_waits_for(
    tmp_path, sandbox, monkeypatch, capsys
):
    one_of(tmp_path, "time.sleep(0.5)\n    return 2 * n", 20)
    monkeypatch.setattr(progress, "SECONDS", 0.5)
    status = main(arguments(tmp_path, "--no-images")[3:])
    said = capsys.readouterr().err
    assert status == OK, said
    done_so_far = r"\d:\d\d \d of 3 case files done, 0 with failures"
    waits = r"; waiting for unauna_\w+(: \w+\.gtp for 0:\d\d)?"
    expected = rf"{done_so_far}({waits})?"  # all done: the marks are written
    lines = said.splitlines()
    assert any("waiting" in line for line in lines)
    assert all(re.fullmatch(expected, line) for line in lines), said


# --- killed ---


@pytest.mark.long(10)
def test_a_grading_that_is_killed_goes_on_to_the_same_results(once, room):
    chance, kills = random.Random(7), 0
    for _ in range(4):
        process = subprocess.Popen(
            arguments(room, "--no-images", output="wild"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(0.5 + chance.random())
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
        process.wait()
    assert kills >= 2
    grade(room, "--no-images", output="wild")
    calm, wild = once[0] / "out", room / "wild"
    assert results(calm / "ledger.sqlite") == results(wild / "ledger.sqlite")


def test_a_grading_that_is_ended_leaves_a_ledger_that_goes_on(slow_class):
    process = subprocess.Popen(
        arguments(slow_class, "--no-images"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    ledger = slow_class / "out" / "ledger.sqlite"
    while not ledger.exists() or not results_so_far(ledger):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 128 + signal.SIGINT
    assert "Traceback" not in said
    assert "the same command continues" in said
    with sqlite3.connect(ledger) as db:
        states = {row[0] for row in db.execute("SELECT DISTINCT state FROM attempt")}
    assert "leased" not in states
    grade(slow_class, "--no-images")
    assert of(CLASS[0], marks(slow_class)) == 7


def results_so_far(ledger):
    with sqlite3.connect(ledger) as db:
        try:
            return db.execute("SELECT count(*) FROM result").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def test_two_at_once_do_nothing_twice(slow_class, capsys):
    words = arguments(slow_class, "--no-images")
    first = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ledger = slow_class / "out" / "ledger.sqlite"
    while not ledger.exists() or not results_so_far(ledger):
        assert first.poll() is None
        time.sleep(0.02)
    status = main(words[3:])  # before the first one ends
    said = capsys.readouterr().err
    assert (status, first.poll()) == (BAD, None)
    assert re.search(rf"process {first.pid} on \S+ is using .*; wait until it finishes", said)
    assert first.wait(120) == OK
    assert len(marks(slow_class)) == 4


# --- the command line ---


@pytest.mark.full
def test_private_case_files_are_asked_for(few):
    (few / "counting" / "private" / "three.gtp").rename(few / "three.gtp")
    said = grade(few, status=BAD)
    assert "'private' needs private case files, but none are given: name files or folders" in said
    grade(few, "--public-only", "--no-images", output="public")
    assert of(CLASS[0], marks(few, "public")) == 5
    grade(few, "--private", few / "three.gtp", "--no-images")
    assert of(CLASS[0], marks(few)) == 7


def test_private_tests_that_load_files_are_explained_wherever_they_lie(few, open_place):
    toml = few / "counting" / "assignment.toml"
    seen = 'private = ["private/*.gtp"]\nprivate_visible = "everything"'
    toml.write_text(toml.read_text().replace('private = ["private/*.gtp"]', seen))
    for name, winner in (("first", "AB"), ("second", "AW")):
        lesson = open_place / name
        lesson.mkdir(parents=True)
        (lesson / "board.sgf").write_text(f"(;SZ[5]KM[0.5]{winner}[cc])")
        (lesson / "all.gtp").write_text("loadsgf board.sgf\n1 score\n#? [never]\n")
    grade(few, "--private", open_place, "--no-images", status=ATTENTION)  # nobody passes them
    check_reasons(few)
    grade(few, "--marks-only", source=None, status=ATTENTION)
    check_reasons(few)
    for lesson in open_place.iterdir():
        shutil.rmtree(lesson)  # then nobody knows
    grade(few, "--marks-only", source=None, status=ATTENTION)
    assert reasons(few) == []


def check_reasons(room):
    """The same lines in two folders, and a board of one color beside each."""
    scores = [re.findall(r"[BW]\+[\d.]+\d", reason)[-1] for reason in reasons(room)]
    assert scores == ["B+24.5", "W+25.5"]


def reasons(room):
    page = html.unescape(next((room / "out" / "feedback").glob("right*.html")).read_text())
    return re.findall(r">Because</p><p>(.*?)</p>", page)


@pytest.mark.full
def test_dates_of_the_command_line_go_before_those_of_the_assignment(few):
    grade(few, "--no-images", "--public-only", "--deduction", "50")
    assert of(CLASS[1], marks(few)) == Fraction(5, 2)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--deadline", "tomorrow"], "found 'tomorrow', expected a local time such as"),
        (["--private", "nowhere"], "there is no nowhere"),
        (["--marks-only"], "give either SOURCE or --marks-only"),
        (["--sandbox", "off"], "invalid choice"),
    ],
)
def test_mistakes_on_the_command_line(few, more, expected):
    assert expected in grade(few, *more, status=BAD)


@pytest.mark.full
def test_without_a_sandbox_nothing_is_run_unless_it_is_said(tmp_path, sandbox, monkeypatch):
    room = one_of(tmp_path, "return 2 * n", 2)
    # Level 3 needs bubblewrap, which is not on this PATH.
    monkeypatch.setenv("PATH", "/nowhere")
    said = grade_apart(room, "--sandbox", "3", status=FAULT)
    assert "--unsafe-no-sandbox" in said
    monkeypatch.undo()
    said = grade_apart(room, "--unsafe-no-sandbox", "--no-images")
    assert "The sandbox was off: engines ran with all rights" in said
    assert set(marks(room).values()) == {7, 0}
    assert "engines ran with all rights" in (room / "out" / "class.html").read_text()


# --- marks that were given ---


@pytest.mark.full
def test_a_mark_in_force_changes_only_when_that_is_accepted(graded_class):
    room = graded_class
    right = Student("Cyd Wrong", "return n * 2", 7)
    place = room / "submissions" / file_name(CLASS[2], 2)
    place.write_bytes(small_class.submission(right.body))
    said = grade(room, "--no-images", status=BAD)
    assert "1 submission with a mark in" in said
    assert "--regrade runs that again" in said

    said = grade(room, "--no-images", "--regrade", status=CHANGES)
    assert " 3 of 24 attempts to be run" in said
    assert re.search(r"Cyd|wrongcyd", said)
    assert of(CLASS[2], marks(room)) == 6

    grade(room, "--no-images", "--regrade", "--accept")
    assert of(CLASS[2], marks(room)) == 7
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        rows = db.execute("SELECT marks FROM mark WHERE key LIKE '%102%' ORDER BY id").fetchall()
    assert [json.loads(text)["total"] for (text,) in rows] == ["6", "7"]


@pytest.mark.full
def test_new_submissions_do_not_touch_old_marks(few):
    late = few / "late"
    late.mkdir()
    (few / "submissions" / file_name(CLASS[0], 0)).rename(late / "kept")
    grade(few, "--no-images")
    (late / "kept").rename(few / "submissions" / file_name(CLASS[0], 0))
    said = grade(few, "--no-images")
    assert " 3 of 9 attempts to be run" in said
    assert len(marks(few)) == 4


def test_no_marks_are_given_of_an_edited_ledger(graded_class):
    before = (graded_class / "out" / "marks.csv").read_bytes()
    with sqlite3.connect(graded_class / "out" / "ledger.sqlite") as db:
        db.execute("UPDATE mark SET marks = replace(marks, '6', '7')")
    for words in (["--marks-only"], ["--regrade", "--accept"]):
        source = None if "--marks-only" in words else "submissions"
        said = grade(graded_class, *words, source=source, status=BAD)
        assert re.search(r"mark \d+ \(.* was changed .*: marks", said)
        assert "gtp-harness ledger check tells more" in said
    assert (graded_class / "out" / "marks.csv").read_bytes() == before


def test_a_salvaged_ledger_goes_on_where_it_was(graded_class):
    """What is lost is run again, and all marks are as they were."""
    ledger, saved = graded_class / "out" / "ledger.sqlite", graded_class / "out" / "saved.sqlite"
    before = marks(graded_class)
    with sqlite3.connect(ledger) as db:
        db.execute("DELETE FROM result WHERE link IN (2, 5)")
    words = [sys.executable, "-m", "harness.cli", "ledger", "salvage", ledger, "-o", saved]
    assert subprocess.run(words, check=False, stdout=subprocess.DEVNULL).returncode == CHANGES
    said = grade(graded_class, "--no-images", "--ledger", saved)
    assert " 2 of 24 attempts to be run" in said
    saved.replace(ledger)
    assert marks(graded_class) == before


def test_the_key_of_the_ledger_may_lie_elsewhere(few):
    key = few / "key"
    grade(few, "--no-images", "--key", key)
    assert not (few / "out" / "ledger.sqlite.key").exists()
    said = grade(few, "--marks-only", source=None, status=BAD)
    assert "ledger.sqlite is missing: there is no " in said
    grade(few, "--marks-only", "--key", key, source=None)


def test_who_is_missing_the_next_time_is_named(graded_class):
    (graded_class / "submissions" / file_name(CLASS[0], 0)).unlink()
    said = grade(graded_class, "--no-images")
    assert "marked before, but not submitted this time: rightada_100" in said
    assert of(CLASS[0], marks(graded_class)) == 7


def test_points_that_change_are_shown_and_not_given(graded_class):
    room = graded_class
    toml = room / "counting" / "assignment.toml"
    toml.write_text(toml.read_text().replace("points = 4", "points = 8"))
    grade(room, "--no-images", "--marks-only", source="", status=CHANGES)
    assert of(CLASS[0], marks(room)) == 7
    grade(room, "--no-images", "--marks-only", "--accept", source="")
    assert of(CLASS[0], marks(room)) == 11


# --- limits ---


def one_of(room, body, timeout):
    """Write a class of one with a function like this, whose answers may take so long."""
    small_class.make(room, (Student("Una Una", body, 0),))
    toml = room / "counting" / "assignment.toml"
    text = toml.read_text().replace("timeout = 20", f"timeout = {timeout}")
    toml.write_text(text.replace("cpu = 1\n", "cpu = 2\n"))
    return room


def runs(room):
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        query = "SELECT name, number FROM result JOIN attempt USING (basis) ORDER BY name, number"
        return db.execute(query).fetchall()


def failures(room):
    """Return how engines broke, a message each."""
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        texts = [text for (text,) in db.execute("SELECT result FROM result")]
    found = [canonical_json.loads(FileResult, text) for text in texts]
    return [failure.message for result in found for failure in result.failures]


LATE = f"""if n == 7:
        {spin(1.5).replace(chr(10), chr(10) + "    ")}
    return 2 * n"""


def test_an_engine_that_computes_a_little_too_long_is_run_again_alone(tmp_path, sandbox):
    room = one_of(tmp_path, LATE, 1)
    said = grade(room, "--no-images")
    assert runs(room) == [("one.gtp", 1), ("three.gtp", 1), ("three.gtp", 2), ("two.gtp", 1)]
    assert set(marks(room).values()) == {5, 0}
    assert re.search(r"flaky, judged by its last run: \S+ in three.gtp", said)
    assert "timed out alone as well" in said


def test_an_engine_that_sleeps_is_run_once(tmp_path, sandbox):
    room = one_of(tmp_path, "time.sleep(1000)", 0.5)
    grade(room, "--no-images")
    assert {number for _, number in runs(room)} == {1}
    assert set(marks(room).values()) == {0}  # it does not run
    assert {message[-14:] for message in failures(room)} == {" within 0.5 s."}


@pytest.mark.full
def test_the_budget_of_a_submission_ends_what_would_never_end(tmp_path, sandbox):
    room = one_of(tmp_path, "time.sleep(3 if n > 1 else 0)\n    return 2 * n", 60)
    begun = time.monotonic()
    grade(room, "--no-images", "--budget", "0.1")
    assert time.monotonic() - begun < 60
    (mark,) = set(marks(room).values()) - {0}
    assert 1 < mark < 7


# --- faults of the harness ---


# A worker whose unpacking breaks as often as a file says.
BREAKING = """
import os, signal
from pathlib import Path
from harness.assignments import workspace
count, how = Path({count!r}), {how!r}
right = workspace.unpack
def unpack(*rest):
    left = int(count.read_text())
    if left:
        count.write_text(str(left - 1))
        if how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError("No space left on device")
    right(*rest)
workspace.unpack = unpack
"""


def test_a_fault_of_the_harness_is_tried_again_and_costs_nothing(tmp_path, sandbox, monkeypatch):
    room = one_of(tmp_path, "return 2 * n", 2)
    # A killed process leaves its folder behind.
    with tempfile.TemporaryDirectory(prefix="gtp-harness-test-") as name:
        Path(name).chmod(0o755)
        monkeypatch.setenv("TMPDIR", name)
        check_faults(room, monkeypatch)


def check_faults(room, monkeypatch):
    count = room / "count"
    monkeypatch.setattr(crew, "subprocess", subprocess)  # workers that begin with what is given
    *beginning, rest = crew._TURN.split("; ", 3)

    def grade_with_breaks(how, times, status):
        count.write_text(str(times))
        breaking = BREAKING.format(count=str(count), how=how)
        monkeypatch.setattr(crew, "_TURN", "\n".join([*beginning, breaking, rest]))
        return grade(room, "--no-images", status=status)

    said = grade_with_breaks("fail", 99, FAULT)
    assert "1 withheld" in said
    assert "harness" in said
    assert set(marks(room).values()) == {0}  # of the one who handed in nothing
    grade_with_breaks("die", 2, OK)
    assert set(marks(room).values()) == {7, 0}
