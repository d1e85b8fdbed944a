"""A unit of work: plain data in, lines of JSON out, in a process that may die at any moment."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.core.errors import UsageError
from harness.core.options import BoxLimits, Limits
from harness.core.records import Build
from harness.environments.interpreters import EnginePython
from harness.work import canonical_json, records, unit_worker
from harness.work.records import (
    AttemptFinished,
    BuildFinished,
    CaseProgress,
    CaseStarted,
    Claim,
    EngineHung,
    Environment,
    Folder,
    HarnessFailed,
    Measurements,
    UnitCase,
    UnitFile,
    UnitFinished,
    UnitSubmission,
    WorkUnit,
)
from tests.benchmarks.bench_grade import results
from tests.harness import small_class
from tests.harness.small_class import CLASS, Student, submission
from tests.harness.test_sandbox_boxes import needs

OK, BAD, FAULT, INTERRUPTED, NO_READER = 0, 2, 3, 130, 141
WORK = [sys.executable, "-m", "harness.work"]

# --- plain data ---

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
SHA256 = st.binary(max_size=4).map(lambda data: hashlib.sha256(data).hexdigest())
NAMES = st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4}\.txt)?", fullmatch=True)
NUMBERS = st.floats(0, 1e6, allow_nan=False) | st.integers(0, 9).map(float)
FILES = st.builds(UnitFile, NAMES, SHA256)
FOLDERS = st.builds(Folder, TEXTS, st.lists(FILES, max_size=3).map(tuple), TEXTS)
TUPLES = st.lists(TEXTS, max_size=3).map(tuple)
WHOLE = st.integers(0, 1 << 40)


def made_of(limits):
    """Limits of all kinds; no limit is negative."""
    default = limits()._asdict()
    kinds = {key: NUMBERS if isinstance(one, float) else WHOLE for key, one in default.items()}
    return st.builds(limits, **kinds)


UNITS = st.builds(
    WorkUnit,
    unit=st.just(records.VERSION),
    submission=st.builds(UnitSubmission, TEXTS, SHA256, TEXTS, TUPLES, TEXTS),
    build=TEXTS,
    cases=st.lists(
        st.builds(
            UnitCase,
            *(TEXTS, TEXTS, SHA256, st.lists(FILES, max_size=2).map(tuple), TEXTS),
            st.booleans(),
            TEXTS,
        ),
        max_size=3,
    ).map(tuple),
    assignment=FOLDERS,
    course=st.none() | FOLDERS,
    environment=st.builds(
        Environment,
        st.sampled_from(["auto", "3", "off"]),
        st.none() | st.builds(EnginePython, TEXTS, TEXTS, TEXTS),
        TUPLES,
    ),
    limits=made_of(Limits),
    box=made_of(BoxLimits),
    alone=st.booleans(),
    budget=NUMBERS,
    spent=NUMBERS,
    pace=NUMBERS,
    hung=TUPLES,
    patient=TUPLES,
    why=TEXTS,
)
FIGURES = st.builds(
    Measurements,
    seconds=NUMBERS,
    memory=st.integers(0, 1 << 40),
    replies=st.lists(NUMBERS, max_size=3).map(tuple),
    **dict.fromkeys(("cpu", "engine_cpu", "own_cpu", "pace"), NUMBERS),
    **dict.fromkeys(("started", "sandbox", "python", "machine"), TEXTS),
    **dict.fromkeys(("alone", "late"), st.booleans()),
    pid=WHOLE,
)
RESULTS = st.none() | st.dictionaries(TEXTS, TEXTS | st.integers() | st.lists(TEXTS, max_size=2))
WORDS = st.one_of(
    st.builds(CaseStarted, TEXTS),
    st.builds(CaseProgress, TEXTS, WHOLE),
    st.builds(BuildFinished, TEXTS, st.builds(Build, st.booleans(), TEXTS, TEXTS), NUMBERS),
    st.builds(
        AttemptFinished,
        TEXTS,
        RESULTS.map(canonical_json.dumps),
        FIGURES,
        st.booleans(),
        st.booleans(),
    ),
    st.builds(HarnessFailed, TEXTS, TEXTS),
    st.builds(EngineHung, TEXTS),
    st.builds(Claim, st.integers(0, 9)),
    st.builds(UnitFinished, TEXTS, TEXTS),
)


AS_A_UNIT = Draft202012Validator(canonical_json.schema(WorkUnit))
AS_A_WORD = Draft202012Validator(records.event_schema())


@settings(deadline=None, max_examples=30)
@given(UNITS)
def test_a_unit_is_the_same_after_a_journey_as_json(unit):
    text = canonical_json.dumps(unit)
    assert "\n" not in text
    assert records.read_unit(text, "unit") == unit
    AS_A_UNIT.validate(json.loads(text))


@settings(deadline=None, max_examples=30)
@given(WORDS)
def test_so_is_a_word_and_a_result_keeps_its_bytes(word):
    line = records.line(word)
    assert line.count(b"\n") == 1
    assert records.parse(line)[0] == word
    assert records.kind_of(line) is type(word)
    AS_A_WORD.validate(json.loads(line))


def test_a_result_that_another_program_sent_becomes_canonical():
    line = {
        "word": "done", "basis": "b", "result": {"b": [1, 2], "a": None},
        "figures": {}, "failed": False, "doubtful": False,
    }  # fmt: skip
    event = records.parse(json.dumps(line).encode())[0]
    assert event.result == '{"a":null,"b":[1,2]}'
    assert not any(event.figures), "what was not measured is not there"
    assert None not in event.figures


# --- units that are wrong ---


def change_value(unit, place, value):
    """Return a unit as plain data in which one value is another."""
    plain_unit = json.loads(canonical_json.dumps(unit))
    *way, last = place
    inner = plain_unit
    for step in way:
        inner = inner[step]
    inner[last] = value
    return json.dumps(plain_unit)


WRONG = [
    (("unit",), 2, "unit.unit: found version 2, expected 1"),
    (("submission", "sha256"), "ABC", 'found "ABC", expected a SHA-256 as 64 hexadecimal digits'),
    (("submission", "kept"), ["a", None], "kept[1]: found null, expected a text"),
    (("cases", 0, "beside"), [{"name": "../x", "sha256": "0" * 64}], "the name of a file below"),
    (("assignment", "files", 0, "name"), "/etc/passwd", "the name of a file below the folder"),
    (("assignment",), None, "found null, expected an object with name, files, place"),
    (("limits", "timeout"), -1, "unit.limits.timeout: found -1, expected a number from 0"),
    (("environment", "sandbox"), "none", "expected one of auto, 3, 2, 1, off"),
]


@pytest.fixture(scope="module")
def made_class(tmp_path_factory):
    """A class with its assignment."""
    return small_class.make(tmp_path_factory.mktemp("work"))


def unit_of(room, student, sandbox="off", **more):
    """Return the unit of a submission, its archive and the case files in a store beside it."""
    store = room / "store"
    store.mkdir(exist_ok=True)
    place = room / "counting"
    names = ["assignment.toml", *small_class.CASES]
    for content in (submission(student.body), *((place / one).read_bytes() for one in names)):
        (store / hashlib.sha256(content).hexdigest()).write_bytes(content)
    own = hashlib.sha256(submission(student.body)).hexdigest()
    cases = [unit_worker.file_of(place / name, name) for name in small_class.CASES]
    unit = WorkUnit(
        records.VERSION,
        UnitSubmission("ada", own, "assignment1/", ("engine.py", "readme.txt")),
        "build",
        tuple(UnitCase(one.name, one.name, one.sha256) for one in cases),
        unit_worker.folder_of(place, names)._replace(place=""),
        None,
        Environment(sandbox),
        Limits(timeout=20),
        BoxLimits(),
        alone=False,
        budget=60.0,
    )
    return unit._replace(**more)


@pytest.mark.parametrize(("place", "value", "said"), WRONG, ids=lambda value: str(value)[:30])
def test_a_wrong_unit_is_told_by_its_key(made_class, place, value, said):
    with pytest.raises(UsageError) as error:
        records.read_unit(change_value(unit_of(made_class, CLASS[0]), place, value), "unit")
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "1e999", "NaN", "[" * 100_000, "\ud800", "null"])
def test_what_is_no_unit_at_all_is_refused(text):
    with pytest.raises(UsageError, match=r"^unit"):
        records.read_unit(text.encode("utf-8", "surrogatepass"), "unit")


@pytest.mark.parametrize("line", [b"", b"{}\n", b'{"word":"x"}\n', b'{"word":["x"]}\n', b"\xff\n"])
@pytest.mark.parametrize("read", [records.parse, records.kind_of])
def test_what_is_no_word_is_refused(read, line):
    with pytest.raises(UsageError, match="expected a word"):
        read(line)


# --- the process ---

pytestmark = pytest.mark.processes


def work(room, unit, *more, given=None):
    text = canonical_json.dumps(unit) if given is None else given
    return subprocess.run(
        [*WORK, "--store", str(room / "store"), *more],
        input=text.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )


def read_words(done):
    return [records.parse(line)[0] for line in done.stdout.splitlines(keepends=True)]


def test_bytes_are_found_by_their_sha256_alone(made_class):
    """Nothing lies where the unit was made: all is laid out from the store."""
    done = work(made_class, unit_of(made_class, CLASS[2]))
    assert (done.returncode, done.stderr) == (OK, b"")
    begun, *_, ended = read_words(done)
    assert (begun, ended) == (CaseStarted("one.gtp"), UnitFinished())
    found = {one.basis: one.failed for one in read_words(done) if isinstance(one, AttemptFinished)}
    assert found == {"one.gtp": True, "two.gtp": False}  # one of its tests fails


def test_the_test_that_was_judged_is_told_about_once_in_a_second(made_class):
    slow = CLASS[0]._replace(body="time.sleep(1.1 if n == 1 else 0)\n    return 2 * n")
    done = work(made_class, unit_of(made_class, slow))
    words = read_words(done)
    assert (done.returncode, done.stderr) == (OK, b"")
    for number, word in enumerate(words):
        if isinstance(word, CaseStarted):
            told = [one for one in words[number:] if isinstance(one, CaseProgress)]
            judged = [one.step for one in told if one.basis == word.basis]
            assert judged == sorted(set(judged))
    told = [word.basis for word in words if isinstance(word, CaseProgress)]
    assert set(told) == {"one.gtp"}, "the other one was too quick"


COMPUTING = """\
end = time.process_time() + {}
    while time.process_time() < end:
        pass
    return 2 * n"""


@pytest.mark.long(4)
@pytest.mark.parametrize(
    ("pace", "computes", "limits", "box", "broke"),
    [
        (0.0, 1.4, Limits(timeout=1), BoxLimits(), "timeout"),
        # 0.7 s of the reference machine, and 1.4 s in both commands
        (2.0, 1.4, Limits(timeout=1), BoxLimits(cpu=2), None),
        (0.5, 0.3, Limits(timeout=1), BoxLimits(), None),  # 0.6 s
        (0.0, 0.9, Limits(timeout=20), BoxLimits(cpu=1.2), "processor time"),
    ],
)
def test_what_an_engine_may_compute_is_told_in_seconds_of_the_reference_machine(
    made_class, pace, computes, limits, box, broke
):
    needs(3)
    student = Student("computes", COMPUTING.format(computes), 0)
    unit = unit_of(made_class, student, "3", pace=pace, limits=limits, box=box, alone=True)
    unit = unit._replace(cases=unit.cases[:1])
    (word,) = [
        one for one in read_words(work(made_class, unit)) if isinstance(one, AttemptFinished)
    ]
    failures = [failure["kind"] for failure in json.loads(word.result)["failures"]]
    assert failures == ([broke] if broke else [])
    assert word.figures.pace == pace
    if not broke:
        both = 2 * computes / pace
        assert both <= word.figures.cpu < 1.5 * both
        assert 0.9 * both <= sum(word.figures.replies) < 1.5 * both  # by looks now and then


def test_an_engine_that_sleeps_has_no_more_time_on_a_slow_machine(made_class):
    student = Student("sleeps", "time.sleep(1.4)", 0)
    unit = unit_of(made_class, student, pace=4.0, limits=Limits(timeout=1), alone=True)
    (*words, _ended) = read_words(work(made_class, unit._replace(cases=unit.cases[:1])))
    (failure,) = json.loads(words[-1].result)["failures"]
    assert failure["kind"] == "timeout"


def test_the_three_kinds_of_trouble_are_told_apart(made_class):
    dies = work(made_class, unit_of(made_class, CLASS[3]))
    kinds = [
        [failure["kind"] for failure in json.loads(one.result)["failures"]]
        for one in read_words(dies)
        if isinstance(one, AttemptFinished)
    ]
    assert (dies.returncode, kinds) == (OK, [[], ["died"]])
    absent = unit_of(made_class, CLASS[0])._replace(
        submission=UnitSubmission("x", "0" * 64, "", ())
    )
    broke = work(made_class, absent)
    (ended,) = read_words(broke)
    assert broke.returncode == FAULT
    assert "is nowhere with the SHA-256 0000" in ended.fault


def test_a_wrong_unit_is_a_line_and_status_2(made_class):
    done = work(made_class, None, given="\x00\xff")
    assert (done.returncode, done.stdout) == (BAD, b"")
    assert done.stderr.startswith(b"harness.work: unit")
    assert done.stderr.count(b"\n") == 1


def test_a_unit_may_be_a_file(made_class, tmp_path):
    path = tmp_path / "unit.json"
    path.write_text(canonical_json.dumps(unit_of(made_class, CLASS[0])))
    assert work(made_class, None, str(path), given="").returncode == OK


SLEEPS = Student("Sleeps", "time.sleep(30)\n    return n", 0)


def start_worker(room, unit):
    (room / "tmp").mkdir(exist_ok=True)
    process = subprocess.Popen(
        [*WORK, "--store", str(room / "store")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(room / "tmp")},
    )
    process.stdin.write(canonical_json.dumps(unit).encode())
    process.stdin.close()
    assert records.parse(process.stdout.readline())[0] == CaseStarted("one.gtp")
    return process


def test_ctrl_c_ends_it_and_its_engine(made_class):
    process = start_worker(made_class, unit_of(made_class, SLEEPS))
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == INTERRUPTED
    assert process.stderr.read() == b"harness.work: interrupted\n"
    assert os.listdir(made_class / "tmp") == []


def test_without_a_reader_it_ends(made_class):
    process = start_worker(made_class, unit_of(made_class, CLASS[0]))
    process.stdout.close()
    assert process.wait(60) == NO_READER
    assert process.stderr.read() == b""


# --- the grading that hands units out ---


def start_grading(room, *more, output="out"):
    where = ["--assignment", room / "counting", "--output", room / output]
    words_ = [sys.executable, "-m", "harness.cli", "grade", room / "submissions", *where, *more]
    return subprocess.Popen(
        [*map(str, words_), "--no-images"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def workers_of(pid):
    """Return the worker processes of a grading; each may end at any moment."""
    found = []
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                line = Path(f"/proc/{child}/cmdline").read_bytes()
                found += [int(child)] if b"harness.work" in line else []
    return found


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_it_does_not_outlive_its_parent(platform):
    """Whether the kernel tells it, or nobody does."""
    worker = (
        "import os, sys, time; sys.platform = sys.argv[1]\n"
        "from harness.work.machine import die_with_parent; die_with_parent(os.getppid())\n"
        "print('begun', flush=True); time.sleep(30); print('outlived')"
    )
    starts = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"
    words = [sys.executable, "-c", starts, worker, platform]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        parent.kill()
        assert parent.stdout.read() == ""  # comes when nobody has the other end of the pipe


@pytest.mark.long(10)
def test_workers_that_are_killed_at_any_moment_cost_no_mark(tmp_path):
    room = small_class.make(tmp_path, CLASS[:4])
    calm = start_grading(room, output="calm")
    said_calm = calm.communicate(timeout=300)[0]
    assert calm.returncode == OK, said_calm
    chance, kills = random.Random(17), 0
    process = start_grading(room, output="wild")
    while process.poll() is None and kills < 2:  # three under one attempt are a fault
        found = workers_of(process.pid)
        time.sleep(chance.random() / 4)
        if found and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(found[0], signal.SIGKILL)
                kills += 1
    told = process.communicate(timeout=300)[0]
    assert process.returncode == OK, told
    assert kills
    both = [results(room / name / "ledger.sqlite") for name in ("calm", "wild")]
    assert both[0] == both[1]


@pytest.mark.long(10)
def test_three_deaths_make_a_fault_that_a_person_sees(tmp_path):
    room = small_class.make(tmp_path, CLASS[:1])
    process = start_grading(room, "--jobs", "1")
    killed = set()
    while process.poll() is None:
        for pid in set(workers_of(process.pid)) - killed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.01)
    told = process.communicate(timeout=60)[0]
    assert process.returncode == FAULT, told
    assert len(killed) == 3
    assert "withheld" in told
    with sqlite3.connect(room / "out" / "ledger.sqlite") as db:
        assert {row[0] for row in db.execute("SELECT DISTINCT state FROM attempt")} == {"fault"}
    again = start_grading(room)
    assert again.wait(300) == OK, again.communicate()[0]
