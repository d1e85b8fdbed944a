"""``gtp-harness new``: a declaration proposed from a right solution and from public tests."""

import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from harness.assignments import assignment
from harness.cli import main
from harness.core.errors import ExitCode
from harness.declared.probes import pattern_of
from harness.declared.program_process import ProgramStart
from harness.environments import interpreters
from oracle.command_properties import STANDARD
from tests.harness.declared_games import ENGINE
from tests.harness.new_games import GAMES

pytestmark = pytest.mark.processes

SHORT = ("--conversations", "3", "--sandbox", "off", "--seconds", "0")
FIRST = """\
boardsize 4
mode double
play b a1
10 count b
#? [2]
20 list
#? [b1 c1 d1]
"""
SECOND = "boardsize 3\nmode stones\nplay b c1\n10 over\n#? [no]\n20 solve\n#? [unknown]\n"
# Numbers for points, and a status behind the answer.
OTHER = """\
import sys

stones = {}
for line in sys.stdin:
    name, *words = line.split()
    if name == "start":
        width, height = map(int, words)
        stones.clear()
        print("= 1", flush=True)
    elif name == "play":
        place = tuple(map(int, words[:2]))
        if place in stones or not (0 <= place[0] < width and 0 <= place[1] < height):
            print("= illegal move: taken", flush=True)
        else:
            stones[place] = words[2]
            print("= 1", flush=True)
    elif name == "sum":
        print(sum(map(int, stones.values())), "= 1", sep="\\n", flush=True)
    else:
        print("= -1", flush=True)
"""
NUMBERED = "start 3 2\n= 1\nplay 0 0 1\n= 1\nplay 1 1 0\n= 1\n?sum\n1\n= 1\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "row.py").write_text(ENGINE)
    (tmp_path / "a.gtp").write_text(FIRST)
    (tmp_path / "b.gtp").write_text(SECOND)
    return tmp_path


def make_assignment(place, *words, status=ExitCode.OK):
    assert main(["new", "row", "--reference", "python3 row.py", *words, *SHORT]) == status
    text = (place / "row" / "assignment.toml").read_text()
    table = tomllib.loads(text)
    return text, table, {one["name"]: one for one in table["command"]}


def test_what_tests_and_the_program_tell_is_proposed(place, capsys):
    text, table, commands = make_assignment(place, "--public", "a.gtp", "b.gtp")
    assert table["reference"] == {"command": "python3 ../row.py", "sandbox": "off"}
    assert table["game"] == {
        "sizes": [3, 4],
        "turns": "alternate",
        "refused": "(?i)illegal move",
        "over": {"ask": "over", "is": "(?!no$).+"},
    }
    assert commands["mode"] == {
        "name": "mode",
        "kind": "sets",
        "arguments": [["double", "stones"]],
    }
    assert commands["count"]["arguments"] == ["color"]
    assert commands["count"]["reply"] == "numbers"
    assert commands["list"]["reply"] == "any order"
    assert commands["genmove"] == {"name": "genmove"}
    assert commands["solve"]["kind"] == "chooses"
    assert "# it answers a wrong move with 'illegal move: \"x\" wrong color'" in text
    assert sorted(path.name for path in (place / "row").iterdir()) == [
        *("a.gtp", "assignment.toml", "b.gtp"),
    ]
    found = assignment.find("row")
    assert (found.archive.name, found.files.required) == ("row.tgz", ("row.py",))
    assert found.engine.command == "python3 '{folder}/row.py'"
    said = capsys.readouterr().out
    assert "3 conversations" in said, "it was calibrated"
    assert said.splitlines()[-1] == (
        "Grade the reference against itself: gtp-harness fuzz 'python3 row.py' --assignment row"
        " --seconds 30 --sandbox off"
    )


def test_nothing_is_written_over(place, capsys):
    (place / "row").mkdir()
    (place / "row" / "assignment.toml").write_text("title = 'x'\n")
    assert main(["new", "row", "--reference", "python3 row.py"]) == ExitCode.BROKEN
    assert "already exists" in capsys.readouterr().err
    assert (place / "row" / "assignment.toml").read_text() == "title = 'x'\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["row"], "give DIR and --reference"),
        (["row", "--reference", "cat /dev/null"], "does not answer as a program for a game does"),
        (["row", "--reference", "no-such-program-here"], "no program 'no-such-program-here'"),
        (["row", "--reference", "python3 row.py", "--public", "none.gtp"], "none.gtp"),
    ],
)
def test_what_cannot_be_done_is_said(place, capsys, words, message):
    assert main(["new", *words, *SHORT]) == ExitCode.BROKEN
    assert message in capsys.readouterr().err
    assert not (place / "row" / "assignment.toml").exists()


# --- programs that say little, or nothing ------------------------------------------------------


@pytest.mark.long(2)
def test_refusals_prove_no_protocol(place):
    """Without a test: GTP could read '= -1' and an empty line as an answer."""
    shutil.copy(GAMES / "latin" / "latin.py", place)
    assert main(["new", "latin", "--reference", "python3 latin.py", *SHORT]) == ExitCode.OK
    table = tomllib.loads((place / "latin" / "assignment.toml").read_text())
    assert table["game"]["protocol"] == "status last"
    assert table["game"]["vertices"] == "x y"
    kinds = {one["name"]: one["kind"] for one in table["command"]}
    expected = {"game": "starts", "play": "moves", "winner": "asks", "genmove": "chooses"}
    assert kinds.items() >= expected.items(), "as its help has them"


