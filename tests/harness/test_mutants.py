"""Mutants of a program in Python: single changes, the same each time."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from harness.banks.mutants import mutant_engines, mutants
from harness.core.errors import UsageError
from tests.harness.umasks import strict_umask

PROGRAM = """\
def legal(board, point):
    if not on_board(point) or board[point] != 0:
        return False
    for other in near(point):
        if board[other] == 0:
            return True
    return point < 5 and board[0] + 1 > 2
"""


def test_each_has_one_change_and_is_a_program():
    whole = ast.unparse(ast.parse(PROGRAM)).splitlines()
    found = mutants({"a.py": PROGRAM}, 100, 0)
    assert len(found) > 15
    for one in found:
        ast.parse(one.source)
        changed = [
            n
            for n, (a, b) in enumerate(zip(whole, one.source.splitlines(), strict=False))
            if a != b
        ]
        assert changed, one
        assert one.file == "a.py"
    assert len({one.source for one in found}) > len(found) - 3, "few changes come to the same"


def test_the_same_seed_draws_the_same():
    first, again, other = (mutants({"a.py": PROGRAM}, 5, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len(first) == len({one.name for one in first}) == 5


@pytest.mark.parametrize(
    "sentence",
    [
        "a.py:2: if not on_board(point): for if not on_board(point) or board[point] != 0:",
        "a.py:2: if board[point] != 0: for if not on_board(point) or board[point] != 0:",
        "a.py:3: return True for return False",
        "a.py:5: if board[other] != 0: for if board[other] == 0:",
        "a.py:7: return point <= 5 and board[0] + 1 > 2 for return point < 5 and board[0] + 1 > 2",
    ],
)
def test_what_people_forget_is_among_them(sentence):
    assert sentence in {one.sentence for one in mutants({"a.py": PROGRAM}, 100, 0)}


@pytest.mark.parametrize("text", ["a board:\n  x", "+".join("1" * 5_000), "-" * 100_000 + "1"])
def test_what_is_no_python_or_too_deep_gives_none(text):
    assert mutants({"a.txt": text}, 5, 0) == []


def test_modules_beside_the_program_are_changed_too(tmp_path, tmp_path_factory):
    (tmp_path / "main.py").write_text("import rules\nfor _ in range(2):\n    rules.go()\n")
    (tmp_path / "rules.py").write_text("def go():\n    print(1)\n    print(2)\n")
    (tmp_path / "unused.py").write_text("x = 1\n")
    room = tmp_path_factory.mktemp("room")
    found = mutant_engines(f"python3 {tmp_path}/main.py -q", 50, 0, room)
    assert {one.sentence.partition(":")[0] for one in found} == {"main.py", "rules.py"}
    first = found[0]
    assert first.command == f"python3 {room}/{first.name}/main.py -q"
    assert (room / first.name / "unused.py").is_file()


def test_a_program_of_another_language_is_told():
    with pytest.raises(UsageError, match="mutants are made of a program in Python"):
        mutant_engines("gnugo --mode gtp", 5, 0, None)


def test_an_engine_of_root_may_read_a_mutant_whatever_the_umask(tmp_path):
    """It was told to open a folder of ours, which is gone afterwards."""
    program = tmp_path / "own" / "main.py"
    program.parent.mkdir()
    program.write_text("print(1 + 2)\n")
    program.chmod(0o600)
    with strict_umask():
        found = mutant_engines(f"python3 {program}", 5, 0, tmp_path / "room")
    assert found
    for one in found:
        for path in (Path(one.folder), Path(one.folder, "main.py")):
            assert path.stat().st_mode & 0o044 == 0o044
