"""A declared assignment from ``check`` to ``grade``, with images, as an assignment that ships."""

import json
import shutil
import tarfile

import pytest

from harness.assignments import assignment
from harness.cli import main
from harness.core.errors import ExitCode
from tests.harness.test_check import works

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("warm_workers")]

# Points of a board of n by n; plain() is the number of free ones in the first row.
ENGINE = """\
import sys

size, stones, turn = 3, {}, "b"
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    name, status, text = words[0], "=", ""
    if name == "boardsize":
        size, stones, turn = int(words[1]), {}, "b"
    elif name == "clear_board":
        stones, turn = {}, "b"
    elif name == "play":
        column, row = "abcdefgh".find(words[2][0].lower()), int(words[2][1:])
        if (column, row) in stones or words[1] != turn or column >= size or row > size:
            status, text = "?", "no"
        else:
            stones[column, row] = turn
            turn = "w" if turn == "b" else "b"
    elif name == "left":
        text = sorted("abcdefgh"[c] + str(r) for c in range(size) for r in range(1, size + 1)
                      if (c, r) not in stones)
        text = " ".join(text)
    elif name == "quit":
        print(f"={number}\\n", flush=True)
        break
    else:
        status, text = "?", "unknown command"
    print(f"{status}{number} {text}\\n", flush=True)
"""
DECLARED = """\
[reference]
command = "python3 points.py"

[game]
sizes = [2, 3]

[[command]]
name = "left"
reply = "any order"
"""
CASES = """\
boardsize 2
play b a1
10 left
#? [a2 b1 b2|a2 b2 b1|b1 a2 b2|b1 b2 a2|b2 a2 b1|b2 b1 a2]
play w b1
20 left
#? [a2 b2|b2 a2]
"""
# What passes the public tests and knows nothing else.
BY_HEART = ENGINE.replace(
    'text = " ".join(text)', 'text = "a2 b1 b2" if len(stones) == 1 else "a2 b2"'
)


@pytest.fixture
def course(open_place, monkeypatch):
    if not works():
        pytest.skip("no sandbox works on this machine")
    monkeypatch.setenv("XDG_CACHE_HOME", str(open_place / "cache"))
    own = open_place / "points"
    own.mkdir()
    (own / "points.py").write_text(ENGINE)
    (own / "assignment.toml").write_text(DECLARED)
    (own / "a.gtp").write_text(CASES)
    for name, engine in (("ada", ENGINE), ("bob", BY_HEART)):
        folder = open_place / "handed" / name / "points"
        folder.mkdir(parents=True)
        (folder / "points.py").write_text(engine)
    return open_place


def test_cases_are_verified(course, capsys):
    assert main(["verify", str(course / "points")]) == ExitCode.OK
    assert "2 tests in 1 file: nothing found" in capsys.readouterr().out
    (course / "points" / "a.gtp").write_text(CASES.replace("a2 b2|b2 a2", "a2 b2"))
    assert main(["verify", str(course / "points")]) == ExitCode.FAILED
    assert "it refuses 'b2 a2', which is right, too" in capsys.readouterr().out


def test_where_the_reference_stands_alone_the_teacher_is_asked(course, capsys):
    own = course / "points"
    right = own / "right.py"
    right.write_text(ENGINE)
    (own / "points.py").write_text(ENGINE.replace("not in stones)", "not in stones or c == r)"))
    words = ["verify", str(own / "a.gtp"), "--assignment", str(own), "--sandbox", "off"]
    assert main(words) == ExitCode.FAILED
    assert "1 wrong" in capsys.readouterr().out
    other = ["--against", f"python3 {right}"]
    assert main([*words, *other]) == ExitCode.FAILED
    told = capsys.readouterr().out
    assert "1 a question" in told
    assert "1 other program agrees with the test, and only the reference disagrees" in told
    assert main([*words, *other, "--allow", "a question"]) == ExitCode.OK
    same = ["--against", f"python3 {own / 'points.py'}"]
    assert main([*words, *other, *same]) == ExitCode.FAILED
    assert "1 wrong" in capsys.readouterr().out, "one agrees with the reference"


