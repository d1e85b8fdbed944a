"""``gtp-harness match``: its options, its reports and its exit status."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from harness.cli import main
from harness.core.errors import ExitCode
from oracle.sgf import read_sgf
from tests.harness.match.made_matches import PLAYER, PYTHON

OWN_GAMES = Path(__file__).parents[2] / "own_games"
GOOD = shlex.join([*PYTHON, PLAYER])
SMALL = ["match", "--size", "5", "--games", "2", "--concurrency", "1"]


@pytest.mark.processes
def test_all_reports_tell_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = {name: str(tmp_path / name) for name in ("json", "junit", "sgf", "output")}
    options = [word for name, path in places.items() for word in (f"--{name}", path)]
    status = main(
        [*SMALL, *options, "--baseline", "good", f"good={GOOD}", f"bad={GOOD} <crashes&"]
    )
    assert status == ExitCode.OK, capsys.readouterr()
    found = json.loads(Path(places["json"]).read_text())
    for game in found["games"]:
        record = Path(places["sgf"], f"game-{game['number']:05}.sgf").read_bytes()
        assert f"RE[{game['result']}]".encode() in record
        assert game["reason"].encode() in record.replace(b"\n", b" ")
        assert len(read_sgf(record).moves) == len(game["moves"])
        page = Path(places["output"], f"game-{game['number']:05}.html").read_text()
        assert game["result"] in page
        assert page.count(" data-moves=") == 1
        assert "<crashes" not in page
    assert "&lt;crashes&amp;" in Path(places["output"], "index.html").read_text()
    tests = ET.parse(places["junit"]).getroot().findall(".//testcase")
    assert tests[0].get("name") == "bad is not weaker than good"
    assert "points" in capsys.readouterr().out


@pytest.mark.processes
@pytest.mark.parametrize(
    ("new", "games", "status"), [("resigns", "60", ExitCode.FAILED), ("", "4", ExitCode.OK)]
)
def test_an_engine_that_is_weaker_than_the_baseline_is_a_failure(
    new: str, games: str, status: ExitCode, tmp_path: Path
) -> None:
    junit = tmp_path / "junit.xml"
    words = [*SMALL, "--sprt", "elo0=-400", "elo1=0", "--junit", str(junit), "--games", games]
    assert main([*words, f"new={GOOD} '{new}'", f"old={GOOD} ''"]) == status
    failures = ET.parse(junit).getroot().findall(".//failure")
    assert len(failures) == (status == ExitCode.FAILED)


@pytest.mark.processes
def test_a_declared_game_is_refereed_by_its_reference(tmp_path: Path) -> None:
    """Its right program plays the one that is wrong, with moves that are drawn before."""
    folder = OWN_GAMES / "othello"  # in which moves turn other stones
    right = f"python3 {folder / 'othello.py'}"
    words = [
        *("match", "--game", str(folder), "--size", "4", "--games", "1", "--random-moves", "1"),
        *("--concurrency", "1", "--sgf", str(tmp_path / "records"), "--json", str(tmp_path / "j")),
        *("--output", str(tmp_path / "pages")),
    ]
    assert main([*words, f"a={right}", f"b={right}", f"c={GOOD} off-board"]) == ExitCode.OK
    found = json.loads((tmp_path / "j").read_text())
    own = [one for one in found["games"] if "c" not in (one["black"], one["white"])]
    assert {one["reason"] for one in own} <= {"rules", "resigned"}
    assert not any(one["disputed"] for one in own)
    lost = [one for one in found["games"] if one not in own]
    assert all(one["white" if one["winner"] == "b" else "black"] == "c" for one in lost)
    record = (tmp_path / "records" / "game-00001.gtp").read_text()
    assert record.count("\nplay ") == 1 + len(found["games"][0]["moves"])
    lines = [line for line in record.splitlines() if not line.startswith("#")]
    told = "\n".join([*lines, "showboard", "quit", ""])
    heard = subprocess.run(right.split(), input=told, capture_output=True, text=True, check=True)
    board = found["games"][0]["board"]  # with what was taken or turned
    assert board.strip() == heard.stdout.split("\n\n")[-3].lstrip("=").strip()
    page = (tmp_path / "pages" / "game-00001.html").read_text()
    assert board.splitlines()[-1] in page


@pytest.mark.processes
def test_a_declared_game_that_does_not_end_is_a_draw(tmp_path: Path) -> None:
    """Who never ends a game does not make the harness fail."""
    folder, document = OWN_GAMES / "hex", tmp_path / "match.json"
    words = ["match", "--game", str(folder), "--size", "3", "--max-moves", "2", "--games", "1"]
    engine = f"python3 {folder / 'hex.py'}"
    assert main([*words, "--json", str(document), f"a={engine}", f"b={engine}"]) == ExitCode.OK
    games = json.loads(document.read_text())["games"]
    assert {(one["reason"], one["result"], one["winner"]) for one in games} == {
        ("move limit", "0", "")
    }


@pytest.mark.processes
def test_openings_come_from_records(tmp_path: Path) -> None:
    records = tmp_path / "openings"
    records.mkdir()
    (records / "a.sgf").write_bytes(b"(;GM[1]SZ[5]AB[aa]PL[W];W[bb];B[cc];W[dd])")
    (records / "b.sgf").write_bytes(b"(;GM[1]SZ[5];B[cc])(;GM[1]SZ[5];B[dd])")
    document = tmp_path / "match.json"
    words = [*SMALL, "--games", "6", "--openings", str(records), "--opening-moves", "2"]
    assert main([*words, "--json", str(document), f"a={GOOD}", f"b={GOOD}"]) == ExitCode.OK
    found = json.loads(document.read_text())
    assert found["openings"] == [
        {"name": "a.sgf, game 1", "setup": ["b A5"], "moves": ["w B4", "b C3"]},
        {"name": "b.sgf, game 1", "setup": [], "moves": ["b C3"]},
        {"name": "b.sgf, game 2", "setup": [], "moves": ["b D2"]},
    ]
    assert [one["opening"] for one in found["games"]] == [0, 0, 1, 1, 2, 2]
    assert all(one["moves"][0].startswith("w") for one in found["games"])


@pytest.mark.processes
def test_a_handicap_game_is_begun_by_white(tmp_path: Path) -> None:
    document = tmp_path / "match.json"
    words = ["match", "--size", "9", "--handicap", "4", "--games", "1", "--json", str(document)]
    assert main([*words, f"a={GOOD}", f"b={GOOD}"]) == ExitCode.OK
    found = json.loads(document.read_text())
    assert found["rules"]["komi"] == "0.5"
    assert found["games"][0]["moves"][0].startswith("w")
    assert len(found["openings"][0]["setup"]) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a"], "give two engines or more"),
        (["a", "b", "--sprt", "elo0=5", "elo1=5"], "with elo0 below elo1"),
        (["a", "b", "c", "--sprt"], "found 3 engines, expected two"),
        (["a=./x", "a=./y"], "two are called a"),
        (["a", "b", "--baseline", "d"], "expected one of a, b"),
        (["a", "b", "--time", "ten"], "expected seconds for a game"),
        (["a", "b", "--size", "26"], "expected a size such as 9"),
        (["a", "b", "--game", "gomoku", "--komi", "6"], "go with --game go"),
        (["a", "b", "--game", "go-scoring"], "declares no [reference]"),
        (["a", "b", "--handicap", "9", "--size", "7"], "points for them"),
        (["a", "b", "--openings", "/no/such.sgf"], "/no/such.sgf: No such file"),
        (["/no/such/engine", "b"], "engine /no/such/engine: The engine /no/such/engine could not"),
        (["a", "b", "--size", "2", "--random-moves", "30"], "draw fewer"),
        (["a", "b", "--json", "-", "--junit", "-"], "--json and --junit would both be written"),
        (["a", "b", "--sgf", "-"], "--sgf: found -, expected a folder"),
    ],
)
def test_what_is_asked_wrongly_is_told_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", *words]) == ExitCode.BROKEN
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
