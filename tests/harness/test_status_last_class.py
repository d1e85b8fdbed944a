"""A class whose programs answer with a status line: checked, graded, verified, measured.

The game is one of zeros and ones, declared with the program of its teacher; the public tests are a
text file as the course writes them, beside a ``readme.txt`` that is none.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from harness.cli import main

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.processes

GAME = Path(__file__).parent.parent / "own_games" / "takuzu"
ASSIGNMENT = """\
title = "Zeros and ones"
{translate}
[archive]
name = "a1.tgz"
folder = "assignment1"
[files]
required = ["takuzu.py"]
allowed = ["*.py"]
[engine]
command = "python3 {{folder}}/takuzu.py"
[cases]
public = ["*public*.txt"]
[late]
deduction = 20
[[marks]]
name = "public tests"
points = 4
judged_by = "public"
rule = "share"
{declaration}
"""
TESTS = """\
# A board of three columns and two rows.
game 3 2
= 1

?play 2 0 1
= 1
?play 2 0 1
= illegal move: 2 0 1 occupied
?legal 2 0 1
no
= 1
?play 9 9 1
= illegal move: 9 9 1 wrong coordinate
"""


def assignment(folder: Path, translate: str = "") -> Path:
    """Make the folder of the assignment."""
    folder.mkdir()
    shutil.copy(GAME / "takuzu.py", folder)
    told = (GAME / "assignment.toml").read_text()
    declaration = told[told.index("[reference]") :]
    text = ASSIGNMENT.format(declaration=declaration, translate=translate)
    (folder / "assignment.toml").write_text(text)
    (folder / "assignment1-public-tests.txt").write_text(TESTS)
    (folder / "readme.txt").write_text("Tests end with = 1, such as\n= 1\n")
    return folder


def submission(path: Path, source: str) -> Path:
    """Write an archive with one program."""
    folder = path.parent / f"{path.stem}-files" / "assignment1"
    folder.mkdir(parents=True)
    (folder / "takuzu.py").write_text(source)
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, "assignment1")
    return path


RIGHT = (GAME / "takuzu.py").read_text()
WRONG = RIGHT.replace('"occupied"', '"taken"')


def test_a_class_is_graded(open_place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = assignment(open_place / "zeros")
    (open_place / "class").mkdir()
    submission(open_place / "class" / "ann_a1.tgz", RIGHT)
    submission(open_place / "class" / "bob_a1.tgz", WRONG)
    for path in (open_place / "class").glob("*-files"):
        shutil.rmtree(path)
    output = open_place / "graded"
    arguments = [str(open_place / "class"), "--assignment", str(own), "--output", str(output)]
    assert main(["grade", *arguments, "--public-only"]) == 0
    text = capsys.readouterr().out
    assert "2 submissions, 1 case file," in text
    page = (output / "feedback" / "bob_a1.html").read_text()
    assert "= illegal move: 2 0 1 <mark>occupied</mark>" in page
    assert "= illegal move: 2 0 1 <mark>taken</mark>" in page
    assert "gtp-harness check --assignment" in page
    right = (output / "feedback" / "ann_a1.html").read_text()
    assert "4 of 4 tests passed" in right
    assert "3 of 4 tests passed" in page


def test_a_transposed_submission_is_checked_through_a_table(
    open_place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its ``legal`` and ``play`` have the row first, and ``game`` the height."""
    own = assignment(open_place / "zeros", 'translate = "words.toml"')
    (own / "words.toml").write_text(
        "command.game.arguments = [2, 1]\n"
        "command.legal.arguments = [2, 1, 3]\n"
        "command.play.arguments = [2, 1, 3]\n"
    )
    (own / "assignment1-public-tests.txt").write_text(
        "game 3 2\n= 1\n?play 2 0 1\n= 1\n?legal 2 0 1\nno\n= 1\n?legal 0 1 1\nyes\n= 1\n"
    )
    archive = submission(open_place / "a1.tgz", RIGHT)
    assert main(["check", str(archive), "--assignment", str(own)]) == 0
    assert "3 tests, 3 passed" in capsys.readouterr().out
    (own / "words.toml").write_text("transposed = 1\n")
    assert main(["check", str(archive), "--assignment", str(own)]) == 2
    assert "words.toml: transposed: found 1, expected true or false" in capsys.readouterr().err


def test_the_tests_are_verified_against_the_reference(
    open_place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = assignment(open_place / "zeros")
    tests = own / "assignment1-public-tests.txt"
    assert main(["verify", str(own)]) == 0
    assert "4 tests in 1 file: nothing found" in capsys.readouterr().out
    tests.write_text(TESTS.replace("no\n= 1", "yes\n= 1"))
    assert main(["verify", str(tests)]) == 1
    assert "WRONG" in capsys.readouterr().out


# --- run, its reports, and pytest --------------------------------------------------------------

# By option: the file that a report goes to.
REPORTS = {
    "--json": "a.json",
    "--junit": "a.xml",
    "--tap": "a.tap",
    "--save-failures": "failures",
    "--output": "pages",
}


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """Return a right program and a wrong one; beside them lie the tests."""
    (tmp_path / "tests.txt").write_text(TESTS)
    for name, source in (("right", RIGHT), ("wrong", WRONG)):
        (tmp_path / f"{name}.py").write_text(source)
    return {name: f"{sys.executable} {tmp_path / name}.py" for name in ("right", "wrong")}


def run_tests(program: str, tmp_path: Path, *words: str) -> int:
    tests = str(tmp_path / "tests.txt")
    return main(["run", program, tests, "--protocol", "status last", "--sandbox", "off", *words])


def texts(path: Path) -> str:
    """Return all that is written in a file, or in the files of a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return "\n".join(one.read_text() for one in files if one.is_file())


@pytest.mark.parametrize("shown", ["--plain", "--report", "--long", "--verbose"])
def test_all_that_is_told_has_the_answer_that_is_wrong(
    shown: str, programs: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reports = REPORTS if shown == "--report" else {}
    for name, status in (("right", 0), ("wrong", 1)):
        (tmp_path / name).mkdir()
        paths = {option: tmp_path / name / file for option, file in reports.items()}
        words = [word for option, path in paths.items() for word in (option, str(path))]
        assert run_tests(programs[name], tmp_path, shown, *words) == status
        told = ["".join(capfd.readouterr()), *map(texts, filter(Path.exists, paths.values()))]
        assert ["taken" in one for one in told] == [bool(status)] * len(told)
        assert len(told) == 1 + len(reports) or not status


def test_pytest_runs_files_of_answers(
    programs: dict[str, str], pytester: pytest.Pytester, tmp_path: Path
) -> None:
    (pytester.path / "tests.txt").write_text(TESTS)
    words = ("tests.txt", "--gtp-protocol", "status last", "--gtp-engine")
    wrong = pytester.runpytest_inprocess(*words, programs["wrong"])
    wrong.assert_outcomes(passed=3, failed=1)
    wrong.stdout.fnmatch_lines(["*2 0 1 taken*"])