def test_students_check_without_the_reference(course, capsys):
    """They are given the assignment's file and its cases, and not the right solution."""
    (course / "points" / "points.py").rename(course / "secret.py")
    toml = course / "points" / "assignment.toml"
    handed_in = """
title = "Points"
archive = { name = "points.tgz", folder = "points" }
files = { required = ["points.py"], allowed = [] }
engine = { command = "python3 {folder}/points.py" }
"""
    toml.write_text(handed_in + DECLARED)
    submission = course / "handed" / "ada" / "points"
    assert main(["check", str(submission), "--assignment", str(course / "points")]) == ExitCode.OK
    assert "2 tests, 2 passed" in capsys.readouterr().out


def test_a_class_is_graded_with_images(course, capsys):
    for name in ("ada", "bob"):
        folder = course / "handed" / name
        with tarfile.open(folder / "points.tgz", "w:gz") as archive:
            archive.add(folder / "points", "points")
        shutil.rmtree(folder / "points")
    out = course / "graded"
    main(["grade", str(course / "handed"), "--assignment", str(course / "points"),
          "--output", str(out)])  # fmt: skip
    ada, bob = json.loads((out / "class.json").read_text())["submissions"]
    assert [one["marks"]["total"]["exact"] for one in (ada, bob)] == ["1", "1"]
    assert {one["kind"] for one in ada["attempts"]} == {"public", "image"}
    failed = {
        one["kind"]: sum(test["verdict"] == "FAILED" for test in one["result"]["tests"])
        for one in bob["attempts"]
    }
    assert failed["public"] == 0
    assert failed["image"] > 0, "the images ask the same of other points"
    assert not any(
        test["verdict"] == "FAILED" for one in ada["attempts"] for test in one["result"]["tests"]
    )


def test_a_reference_that_breaks_judges_nobody(course, capsys):
    (course / "points" / "points.py").write_text("import sys\nsys.exit(2)\n")
    assert main(["verify", str(course / "points")]) == ExitCode.BROKEN
    assert "the reference did not answer 'boardsize 2'" in capsys.readouterr().err


SPECIFY = """\
from dataclasses import replace


def specify(declared):
    return replace(declared, legend={"*": "a free point"})
"""


def test_what_toml_cannot_say_stands_in_a_file_beside_it(course):
    (course / "points" / "specification.py").write_text(SPECIFY)
    found = assignment.find(str(course / "points")).specification
    assert found is not None
    assert found.legend == {"*": "a free point"}
    assert found.forms["left"].normal("b a") == "a b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found no function specify"),
        ("def specify(declared):\n    return 1\n", "specify returned 1, expected"),
        ("1 / 0\n", "fails with ZeroDivisionError"),
    ],
)
def test_what_is_wrong_in_that_file_is_said(course, capsys, text, message):
    (course / "points" / "specification.py").write_text(text)
    assert main(["verify", str(course / "points")]) == ExitCode.BROKEN
    said = capsys.readouterr().err
    assert "specification.py" in said
    assert message in said


BESIDE = """
title = "Scores and stones"
extends = "go-scoring"
archive = { name = "points.tgz", folder = "points" }
files = { required = ["points.py"], allowed = [] }
engine = { command = "python3 {folder}/points.py" }

[reference]
command = "python3 points.py"

[[command]]
name = "left"
reply = "any order"
"""


def test_commands_of_ones_own_stand_beside_an_assignment_that_ships(course, capsys):
    """The oracle scores, the reference says what is left, of one and the same game."""
    (course / "points" / "assignment.toml").write_text(BESIDE)
    case = course / "points" / "a.gtp"
    begin = "boardsize 2\nclear_board\nkomi 0\nplay b a1\n"
    case.write_text(begin + "10 score\n#? [B\\+4(\\.0)?]\nplay w b1\n20 left\n#? [a2 b2|b2 a2]\n")
    assert main(["verify", str(course / "points")]) == ExitCode.OK, capsys.readouterr().out
    case.write_text(begin + "10 score\n#? [B\\+3]\nplay w b1\n20 left\n#? [a2 b1|b1 a2]\n")
    capsys.readouterr()
    assert main(["verify", str(course / "points")]) == ExitCode.FAILED
    said = capsys.readouterr().out
    assert "the right answer is 'B+4'" in said
    assert "the right answer is 'a2 b2'" in said
