"""``grade --audit``: who answers wrongly with nearly full marks is told; no mark changes by it."""

from __future__ import annotations

import html
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from harness.cli.grade import GRADE
from harness.core.errors import ExitCode, UsageError
from harness.fuzzing.search import FuzzBudget
from harness.grading.auditing import audit, wrong_answers
from harness.reading import casefile
from harness.work import canonical_json
from tests.harness.small_class import archive
from tests.harness.umasks import strict_umask

pytestmark = [
    pytest.mark.processes,
    pytest.mark.long(20),
    pytest.mark.usefixtures("warm_workers"),
]

ASSIGNMENT = """\
title = "Scoring"
specification = "go-scoring"

[archive]
name = "a1.tgz"
folder = "assignment1"

[files]
required = ["engine.py"]
allowed = ["*.py"]

[engine]
command = "python3 {folder}/engine.py"

[cases]
public = ["*.gtp"]

[limits]
timeout = 20
startup = 20
cpu = 10

[[marks]]
name = "files"
points = 1
judged_by = "files"
rule = "all"

[[marks]]
name = "public"
points = 4
judged_by = "public"
rule = "share"

[late]
deduction = 20
"""
CASES = {
    "area.gtp": (
        "boardsize 3\nclear_board\nkomi 0.5\nplay b b2\n10 score\n#? [B\\+8.5]\n"
        "play w a1\n20 score\n#? [W\\+0.5]\n"
    ),
}
# Area scoring on a board of a few points; {odd}: what it does wrong in the end.
ENGINE = """\
import random, sys
size, stones, komi = 9, {{}}, 0.0

def near(c, r):
    return [p for p in ((c+1, r), (c-1, r), (c, r+1), (c, r-1)) if 0 <= min(p) and max(p) < size]

def group(point):
    found, todo, colors = set(), [point], set()
    while todo:
        here = todo.pop()
        if here in stones:
            colors.add(stones[here])
        elif here not in found:
            found.add(here)
            todo += near(*here)
    return found, colors

def chain(point):
    found, todo, free = set(), [point], False
    while todo:
        here = todo.pop()
        if here not in stones:
            free = True
        elif here not in found and stones[here] == stones[point]:
            found.add(here)
            todo += near(*here)
    return found, free

def play(color, point):
    stones[point] = color
    for other in near(*point):
        if stones.get(other, color) != color and not chain(other)[1]:
            for stone in chain(other)[0]:
                del stones[stone]

def score():
    lead = -komi
    for c in range(size):
        for r in range(size):
            colors = [stones[c, r]] if (c, r) in stones else group((c, r))[1]
            if len(set(colors)) == 1:
                lead += 1 if "b" in colors else -1
    {odd}
    return "0" if lead == 0 else ("B+" if lead > 0 else "W+") + format(abs(lead), "g")

for line in sys.stdin:
    words = line.lower().split()
    number = words.pop(0) if words and words[0].isdigit() else ""
    name, answer = words[0], ""
    if name == "boardsize":
        size = int(words[1])
        stones.clear()
    elif name == "clear_board":
        stones.clear()
    elif name == "komi":
        komi = float(words[1])
    elif name == "play" and words[2] != "pass":
        play(words[1][0], ("abcdefghjklmnopqrstuvwxyz".index(words[2][0]), int(words[2][1:]) - 1))
    elif name == "known_command":
        answer = "false"
    elif name == "score":
        answer = score()
    print(f"={{number}} {{answer}}\\n", flush=True)
    if name == "quit":
        break
"""
RIGHT = "pass"
SUBTLE = "if not stones: lead -= size * size"  # no case asks for an empty board
BAD = "lead = 1"
STUDENTS = {"Ada Right": RIGHT, "Ben Subtle": SUBTLE, "Cyd Bad": BAD}
SUBTLE_KEY, SECONDS = "subtleben_101", "20"
MANY = 8  # conversations with each engine


def write_class(folder: Path, students: Mapping[str, str] = STUDENTS) -> Path:
    """Write the assignment and what was handed in."""
    assignment, downloaded = folder / "scoring", folder / "submissions"
    assignment.mkdir()
    downloaded.mkdir()
    (assignment / "assignment.toml").write_text(ASSIGNMENT)
    for name, text in CASES.items():
        (assignment / name).write_text(text)
    for number, (name, odd) in enumerate(students.items()):
        last = "".join(reversed(name.lower().split()))
        content = archive({"engine.py": ENGINE.format(odd=odd)})
        (downloaded / f"{last}_{100 + number}_{900 + number}_a1.tgz").write_bytes(content)
    return folder


def words(folder: Path, *more: str) -> list[str]:
    return [str(folder / "submissions"), "--assignment", str(folder / "scoring"),
            "--output", str(folder / "out"), "--no-images", "--jobs", "2", *more]  # fmt: skip


