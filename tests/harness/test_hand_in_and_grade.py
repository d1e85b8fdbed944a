"""From a student's folder to a mark, for two assignments that ship, as people do it: processes.

Two students write a solution, a right one and one with a mistake, run ``gtp-harness check`` and
hand in the archive that it leaves; a teacher makes private cases from a secret, downloads what
was handed in and runs ``gtp-harness grade``. What the marks must be is computed here, from the
mistake as the oracle makes it and from the points that the assignments' documents name.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.assignments import assignment
from harness.core.records import CaseFile
from harness.judging.in_process import failing_lines, mutant_engine
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from oracle.mistakes import find_mistake as mistake_named
from tests.harness.downloads import canvas_name, moodle_folder, zip_files
from tests.harness.spoilt_submissions import SPOILT, SUBMISSIONS
from tests.harness.test_check import works

pytestmark = [pytest.mark.processes, pytest.mark.long(20)]

ROOT = Path(__file__).parents[2]
PUBLIC, PRIVATE = "public", "private"
ADA, BEN = 4711, 4712  # the numbers of the right student and of the wrong one
NAMES = {ADA: "Ada Right", BEN: "Ben Wrong"}
SECRET = "nobody who reads this has the real one"
TESTS = 16  # private ones; enough that no part of a mark is without any


class Part(NamedTuple):
    points: int
    kind: str  # PUBLIC or PRIVATE; else it is for files alone
    commands: frozenset[str] = frozenset()  # none: all of them


def parts(points: int, *commands: str) -> list[Part]:
    return [Part(points, kind, frozenset(commands)) for kind in (PUBLIC, PRIVATE)]


FIVE = [Part(1, "files"), *parts(2)]  # "log and readme 1, public 2, private 2"
JAVA = [
    Part(5, PUBLIC), *parts(10, "is_captured"), *parts(10, "score"), *parts(5, "is_legal"),
    *parts(10, "can_play", "captures", "is_over"),
]  # fmt: skip


class Exam(NamedTuple):
    """An assignment, and the change that makes its right submission a wrong one."""

    key: str
    folder: str
    file: str
    old: str
    new: str
    mistake: str  # of the oracle: the very same
    marks: list[Part]
    source: str  # where it is handed in


NO_KO = SPOILT["no ko"]
EXAMS = [
    Exam("go-scoring", "assignment1", "gtp_connection_go1.py", "if len(colors) == 1:",
         "if colors:", "neutral-points-to-white", FIVE, "canvas"),
    Exam("java-go", "go", NO_KO.file, NO_KO.old, NO_KO.new, "ko-ignored", JAVA, "moodle"),
]  # fmt: skip


class Graded(NamedTuple):
    """What came of an exam."""

    exam: Exam
    said: dict[int, str]  # by check to each
    status: dict[int, int]  # of check
    private: Path
    output: Path
    members: dict[int, dict]  # of class.json, by number


# One before the slow tier: what all have in common is shown by it.
MARKS = {"go-scoring": [pytest.mark.full]}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(one, id=one.key, marks=MARKS.get(one.key, [pytest.mark.slow]))
        for one in EXAMS
    ],
)
def graded_exam(request, tmp_path_factory, warm_commands):
    exam = request.param
    if exam.key == "java-go":
        request.getfixturevalue("java")
    if not works():
        pytest.skip("no sandbox works on this machine")
    return graded_in(tmp_path_factory.mktemp(exam.key), exam)


def graded_in(room: Path, exam: Exam) -> Graded:
    room.chmod(0o755)
    homes = {number: home(room / NAMES[number], exam, number) for number in NAMES}
    checked = {
        number: harness(place, "check", "--assignment", exam.key)
        for number, place in homes.items()
    }
    (room / "secret").write_text(SECRET)
    (room / "private").mkdir()
    harness(room, "generate", "--assignment", exam.key, "--secret", "secret", "--with",
            assignment.find(exam.key).place, "-n", TESTS, "-o", "private/mine.gtp")  # fmt: skip
    done = harness(room, "grade", *handed_in(room, exam, homes), "--assignment", exam.key,
                   "--private", "private", *overlay(room))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((room / "graded" / "class.json").read_text(encoding="utf-8"))
    return Graded(
        exam,
        {number: one.stdout for number, one in checked.items()},
        {number: one.returncode for number, one in checked.items()},
        room / "private",
        room / "graded",
        {int(one["students"][0]["ids"][exam.source]): one for one in document["submissions"]},
    )


def harness(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def home(place: Path, exam: Exam, number: int) -> Path:
    """Write a student's folder; Ben's has the mistake in it."""
    leavings = shutil.ignore_patterns("__pycache__", "cases")
    shutil.copytree(SUBMISSIONS / exam.key, place, ignore=leavings)
    folder = place / exam.folder
    if number == BEN:
        path = folder / exam.file
        text = path.read_text(encoding="utf-8")
        assert exam.old in text, "the right submission has changed"
        path.write_text(text.replace(exam.old, exam.new), encoding="utf-8")
    return place


def overlay(room: Path) -> list[str | Path]:
    util = room / NAMES[ADA] / "util"
    return ["--overlay", util] if util.is_dir() else []


# --- handed in, and the sheets to be filled in


def handed_in(room: Path, exam: Exam, homes: dict[int, Path]) -> list[str]:
    """Write the download and the sheet; return the arguments that name them."""
    name = assignment.find(exam.key).archive.name
    archives = {number: (place / name).read_bytes() for number, place in homes.items()}
    write_sheet, path_of = {"canvas": (canvas, canvas_path), "moodle": (moodle, moodle_path)}[
        exam.source
    ]
    files = [(path_of(number, name), data) for number, data in archives.items()]
    zip_files(room / "submissions.zip", files)
    write_sheet(room / "sheet.csv", assignment.find(exam.key).title)
    return ["submissions.zip", f"--{exam.source}", "sheet.csv"]


def canvas_path(number: int, name: str) -> str:
    first, last = NAMES[number].split()
    return canvas_name(last + first, number, number + 1000, name)


def moodle_path(number: int, name: str) -> str:
    return f"{moodle_folder(NAMES[number], number)}/{name}"


def canvas(path: Path, title: str) -> None:
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{title} (9)"]]
    rows += [[NAMES[number], str(number), "", "", "A", ""] for number in NAMES]
    write_rows(path, rows)


def moodle(path: Path, _: str) -> None:
    rows = [["Identifier", "Full name", "Grade", "Maximum Grade", "Feedback comments"]]
    rows += [[f"Participant {number}", NAMES[number], "", "", ""] for number in NAMES]
    write_rows(path, rows)


def write_rows(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


# --- the truth


def true_mark(one: Graded, number: int) -> Fraction:
    """Return the mark by the assignment's document."""
    cases = {PUBLIC: public_cases(one), PRIVATE: private_cases(one)}
    return sum((points(part, cases, one, number) for part in one.exam.marks), Fraction(0))


