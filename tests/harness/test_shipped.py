"""The cases that ship, by name, wherever case files are taken."""

import os
import shutil
from pathlib import Path

import pytest

from harness.cli import main
from harness.engine import launch
from harness.reading import casefile, shipped
from harness.reading.suite import expand
from harness.sandbox import view

CASES = Path(__file__).parents[2] / "cases"
ASSIGNMENTS = ["go-scoring", "gomoku-policy", "gomoku-rules", "gosensei", "java-go"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A folder that has no cases."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys, *words):
    status = main([*words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def below(name: str) -> list[str]:
    return [os.path.relpath(path, CASES) for path in shipped.find_paths(name)]


NAMES = [
    ("go-scoring/area", ["go-scoring/area.gtp"]),
    ("go-scoring/area.gtp", ["go-scoring/area.gtp"]),
    ("go-scoring/seki", ["go-scoring/thorough/seki.gtp"]),
    ("go-scoring/thorough/seki.gtp", ["go-scoring/thorough/seki.gtp"]),
    ("go-scoring/komi", ["go-scoring/komi.gtp"]),  # of two the one that is public
    ("go-scoring/thorough/komi", ["go-scoring/thorough/komi.gtp"]),
    ("go-scoring/public",
     [f"go-scoring/{one}.gtp" for one in ("area", "game", "komi", "neutral")]),
    ("go-scoring/nothing", []),
    ("go-scoring/boards", []),
    ("go-scoring/../go-scoring", []),
    ("go-scoring/assignment.toml", []),
    ("..", []),
    ("", []),
    ("nothing", []),
    ("a\0b", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "paths"), NAMES)
def test_names(name, paths):
    assert below(name) == paths


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_an_assignment_is_all_of_its_folder(name):
    assert sorted(shipped.find_paths(name)) == sorted(expand([str(CASES / name)]))
    assert shipped.find_paths(f"{name}/") == shipped.find_paths(name)
    both = [*shipped.find_paths(f"{name}/public"), *shipped.find_paths(f"{name}/thorough")]
    assert both == shipped.find_paths(name)


def test_every_name_means_something():
    names = list(shipped.every_name())
    assert shipped.names() == [one for one in names if "/" not in one] == ASSIGNMENTS
    assert len(set(names)) == len(names) > 70
    assert [one for one in names if not shipped.find_paths(one)] == []


def test_a_file_of_that_name_is_meant_first(elsewhere):
    """What worked before there were names goes on working."""
    (elsewhere / "go-scoring").write_text("mine.gtp\n")
    assert expand(["@go-scoring"]) == ["mine.gtp"]
    assert expand(["@go-scoring/area"]) == [str(CASES / "go-scoring/area.gtp")]


def test_names_in_suites_and_beside_folders(elsewhere):
    (elsewhere / "sub" / "go-scoring").mkdir(parents=True)
    (elsewhere / "sub" / "all").write_text("@go-scoring/area\n@go-scoring/public\n")
    assert expand(["@sub/all"]) == [*shipped.find_paths("go-scoring/area"),
                                    *shipped.find_paths("go-scoring/public")]  # fmt: skip
    (elsewhere / "go-scoring").mkdir()
    assert expand(["@go-scoring/public"]) == shipped.find_paths("go-scoring/public")


COMMANDS = [
    (["run", "gtp-oracle", "@go-scoring/area"], "", "1 file: 5 tests, 5 passed"),
    (["verify", "@go-scoring/public", "@gosensei/eyes"], "nothing found", ""),
    (["strength", "@go-scoring/public", "--assignment", "go-scoring"], "kill rate 100 %", ""),
    (["strength", "--assignment", "gosensei", "--private", "@gosensei/files"], "private", ""),
]  # fmt: skip


@pytest.mark.processes
@pytest.mark.parametrize(("words", "out", "err"), COMMANDS, ids=lambda one: " ".join(one)[:25])
def test_every_command_takes_them(capsys, monkeypatch, words, out, err):
    monkeypatch.setenv("PATH", "")
    found = call(capsys, *words)
    assert (found[0], out in found[1], err in found[2]) == (0, True, True), found


# --- gtp-harness cases ---------------------------------------------------------------------------


def test_the_list(capsys):
    status, out, err = call(capsys, "cases")
    assert (status, err) == (0, "")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[1:] if "@" in line}
    for name in ASSIGNMENTS:
        files = shipped.find_paths(name)
        tests = sum(step.is_test for path in files for step in casefile.read(path).steps)
        assert rows[f"@{name}"][:2] == [str(len(files)), str(tests)]
    assert "gtp-oracle gtp --game java-go" in " ".join(rows["@java-go"])


def test_a_copy(capsys, elsewhere):
    assert call(capsys, "cases", "gosensei", "--copy", "mine")[:2] == (0, "mine/gosensei\n")
    copied = sorted(path.relative_to("mine/gosensei") for path in Path("mine").glob("*/**/*"))
    own = CASES / "gosensei"
    assert copied == sorted(path.relative_to(own) for path in own.rglob("*"))
    status, _, err = call(capsys, "cases", "--copy", "mine")
    assert (status, err) == (
        2, "gtp-harness: mine/gosensei already exists; --copy overwrites nothing\n",
    )  # fmt: skip
    assert os.listdir("mine") == ["gosensei"]


BAD = [
    (["go-scorin"], "no cases are called 'go-scorin'; did you mean go-scoring?"),
    (["chess"], "no cases are called 'chess'; known are go-scoring, "),
    (["gosensei/eyes", "--copy", "x"],
     "found --copy with gosensei/eyes, expected an assignment such as gosensei"),
    (["gosensei", "--copy", "/dev/null/x"], "cannot copy to /dev/null/x/gosensei: Not"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), BAD)
def test_bad_names(capsys, words, message):
    status, out, err = call(capsys, "cases", *words)
    assert (status, out, message in err) == (2, "", True), err


# --- gtp-oracle ----------------------------------------------------------------------------------


def test_the_oracle_is_found_beside_the_harness(monkeypatch, elsewhere):
    monkeypatch.setenv("PATH", "")
    own = Path(launch.find_program("gtp-oracle"))
    assert own.name == "gtp-oracle"
    assert view.find("gtp-oracle", "/") == str(own)
    assert shutil.which("python3", path=launch.search_path("python3")) is None


def test_a_path_decides_first(monkeypatch, elsewhere):
    (elsewhere / "gtp-oracle").write_text("#!/bin/sh\n")
    (elsewhere / "gtp-oracle").chmod(0o755)
    monkeypatch.setenv("PATH", str(elsewhere))
    assert launch.find_program("gtp-oracle") == str(elsewhere / "gtp-oracle")