@pytest.mark.long(2)
def test_tests_in_which_no_command_counts_are_evidence(place, capsys):
    (place / "other.py").write_text(OTHER)
    (place / "a.txt").write_text(NUMBERED.replace("?", ""))
    words = ["new", "sum", "--reference", "python3 other.py", "--public", "a.txt"]
    assert main([*words, *SHORT]) == ExitCode.OK
    assert "a.txt: no command counts; write '?' before those" in capsys.readouterr().out
    assert main(["run", "python3 other.py", "a.txt", "--protocol", "status last"]) == 2
    assert "a.txt: found no test, expected a '?' before each command" in capsys.readouterr().err


def test_a_protocol_may_be_told(place, capsys):
    (place / "other.py").write_text(OTHER)
    words = ["new", "sum", "--reference", "python3 other.py", "--protocol", "gtp", *SHORT]
    assert main(words) == ExitCode.BROKEN
    said = capsys.readouterr().err
    assert "as 'gtp': " in said
    assert "as 'status last'" not in said


NEEDY = "import no_such_module\n"


def test_the_last_words_of_a_program_are_shown(place, capsys):
    (place / "needy.py").write_text(NEEDY)
    words = ["new", "needy", "--reference", "python3 needy.py", *SHORT]
    assert main(words) == ExitCode.BROKEN
    said = capsys.readouterr().err
    assert "ended with exit status 1 before its first reply" in said
    assert "ModuleNotFoundError: No module named 'no_such_module'" in said
    assert re.search(r"It was started as '\S+python3? -E -s ../needy.py', sandbox: off", said)
    assert "name a Python that has it with --python." in said


def test_the_standard_error_of_a_silent_program_is_shown(place, capsys):
    (place / "waits.py").write_text(
        "import sys\nprint('weights.txt: cannot be read', file=sys.stderr)\nsys.exit(3)\n"
    )
    assert main(["new", "waits", "--reference", "python3 waits.py", *SHORT]) == ExitCode.BROKEN
    said = capsys.readouterr().err
    assert "The end of its standard error:\n  weights.txt: cannot be read\n" in said


@pytest.mark.long(2)
@pytest.mark.parametrize("named", [False, True])
def test_the_environment_of_a_program_is_found_and_shown_to_its_box(
    open_place, monkeypatch, named
):
    """It lies beside the program, or elsewhere and is named; the program runs in a sandbox."""
    monkeypatch.chdir(place := open_place)
    environment = place / ("elsewhere" if named else ".venv")
    make = [interpreters.of_system(), "-m", "venv", "--without-pip", str(environment)]
    subprocess.run(make, check=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "no_such_module.py").write_text("")
    (place / "row.py").write_text(NEEDY + ENGINE)
    python = environment / "bin" / "python3"
    words = ["--python", str(python)] if named else []
    words += ["--conversations", "2", "--seconds", "0"]
    assert main(["new", "row", "--reference", "python3 row.py", *words]) == ExitCode.OK
    table = tomllib.loads((place / "row" / "assignment.toml").read_text())
    assert table["reference"] == {"command": f"{python} ../row.py"}
    assert assignment.find("row").files.required == ("row.py",), "submissions have no Python"


@pytest.mark.quick
def test_an_environment_is_shown_with_the_python_it_was_made_from(place):
    for name in ("base", "env"):
        (place / name / "bin").mkdir(parents=True)
    (place / "base" / "bin" / "python3").write_text("")
    python = place / "env" / "bin" / "python3"
    python.symlink_to(place / "base" / "bin" / "python3")
    (place / "env" / "pyvenv.cfg").write_text(f"home = {place / 'base' / 'bin'}\n")
    shown = ProgramStart((str(python), "row.py"), place, STANDARD).environment
    assert set(shown) == {str(place / "env"), str(place / "base")}


# A program that nothing tells how to begin.
ODD = ENGINE.replace('"boardsize"', '"fresh"').replace('"clear_board"', '"none"')
ODD = ODD.replace("boardsize clear_board", "fresh")


@pytest.mark.long(2)
def test_what_nothing_tells_is_asked_at_a_terminal(place, monkeypatch, capsys):
    (place / "row.py").write_text(ODD.replace("fresh play", "play"))
    asked = []

    def answer(question):
        asked.append(question)
        return "fresh 3"

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", answer)
    _, table, commands = make_assignment(place)
    assert len(asked) == 1
    assert asked[0].startswith("No command was found that begins a board.")
    assert (commands["fresh"]["kind"], commands["fresh"]["arguments"]) == ("starts", ["size"])
    assert commands["play"]["kind"] == "moves" if "play" in commands else True
    assert table["game"]["sizes"] == [2, 3, 4, 5, 6, 7]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        (["Error: 'x'"], "(?i)Error"),
        (['illegal move: "x" wrong color', 'illegal move: "a1" taken'], "(?i)illegal move"),
        (["-1"], "^-1$"),
        (["no"], "^no$"),
        (["occupied", "wrong color"], "^(occupied|wrong color)$"),
        (["1", "2"], "^(1|2)$"),
        ([], ""),
    ],
)
def test_a_pattern_of_refusals_matches_those_it_came_from(texts, pattern):
    assert pattern_of(texts) == pattern
    assert all(re.search(pattern, text) for text in texts)
