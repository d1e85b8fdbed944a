"""A class that fails for a reason of its own: a grading stops, and goes on when it is told to."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from harness.assignments.assignment import find
from harness.core.errors import ClassWideError
from harness.core.records import Build, Failure, FailureKind, Outcome, Reply, Verdict
from harness.grading.attempts.attempt_plan import unit_case
from harness.grading.attempts.attempt_runner import Watch
from harness.grading.attempts.grading_progress import Alarm, Trouble, trouble
from harness.reading import casefile
from harness.running.file_runner import not_run
from harness.work import canonical_json, records
from harness.work.records import NOTHING
from tests.harness import small_class
from tests.harness.made_attempts import unit_of
from tests.harness.small_class import ENGINE, archive
from tests.harness.test_grade import ATTENTION, FAULT, grade, marks, sandbox  # noqa: F401 - a fixture

CASE = casefile.parse(b"1 twice 1\n#? [2]\n2 twice 2\n#? [4]\n", "one.gtp")
DEAD = Failure(FailureKind.DIED, "The engine ended with exit status 1 before its first reply.")
LOG = """\
Traceback (most recent call last):
  File "/tmp/{0}/assignment1/Go1.py", line {1}, in <module>
    import util
FileNotFoundError: [Errno 2] No such file or directory: 'gtp_log'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/tmp/{0}/assignment1/Go1.py", line {1}, in <module>
    import util
  File "/tmp/{0}/util.py", line 3, in __init__