@contextmanager
def conversations(number: int) -> Iterator[None]:
    """Let audits draw so many conversations, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wrong_answers, "FuzzBudget", lambda seconds, examples: FuzzBudget(0, number))
        yield


def document(folder: Path) -> dict:
    return json.loads((folder / "out" / "class.json").read_text())


def audit_of(folder: Path, key: str) -> dict:
    (found,) = [one for one in document(folder)["audits"] if one["submission"] == key]
    return found


def marks(folder: Path) -> dict[str, bytes]:
    """Return all that was written of marks and for students, by the names of the files."""
    out = folder / "out"
    paths = [out / "marks.csv", *out.glob("feedback/*"), *out.glob("gradescope/*/*")]
    found = {str(path.relative_to(out)): path.read_bytes() for path in paths}
    own = [[one["key"], one["marks"], one["attempts"]] for one in document(folder)["submissions"]]
    return found | {"class.json": json.dumps(own).encode()}


@pytest.fixture(scope="module")
def audited_class(tmp_path_factory):
    """The class, graded, and audited after that: its folder, and the marks before the audit."""
    folder = write_class(tmp_path_factory.mktemp("audit"))
    assert GRADE.main(words(folder)) == ExitCode.OK
    before = marks(folder)
    with conversations(MANY), strict_umask():
        assert GRADE.main(words(folder, "--audit", SECONDS)) == ExitCode.OK
    return folder, before


def test_who_is_wrong_all_the_same_is_told_with_a_case(audited_class):
    folder, _ = audited_class
    (wrong,) = audit_of(folder, SUBTLE_KEY)["wrong"]
    assert wrong["command"] == "score"
    assert wrong["mistakes"] == ["As if the empty board were White's."]
    name = f"audit/{SUBTLE_KEY}/{wrong['file']}"
    case = casefile.read(str(folder / "out" / name))
    assert case.steps[-1].command == "score"
    assert case.steps[-1].pattern is not None
    assert "play" not in (folder / "out" / name).read_text()
    page = (folder / "out" / "class.html").read_text()
    assert "Nearly full marks, but wrong answers: 1 of 2 audited" in page
    assert f'<a href="{name}">' in page
    own = folder / "scoring"
    more = f"gtp-harness generate --assignment {own} --kill {own}/area.gtp -o more.gtp"
    assert more in html.unescape(page)


def test_who_is_right_is_not_accused(audited_class):
    folder, _ = audited_class
    found = audit_of(folder, "rightada_100")
    assert (found["wrong"], found["conversations"], found["trouble"]) == ([], MANY, "")


def test_who_is_known_to_be_wrong_is_not_looked_at(audited_class):
    folder, _ = audited_class
    names = {path.name for path in (folder / "out" / "audit").iterdir()}
    assert names == {"rightada_100", SUBTLE_KEY}


def test_no_mark_changes_by_it(audited_class):
    folder, before = audited_class
    assert marks(folder) == before


def test_what_was_audited_is_kept_and_not_done_twice(audited_class, capsys):
    folder, _ = audited_class
    before = document(folder)["audits"]
    assert GRADE.main(words(folder, "--audit", SECONDS)) == ExitCode.OK
    said = capsys.readouterr().out
    assert "2 submissions with nearly full marks, 0 to be audited" in said
    told = f"audited and still wrong (marks do not change): subtleben: audit/{SUBTLE_KEY}/"
    assert told in said
    assert GRADE.main(words(folder)) == ExitCode.OK
    assert document(folder)["audits"] == before


HOLDS = "boardsize 2\nkomi 0\nplay b a1\n10 score\n#? [B\\+4]\n"


def test_what_was_found_is_asked_again_before_it_is_told(audited_class, capsys):
    """An audit that was ended before that goes on with it: what does not show is taken back."""
    folder, _ = audited_class
    place = folder / "out" / "audit"
    found = audit.read(place, SUBTLE_KEY)
    wrong = found.wrong[0]
    (place / SUBTLE_KEY / "02-score.gtp").write_text(HOLDS)
    state = canonical_json.dumps(
        found._replace(wrong=(wrong, wrong._replace(file="02-score.gtp")), confirmed=False)
    )
    (place / SUBTLE_KEY / "audit.json").write_text(state)
    with conversations(0):  # nothing more is drawn
        GRADE.main(words(folder, "--audit", SECONDS))
    assert "1 to be audited" in capsys.readouterr().out
    assert audit.read(place, SUBTLE_KEY) == found._replace(unsure=found.unsure + 1)
    assert not (place / SUBTLE_KEY / "02-score.gtp").exists()


def test_an_interrupt_leaves_the_marks_and_what_was_audited(tmp_path):
    """Ctrl-C in a long audit: the marks are written, and the same command continues."""
    folder = write_class(tmp_path, {"Ada Right": RIGHT})
    command = [sys.executable, "-m", "harness.cli", "grade", *words(folder, "--audit", "100")]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True, bufsize=1) as process:
        for line in process.stdout:
            if "to be audited" in line:
                break
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "The marks and the audit's results are kept; the same command continues." in said
    assert "Traceback" not in said
    assert b"rightada" in marks(folder)["marks.csv"].lower()


@pytest.mark.parametrize(
    ("more", "change", "said"),
    [
        (["--marks-only"], "", "--marks-only runs nothing, but --audit runs engines"),
        ([], 'specification = "go-scoring"', "--audit needs an assignment with a specification"),
    ],
)
def test_where_there_can_be_no_audit_it_is_said_before(tmp_path, capsys, more, change, said):
    folder = write_class(tmp_path, {})
    path = folder / "scoring" / "assignment.toml"
    path.write_text(path.read_text().replace(change, "") if change else path.read_text())
    given = words(folder, "--audit", "5", *more)
    with pytest.raises((SystemExit, UsageError)) as error:
        GRADE.main(given[1:] if more else given)
    assert said in capsys.readouterr().err + str(error.value)
