"""Files that commands of a declared game name: drawn, copied beside cases, fuzzed with."""

import pytest

from harness.cli import main
from harness.core.errors import ExitCode
from harness.generating import test_production
from tests.harness.declared_games import DECLARED, ENGINE, HANDED_IN, command, lay

pytestmark = pytest.mark.processes

LOADS = """
[[command]]
name = "load"
arguments = [{ files = "boards/*.txt" }]
"""
WRONG = ENGINE.replace(".read_text().strip()", ".read_text().strip().upper()")


@pytest.fixture
def game(tmp_path, monkeypatch):
    """A game with a command that names a file, and a program that reads files wrongly."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "row"
    (place / "boards").mkdir(parents=True)
    for name, text in (("a", "aa\n"), ("b", "bb\nand more\n")):
        (place / "boards" / f"{name}.txt").write_text(text)
    declared = DECLARED.replace("row.py log", "row.py") + LOADS
    lay(place, declared)
    (place / "assignment.toml").write_text(HANDED_IN.replace('["*.gtp"]', "[]") + declared)
    (tmp_path / "wrong").mkdir()
    lay(tmp_path / "wrong", declared, WRONG)
    return place


@pytest.mark.long(2)
def test_the_files_of_generated_cases_lie_beside_them(game, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(test_production, "_IN_A_ROUND", 6)
    path = tmp_path / "made" / "cases.gtp"
    path.parent.mkdir()
    words = [
        "generate",
        "--assignment",
        str(game),
        "-n",
        "12",
        "--sandbox",
        "off",
        "-o",
        str(path),
    ]
    wrong_one = command(tmp_path / "wrong")
    assert main([*words, "--engine", wrong_one]) == ExitCode.OK
    assert " load boards/" in path.read_text()
    found = {one.name: one.read_text() for one in (path.parent / "boards").iterdir()}
    assert found.items() <= {"a.txt": "aa\n", "b.txt": "bb\nand more\n"}.items()
    assert found
    assert main(["run", command(game), str(path)]) == ExitCode.OK
    assert main(["run", wrong_one, str(path)]) == ExitCode.FAILED
    (path.parent / "boards" / next(iter(found))).write_text("another")
    assert main([*words, "--engine", wrong_one]) == ExitCode.BROKEN
    assert "differs from the file of that name in" in capsys.readouterr().err


@pytest.mark.long(2)
def test_a_file_that_is_read_wrongly_is_found_and_written_beside_the_case(game, tmp_path, capsys):
    words = ["--assignment", str(game), "--sandbox", "off", "--seconds", "0", "--examples", "200"]
    out = tmp_path / "found"
    fuzz = ["fuzz", command(tmp_path / "wrong"), *words, "--output", str(out), "--findings", "1"]
    assert main(fuzz) == ExitCode.FAILED
    (path,) = out.glob("*.gtp")
    assert "load 01-board1.txt" in path.read_text()
    shorter = "bb\n"  # which is read as wrongly
    assert (out / "01-board1.txt").read_text() in ("aa\n", "bb\nand more\n", shorter)
    for place, status in ((game, ExitCode.OK), (tmp_path / "wrong", ExitCode.FAILED)):
        assert main(["run", command(place), str(path), "--sandbox", "off"]) == status
    again = ["--examples", "20", "--output", str(out)]
    assert main(["fuzz", command(game), *words, *again]) == ExitCode.OK
    capsys.readouterr()