AttributeError: 'Connection' object has no attribute 'file'
"""


def dead(stderr: str = "", message: str = DEAD.message):
    return not_run(CASE, DEAD._replace(text=message))._replace(stderr=stderr)


def answering(text: str, *, ok: bool):
    reply = Reply(ok, text, text, 0.0)
    outcomes = tuple(Outcome(index, Verdict.FAILED, reply) for index in range(2))
    return not_run(CASE)._replace(outcomes=outcomes, replies=(reply, reply))


LOGS = [trouble(None, [dead(LOG.format(name, len(name)))]) for name in ("ada", "benjamin", "cy")]
OTHER = trouble(None, [dead("ModuleNotFoundError: No module named 'x'\n")])
UNBUILT = trouble(Build(False, "", "the build step 'cmake' ended with exit status 127"), [])


def test_why_a_submission_does_not_start():
    assert len({one.reason for one in LOGS}) == 1
    assert "gtp_log" in LOGS[0].words
    assert "line 3 of Go1.py" in LOGS[0].words
    assert trouble(None, [dead()]).words == DEAD.message
    assert not UNBUILT.builds
    assert trouble(None, [dead(), answering("5", ok=True)]) is None
    assert trouble(None, [answering("no", ok=False)]) is None
    assert trouble(None, [answering("no class", ok=False)], adapted=True).words == "no class"


RUNS = None
ROWS = [
    ("five alike", 20, [LOGS[0]] * 5, True),
    ("five alike in other words", 20, [*LOGS, *LOGS[:2]], True),
    ("four alike", 20, [LOGS[0]] * 4, False),
    ("four alike of four", 4, [LOGS[0]] * 4, True),
    ("two of two", 2, [LOGS[0]] * 2, True),
    ("one of one", 1, [LOGS[0]], False),
    ("one that runs among them", 20, [LOGS[0], LOGS[1], RUNS, *LOGS, *LOGS], False),
    ("two reasons", 4, [LOGS[0], OTHER, LOGS[0], OTHER], False),
    ("another among six", 20, [LOGS[0], OTHER, *LOGS, LOGS[1]], True),
    ("builds that fail alike", 20, [UNBUILT] * 5, True),
]


@pytest.mark.parametrize(("archives", "found", "stops"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])  # fmt: skip
def test_when_it_stops(archives, found, stops):
    alarm = Alarm(archives)
    for number, one in enumerate(found):
        alarm.note(f"student{number}", str(number), one)
    if not stops:
        alarm.check("python3 Go1.py")
        return
    with pytest.raises(ClassWideError, match="--go-on") as raised:
        alarm.check("python3 Go1.py")
    assert "example     student0" in str(raised.value)


def test_the_same_archive_counts_once():
    alarm = Alarm(8)
    for number in range(8):
        alarm.note(f"student{number}", "the same", LOGS[0])
    alarm.check("python3 Go1.py")


# Last words, and of the hint that they get what tells it from others.
HINTS = [
    ("\x1b[2JNo module named 'numpy'", "lacks a package"),
    ("'GoBoard' object has no attribute 'maxpoint'", "another year's"),
    ("sh: 1: gawk: not found", "is not installed"),
    ("python3: can't open file 'Go1.py'", "nobody submitted"),
    ("[Errno 13] Permission denied: 'log'", "may not write or read"),
    ("[Errno 30] Read-only file system: 'log'", "may not write where"),
    ("[Errno 2] No such file or directory: 'log'", "is missing"),
]


@pytest.mark.parametrize(("words", "hint"), HINTS)
@pytest.mark.parametrize("builds", [True, False])
def test_the_reason_is_told_with_a_hint(words, hint, builds):
    alarm = Alarm(2)
    for name in ("ada", "ben"):
        alarm.note(name, name, Trouble(words, words, builds=builds))
    with pytest.raises(ClassWideError) as raised:
        alarm.check("python3 Go1.py")
    told = str(raised.value)
    assert f"2 submissions do not {'start' if builds else 'build'}" in told
    assert ("command     python3 Go1.py" in told) is builds
    assert hint in told
    assert "\x1b" not in told


# --- what the ledger has of a grading


BUILT = canonical_json.dumps(Build(True))
FAILED = canonical_json.dumps(Build(False, "", "make failed"))
DIES = canonical_json.dumps(records.strip_measurements(dead(), "/nowhere"))
ANSWERS = canonical_json.dumps(records.strip_measurements(answering("5", ok=True), "/nowhere"))
KEPT = [
    ("builds that fail", FAILED, [NOTHING], "do not build"),
    ("programs that die", None, [DIES], "do not start"),
    ("programs that die once built", BUILT, [DIES], "do not start"),
    ("one that answers when run again", None, [DIES, ANSWERS], ""),
    ("a harness that could run nothing", None, [NOTHING], ""),
    ("a harness that could run nothing that it built", BUILT, [NOTHING], ""),
]


@pytest.mark.parametrize("go_on", [False, True])
@pytest.mark.parametrize(
    ("build", "results", "said"), [row[1:] for row in KEPT], ids=[row[0] for row in KEPT]
)
def test_only_what_submissions_did_stops_a_grading(build, results, said, go_on):
    ledger: Any = SimpleNamespace(
        figures=lambda bases: {one: ["some"] for one in bases},
        build=lambda _: build,
        results=lambda _: [(one, "") for one in results],
    )
    units = [
        unit_of(key, (unit_case(f"{key} one", CASE, b""),), sha256=key) for key in ("ada", "ben")
    ]
    watch = Watch(ledger, find("go-scoring"), units, go_on=go_on)
    if said and not go_on:
        with pytest.raises(ClassWideError, match=said):
            watch.look(units)
    else:
        watch.look(units)


# --- the command ---


def students(folder, count):
    """Hand in ``count`` different programs that need a package which is not here."""
    room = small_class.make(folder, ())
    for number in range(count):
        engine = f"# by {number}\n{'#' * number}\nimport colorama_of_2018\n{ENGINE}"
        body = engine.format(body="return 2 * n")
        files = {"engine.py": body, "readme.txt": "Me.\n"}
        name = f"student{number:02}_{300 + number}_{600 + number}_a1.tgz"
        (room / "submissions" / name).write_bytes(archive(files))
    return room


@pytest.mark.processes
@pytest.mark.usefixtures("sandbox", "warm_workers")
def test_a_class_that_cannot_start_is_not_graded_until_the_teacher_says_so(tmp_path):
    room = students(tmp_path, 8)
    said = grade(room, "--no-images", "--jobs", "2", status=FAULT)
    assert "the first 5 submissions do not start" in said
    assert "ModuleNotFoundError: No module named 'colorama_of_2018'" in said
    assert re.search(r"line \d+ of engine.py", said)
    assert "--go-on" in said
    assert marks(room) == {}
    again = grade(room, "--no-images", status=FAULT)
    left = int(re.search(r"(\d+) of 24 attempts", again)[1])
    assert 24 - 3 * (5 + 2) <= left <= 24 - 3 * 5  # nothing is run twice, and nothing more
    assert "9 marks" in grade(room, "--no-images", "--go-on", status=ATTENTION)
