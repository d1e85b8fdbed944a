"""A class that fails for a reason of its own: a grading stops, and goes on when it is told to."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import ClassWideError
from harness.grading.attempts.grading_progress import Alarm, Trouble, trouble
from harness.reading import casefile
from harness.records import Build, Failure, FailureKind, Outcome, Reply, Verdict
from harness.running.file_runner import not_run
from tests.harness import small_class
from tests.harness.small_class import ENGINE, archive
from tests.harness.test_grade import ATTENTION, FAULT, grade, marks, sandbox  # noqa: F401 - a fixture
from tests.tiers import long_if

GO_SCORING = Path(__file__).parents[1] / "submissions" / "go-scoring"
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


def test_what_is_shown():
    alarm = Alarm(2)
    for name in ("ada", "ben"):
        alarm.note(name, name, Trouble("x", "\x1b[2JNo module named 'numpy'", builds=True))
    with pytest.raises(ClassWideError) as raised:
        alarm.check("python3 Go1.py")
    told = str(raised.value)
    assert "command     python3 Go1.py" in told
    assert "lacks a package" in told
    assert "\x1b" not in told


# Last words, and which hint they get.
HINTS = [
    (
        "No module named 'numpy'",
        "The Python that runs engines lacks a package (name another one with --python, or declare"
        " it in the assignment's packages and build them with gtp-harness env), or the course"
        " folder lacks a module.",
    ),
    (
        "AttributeError: 'GoBoard' object has no attribute 'maxpoint'",
        "The course folder (--overlay) may be another year's than the programs were written for.",
    ),
    ("sh: 1: gawk: not found", "A program that the assignment needs is not installed here."),
    (
        "python3: can't open file 'Go1.py'",
        "The assignment's command names a file that nobody submitted.",
    ),
    (
        "[Errno 13] Permission denied: 'log'",
        "Engines may not write or read where the course's files want to.",
    ),
    (
        "[Errno 30] Read-only file system: 'log'",
        "Engines may not write where the course's files want to.",
    ),
    (
        "[Errno 2] No such file or directory: 'log'",
        "A file of the course folder (--overlay) is missing, or cannot be written.",
    ),
]


LOOK = [
    "Look at the course folder (--overlay), at the programs and packages that the assignment"
    " needs, and try one submission with gtp-harness check.",
    "No mark was given. Results are kept; the same command continues with --go-on.",
]


@pytest.mark.parametrize(("words", "hint"), HINTS)
def test_the_hint_that_last_words_get(words, hint):
    lines = stop_lines(Trouble(words, words, builds=True))
    assert lines[1:] == [
        "  command     python3 Go1.py",
        f"  last words  {words}",
        "  example     ada",
        "A reason that 2 submissions share is likely not the students' fault.",
        hint,
        *LOOK,
    ]


def test_without_a_hint_the_place_to_look_is_told_alone():
    assert stop_lines(Trouble("x", "x", builds=True))[5:] == LOOK


@pytest.mark.parametrize(("builds", "fails"), [(True, "start"), (False, "build")])
def test_whether_they_do_not_build_or_do_not_start(builds, fails):
    first, second, *_ = stop_lines(Trouble("x", "x", builds=builds))
    assert first == f"the first 2 submissions do not {fails}, all for the same reason:"
    assert ("python3 Go1.py" in second) is builds


def stop_lines(found):
    """Return the lines that tell why a grading stopped: two submissions failed alike."""
    alarm = Alarm(2)
    for name in ("ada", "ben"):
        alarm.note(name, name, found)
    with pytest.raises(ClassWideError) as raised:
        alarm.check("python3 Go1.py")
    return str(raised.value).splitlines()


# --- the command ---


def students(folder, count, more=()):
    """Hand in ``count`` different programs that need a package which is not here."""
    room = small_class.make(folder, tuple(more))
    for number in range(count):
        engine = f"# by {number}\n{'#' * number}\nimport colorama_of_2018\n{ENGINE}"
        body = engine.format(body="return 2 * n")
        files = {"engine.py": body, "readme.txt": "Me.\n"}
        name = f"student{number:02}_{300 + number}_{600 + number}_a1.tgz"
        (room / "submissions" / name).write_bytes(archive(files))
    return room


@pytest.mark.processes
@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("jobs", [long_if(True, 1), 3])
def test_a_class_that_cannot_start_is_not_graded_until_the_teacher_says_so(tmp_path, jobs):
    room = students(tmp_path, 12)
    said = grade(room, "--no-images", "--jobs", str(jobs), status=FAULT)
    assert "the first 5 submissions do not start" in said
    assert "ModuleNotFoundError: No module named 'colorama_of_2018'" in said
    assert re.search(r"line \d+ of engine.py", said)
    assert "--go-on" in said
    assert marks(room) == {}
    again = grade(room, "--no-images", status=FAULT)
    left = int(re.search(r"(\d+) of 36 attempts", again)[1])
    assert left <= 36 - 15  # what was run is not run again, and nothing more is
    assert left >= 36 - 3 * (5 + jobs)
    assert f"{left} of 36" in grade(room, "--no-images", status=FAULT)
    assert "13 marks" in grade(room, "--no-images", "--go-on", status=ATTENTION)


@pytest.mark.processes
@pytest.mark.usefixtures("sandbox")
def test_one_program_that_runs_is_enough_to_go_on(tmp_path):
    room = students(tmp_path, 2, more=small_class.CLASS[:1])
    said = grade(room, "--no-images", status=ATTENTION)
    assert "the same except for blanks and comments (file engine.py): student00, student01" in said
    assert len(marks(room)) == 4


# The course's package opens its log when it is imported; what it does then hides why it fails.
LOGGING = """
class _Log:
    def __init__(self):
        try:
            self.file = open("/nowhere/gtp_log", "w")
        except OSError:
            self.file.write("there is no log\\n")


_LOG = _Log()
"""


@pytest.mark.processes
@pytest.mark.long(2)
@pytest.mark.usefixtures("sandbox")
def test_a_class_whose_course_folder_cannot_open_its_log(tmp_path):
    """As in 2018: a whole class got 0, and the last line of standard error misled."""
    util = shutil.copytree(GO_SCORING / "util", tmp_path / "util") / "gtp_connection.py"
    util.write_text(util.read_text() + LOGGING)
    download = tmp_path / "download"
    download.mkdir()
    own = {path.name: path.read_text() for path in (GO_SCORING / "assignment1").iterdir()}
    for number in range(6):
        files = own | {"Go1.py": own["Go1.py"] + f"# {'x' * number}\n"}
        name = f"student{number}_{100 + number}_{200 + number}_a1.tgz"
        (download / name).write_bytes(archive(files))
    words = ["grade", download, "--assignment", "go-scoring", "--overlay", tmp_path / "util"]
    more = ["--public-only", "--no-images", "--jobs", "2", "--output", tmp_path / "out"]
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, [*words, *more])],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == FAULT, done.stdout + done.stderr
    assert "the first 5 submissions do not start, all for the same reason:" in done.stderr
    assert "command     python3 {folder}/Go1.py" in done.stderr
    assert re.search(r"last words  FileNotFoundError: .*'/nowhere/gtp_log' \(line \d+ of \w+\.py: "
                     r"from gtp_connection import", done.stderr)  # fmt: skip
    assert re.search(r"example     student\d", done.stderr)
    assert "AttributeError" not in done.stderr