def points(part: Part, cases: dict[str, list], one: Graded, number: int) -> Fraction:
    if part.kind not in cases:
        return Fraction(part.points)
    tests = [
        (case, step.line)
        for case in cases[part.kind]
        for step in case.steps
        if step.is_test and (not part.commands or step.command.split()[0] in part.commands)
    ]
    lost = [test for test in tests if number == BEN and test[1] in wrong_lines(one, test[0])]
    return Fraction(part.points * (len(tests) - len(lost)), len(tests) or 1)


def public_cases(one: Graded) -> list[CaseFile]:
    return [casefile.read(str(path)) for path in assignment.find(one.exam.key).public_cases()]


def private_cases(one: Graded) -> list[CaseFile]:
    return [casefile.read(str(path)) for path in one.private.glob("*.gtp")]


def wrong_lines(one: Graded, case: CaseFile) -> set[int]:
    """Return the tests that Ben's mistake fails, by the oracle."""
    return failing_lines(
        case, mutant_engine(mistake_named(one.exam.mistake)), find_dialect("gogui")
    )


# --- what came of it


def failures(member: dict, kind: str) -> Iterator[tuple[str, int]]:
    """Yield (file, line) of the tests that a submission failed, by the JSON."""
    for attempt in member["attempts"]:
        if attempt["kind"] == kind:
            for test in attempt["result"]["tests"]:
                if test["verdict"] != "passed":
                    yield attempt["case"], test["line"]


@pytest.mark.parametrize("number", NAMES)
def test_the_marks_are_the_true_ones(graded_exam, number):
    marks = graded_exam.members[number]["marks"]
    assert not marks["withheld"]
    assert Fraction(marks["total"]["exact"]) == true_mark(graded_exam, number)


def test_the_mistake_costs_public_and_private_points(graded_exam):
    """Or else the test above would show little."""
    most = sum(part.points for part in graded_exam.exam.marks)
    assert true_mark(graded_exam, ADA) == most > true_mark(graded_exam, BEN) > 0


@pytest.mark.parametrize("number", NAMES)
def test_the_transcript_of_check_earns_the_mark_of_the_log(graded_exam, number):
    log = graded_exam.members[number]["log"]
    assert [log[name] for name in ("present", "transcript", "unpacked", "ran")] == [True] * 4
    fits = r"The receipt in the log fits: gtp-harness \S+ has tested these files(, run by .+)?\."
    assert re.fullmatch(fits, log["receipt"])
    assert (graded_exam.members[number]["faults"], graded_exam.members[number]["refused"]) == (
        [],
        "",
    )


def test_check_has_told_what_grade_found(graded_exam):
    said = re.findall(r"^   ✗ FAILED .*  (\S+\.gtp):(\d+)$", graded_exam.said[BEN], re.M)
    told = [(file, int(line)) for file, line in said]
    assert told
    assert told == list(failures(graded_exam.members[BEN], PUBLIC))
    assert "FAILED" not in graded_exam.said[ADA]
    assert not [
        *failures(graded_exam.members[ADA], PUBLIC),
        *failures(graded_exam.members[ADA], PRIVATE),
    ]


@pytest.mark.parametrize("number", NAMES)
def test_the_sheet_is_filled_in(graded_exam, number):
    with (graded_exam.output / f"{graded_exam.exam.source}.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    title = assignment.find(graded_exam.exam.key).title
    who, mark = {"canvas": ("ID", f"{title} (9)"), "moodle": ("Identifier", "Grade")}[
        graded_exam.exam.source
    ]
    found = [row[mark] for row in rows if row[who].split()[-1] == str(number)]
    assert [round(float(text), 2) for text in found] == [
        pytest.approx(float(true_mark(graded_exam, number)), abs=0.0051)
    ]


@pytest.mark.parametrize("number", NAMES)
def test_the_feedback_page_tells_what_is_the_students_and_nothing_private(graded_exam, number):
    member = graded_exam.members[number]
    page = (graded_exam.output / "feedback" / f"{member['key']}.html").read_text(encoding="utf-8")
    assert member["students"][0]["name"] in page
    private = "".join(
        path.read_text(encoding="utf-8") for path in graded_exam.private.glob("*.gtp")
    )
    scenes = re.findall(r"^# ([a-z-]+: .*)", private, re.M)  # what each test is about
    assert scenes
    assert not [words for words in ("mine.gtp", *scenes) if words in page]


def test_nobody_is_suspected_to_have_learnt_the_answers_by_heart(graded_exam):
    assert [member["suspicion"] for member in graded_exam.members.values()] == [None, None]
