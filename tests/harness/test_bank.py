"""``gtp-harness bank``: a class of a former year as wrong engines, and nobody's name in them."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

from harness.banks import banks
from harness.cli import main
from harness.core.errors import AssignmentError, ExitCode, UsageError
from harness.sandbox import levels
from tests.harness.small_class import archive
from tests.harness.test_audit import ASSIGNMENT, ENGINE

CASES = {
    "area.gtp": (
        "boardsize 3\nclear_board\nkomi 0.5\nplay b b2\n10 score\n#? [B\\+8.5]\n"
        "play w a1\n20 score\n#? [W\\+0.5]\n"
    ),
    "known.gtp": "10 known_command score\n#? [true]\n",
}
KNOWS = ENGINE.replace('answer = "false"', 'answer = "true" if "{knows}" in line else "false"')
BEN = '''#!/home/babbage/bin/python3
# Ben Babbage, 101, babbage@example.edu
"""The engine of Ben Babbage."""
__author__ = "Ben Babbage"
from babbage_board import BabbageBoard
BEN_HOME = "/home/babbage/go"
MAIL = "write to ben.babbage@example.edu"
board = BabbageBoard()
board.benRead()
'''
BOARD = '''
class BabbageBoard:
    """By Ben."""
    def benRead(self):
        import sys
        for line in sys.stdin:  # Ben's loop
            words = line.split()
            number = words.pop(0) if words[0].isdigit() else ""
            answer = {"score": "B+1", "known_command": "true"}.get(words[0], "")
            print(f"={number} {answer}\\n", flush=True)
            if words[0] == "quit":
                break
'''


def engine(odd: str = "pass", knows: str = "score") -> dict[str, str]:
    return {"engine.py": KNOWS.format(odd=odd, knows=knows)}


STUDENTS = {
    "Ada Right": engine(),
    "Ben Babbage": {"engine.py": BEN, "babbage_board.py": BOARD, "readme.txt": "Ben Babbage"},
    "Cyd Curie": engine("return 'B+1'  # says Cyd Curie"),
    "Dan Dirac": {"engine.py": "import numpypy\n" + KNOWS.format(odd="pass", knows="score")},
    "Eve Euler": {"engine.py": "print 'Eve'\n"},
    "Fay Fermat": engine(knows="Fay"),
    "Gus Gauss": engine("open('gauss.txt')"),
    "Hal Hilbert": engine("lead = random.random()"),
    "Jo Nash": engine("import os; os._exit(3)"),
    "Kim Kepler": engine("lead = -lead"),
}
NOT_TAKEN = {
    "rightada_100": "it passes every test",
    "diracdan_103": "it crashes because of its environment:"
    " ModuleNotFoundError: No module named 'numpypy'",
    "eulereve_104": "it does not start",
    "fermatfay_105": "it differs only in commands that do not count",
    "hilberthal_107": "it answers differently when rerun without names and comments",
}


def grade_class(folder: Path) -> Path:
    """Write the assignment and what was handed in, and grade it; return the folder of that."""
    own, downloaded = folder / "scoring", folder / "submissions"
    own.mkdir()
    downloaded.mkdir()
    (own / "assignment.toml").write_text(ASSIGNMENT)
    for name, text in CASES.items():
        (own / name).write_text(text)
    for number, (name, files) in enumerate(STUDENTS.items()):
        last = "".join(reversed(name.lower().split()))
        path = downloaded / f"{last}_{100 + number}_{900 + number}_a1.tgz"
        path.write_bytes(archive(files))
    status = main(
        ["grade", str(downloaded), "--assignment", str(own), "--output", str(folder / "graded"),
         "--no-images", "--jobs", "2", "--go-on"]
    )  # fmt: skip
    assert status in (ExitCode.OK, ExitCode.ATTENTION)
    return folder / "graded"


def add_to_bank(graded: Path, bank: Path, *more: str) -> int:
    own = str(graded.parent / "scoring")
    return main(["bank", "add", str(graded), "--bank", str(bank), "--assignment", own,
                 "--commands", "score", "--jobs", "2", *more])  # fmt: skip


@pytest.fixture(scope="module")
def graded_class(tmp_path_factory, warm_workers):
    return grade_class(tmp_path_factory.mktemp("former"))


@pytest.fixture(scope="module")
def added(graded_class):
    """The bank that a class became, and what was said."""
    folder, said = graded_class.parent / "bank", io.StringIO()
    with contextlib.redirect_stdout(said):
        assert add_to_bank(graded_class, folder) == ExitCode.OK
    return folder, said.getvalue()


@pytest.fixture
def bank(added):
    return added[0]


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


pytestmark = [
    pytest.mark.processes,
    pytest.mark.long(15),
    pytest.mark.usefixtures("warm_workers"),
]


def test_one_of_each_behaviour_is_taken(bank):
    """Ben's and Cyd's answers are the same; Jo's program dies, Kim's turns the sign."""
    found = banks.read(bank)
    assert [one.name for one in found.entries] == ["01", "02", "03"]
    assert all("in public area.gtp:5" in one.sentence for one in found.entries)
    assert found.left_out == {
        **{why.partition(":")[0]: 1 for why in NOT_TAKEN.values()},
        "it crashes because of its environment": 2,
        **{one: 1 for one in found.left_out if one.startswith("same behaviour as")},
    }
    assert sum(found.left_out.values()) + len(found.entries) == len(STUDENTS)


def test_why_others_are_not_is_told_by_key(added):
    _, said = added
    for key, why in NOT_TAKEN.items():
        assert f"  not {key}: {why}\n" in said
    assert re.search(r"not (babbageben_101|curiecyd_102): same behaviour as 0\d\n", said)
    assert "not gaussgus_106: it crashes because of its environment: FileNotFoundError" in said


def test_nobody_is_named(bank):
    words = {part.casefold() for name in STUDENTS for part in name.split()}
    words |= {"babbageben", *(str(number) for number in range(900, 910))}
    for name, text in content(bank).items():
        said = f"{name}\n{text.decode()}".casefold()
        named = {one for one in words if re.search(rf"(?<![a-z0-9]){one}(?![a-z0-9])", said)}
        assert named - {"right"} == set(), name
        assert "babbage" not in said
        assert not re.search("#(?! Wrong| Nothing| why|!/usr)", text.decode()), name


def test_it_is_the_same_each_time(bank, graded_class, tmp_path):
    again = tmp_path / "bank"
    add_to_bank(graded_class, again)
    assert content(again) == content(bank)
    times = {path.stat().st_mtime for path in bank.rglob("0*/*.py")}
    assert len(times) == 1, "when a file was saved tells of somebody"


def test_what_is_in_it_is_not_added_again(bank, graded_class, tmp_path, capsys):
    copy = shutil.copytree(bank, tmp_path / "bank")
    assert add_to_bank(graded_class, copy) == ExitCode.FAILED
    said = capsys.readouterr().out
    assert said.startswith("0 engines added")
    assert said.count("same behaviour as") == 4
    assert banks.read(copy).entries == banks.read(bank).entries


def test_the_bank_measures_tests(bank, graded_class, capsys, monkeypatch):
    """In a sandbox that is proven once, and not for each engine."""
    proven, prove = [], levels.prove
    monkeypatch.setattr(levels, "prove", lambda box: proven.append(box.level) or prove(box))
    own = graded_class.parent / "scoring"
    one, other = own / "area.gtp", own / "known.gtp"
    command = ["strength", str(one), str(other), "--assignment", str(own), "--bank", str(bank)]
    assert main(command) == ExitCode.OK
    said = capsys.readouterr().out
    assert f"{one}  " in said
    assert "3 of 3 engines caught" in said
    assert re.search(rf"Catches nothing \(1\):\n  {other}:1 ", said)
    assert "kill rate" not in said
    assert len(proven) == 1


def test_list_tells_what_is_in_it(bank, capsys):
    assert main(["bank", "list", str(bank)]) == ExitCode.OK
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "3 engines of scoring"
    assert said[1].startswith("  01  wrong in ")
    assert said[4] == "left out:"


def test_a_command_that_no_test_has_is_told(graded_class, tmp_path):
    assert add_to_bank(graded_class, tmp_path / "bank", "--commands", "scoer") == ExitCode.BROKEN
    assert not (tmp_path / "bank").exists()


# --- the file ----------------------------------------------------------------------------------


def test_a_bank_may_be_written_by_hand(tmp_path):
    (tmp_path / "bank.toml").write_text('[[engine]]\nname = "a"\ncommand = "python3 a.py"\n')
    (one,) = banks.read(tmp_path).entries
    assert (one.name, one.command, one.folder) == ("a", "python3 a.py", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[engine]]\n", "engine[1].name: the key is missing"),
        ('[[engine]]\nname = "a"\n', "engine[1]: found 'a', expected either a folder or a comm"),
        ('[[engine]]\nname = "a"\nfolder = "x"\n', "engine[1].folder: found 'x', expected a fol"),
        ('[[engine]]\nname = "a"\nfolder = ".."\n', "found '..', expected a folder in the bank"),
        ('[[engine]]\nname = "a"\nfolder = "/tmp"\n', "'/tmp', expected a folder in the bank"),
        (f'[[engine]]\nname = "a"\nfolder = "{"x" * 5_000}"\n', "expected a folder in the bank"),
        ('[[engine]]\nname = "a"\ncommand = "b"\n' * 2, "expected another name for each engine"),
        ("engines = 1\n", "engines: there is no such key; did you mean 'engine'?"),
        ("[", "is not TOML"),
    ],
)
def test_what_is_wrong_with_a_bank_is_told(tmp_path, text, message):
    (tmp_path / "bank.toml").write_text(text)
    with pytest.raises(AssignmentError) as error:
        banks.read(tmp_path)
    assert message in str(error.value)


def test_a_folder_without_its_file_is_no_bank(tmp_path):
    with pytest.raises(UsageError, match=r"is not a bank: there is no bank\.toml in it"):
        banks.read(tmp_path)
