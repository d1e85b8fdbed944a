"""``gtp-harness new``: a declaration proposed from a right solution and from public tests."""

import tomllib

import pytest

from harness.assignments import assignment
from harness.cli import main
from harness.exits import ExitCode
from tests.harness.declared_games import ENGINE

pytestmark = pytest.mark.processes

SHORT = ("--conversations", "6", "--sandbox", "off", "--seconds", "0")
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
        "over": {"ask": "over", "is": "black|white|draw"},
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
    assert "# it answers 'play x a1' with 'illegal move: \"x\" wrong color'" in text
    assert sorted(path.name for path in (place / "row").iterdir()) == [
        *("a.gtp", "assignment.toml", "b.gtp"),
    ]
    said = capsys.readouterr().out
    assert "6 conversations" in said, "it was calibrated"
    assert "over never said 'black|white|draw'" in said, "and a wrong guess is named"


def test_what_is_made_is_an_assignment(place, capsys):
    make_assignment(place, "--public", "a.gtp", "b.gtp")
    found = assignment.find("row")
    assert found.archive.name == "row.tgz"
    assert found.files.required == ("row.py",)
    assert found.engine.command == "python3 '{folder}/row.py'"
    capsys.readouterr()
    assert main(["verify", "row"]) == ExitCode.FAILED
    (finding,) = capsys.readouterr().out.split("✗")[1:]
    assert "it refuses 'd1 c1 b1', which is right, too" in finding


def test_without_tests_the_program_tells_all(place):
    _, table, commands = make_assignment(place)
    assert table["game"]["sizes"] == [2, 3, 4, 5, 6, 7]
    assert commands["count"]["arguments"] == ["color"], "found by trying"
    assert commands["mode"]["kind"] == "sets"


def test_a_program_with_a_status_line_is_understood(place):
    (place / "other.py").write_text(OTHER)
    (place / "a.txt").write_text(NUMBERED)
    words = ["new", "sum", "--reference", "python3 other.py", "--public", "a.txt", *SHORT]
    assert main(words) == ExitCode.OK
    table = tomllib.loads((place / "sum" / "assignment.toml").read_text())
    assert table["game"]["protocol"] == "status last"
    assert table["game"]["vertices"] == "x y"
    assert table["game"]["sizes"] == [[3, 2]]
    commands = {one["name"]: one for one in table["command"]}
    assert (commands["start"]["kind"], commands["start"]["arguments"]) == (
        "starts",
        ["columns", "rows"],
    )
    assert commands["play"]["arguments"] == ["vertex", ["1", "0"]]
    assert commands["sum"]["reply"] == "numbers"


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
        (["row", "--reference", "cat /dev/null"], "does not answer list_commands"),
        (["row", "--reference", "no-such-program-here"], "no program 'no-such-program-here'"),
        (["row", "--reference", "python3 row.py", "--public", "none.gtp"], "none.gtp"),
    ],
)
def test_what_cannot_be_done_is_said(place, capsys, words, message):
    assert main(["new", *words, *SHORT]) == ExitCode.BROKEN
    assert message in capsys.readouterr().err
    assert not (place / "row" / "assignment.toml").exists()
