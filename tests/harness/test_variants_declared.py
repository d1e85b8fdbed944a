"""Images of tests of declared games: right by the reference, and for other right programs."""

from __future__ import annotations

import random
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import pytest

from harness.assignments import assignment
from harness.cli import main
from harness.core.errors import ExitCode
from harness.core.options import STATUS_LAST
from harness.core.records import CaseFile
from harness.declared import declaration, specifying
from harness.declared.conversation_drawing import Drawer
from harness.fuzzing.by_reference import ByReference
from harness.grading.attempts.variants import image_of, origin
from harness.judging.in_process import is_exact
from harness.reading import casefile
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.script import Script
from harness.vocabulary.transformations import COLORS, SYMMETRY
from tests.harness.own_games import GAMES, OWN, InMemory, raw, right

SEEDS = range(2)
OTHERS = {
    "nogo": ("nogo/other_nogo.py",),
    "takuzu": ("takuzu/other_takuzu.py", "--protocol", STATUS_LAST),
    "othello": ("othello/othello.py",),
    "hex": ("hex/dialect_hex.py", "--translate", str(OWN / "hex/dialect.toml")),
}


def specify_game(game: str) -> tuple[Specification, InMemory]:
    """Return the specification of a game with a reference in this process, and that."""
    declared = assignment.find(str(OWN / GAMES[game][0]))
    reference = InMemory(right(game), declared.declaration, declared.place)
    return replace(declared.specification, told=reference), reference


@cache
def draw_cases(game: str, seed: int) -> CaseFile:
    """Return drawn conversations in which each question with one answer is a test."""
    random.seed(0)  # of moves that a reference chooses
    specification, reference = specify_game(game)
    drawer = Drawer(reference.declaration, Random(seed), Path())
    lines: list[str] = []
    for _ in range(6):
        for command in drawer.draw(12, specification.reference_engine().reply).commands:
            number = f"{len(lines)} " if is_exact(command, specification) else ""
            lines += [f"{number}{command}"]
    return casefile.parse("\n".join([*lines, ""]).encode(), "drawn.gtp")


@cache
def image(game: str, seed: int) -> CaseFile:
    found = image_of(draw_cases(game, seed), specify_game(game)[0], str(seed))
    assert found is not None
    return found


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_reference_passes_all_images(game: str, seed: int, tmp_path: Path) -> None:
    """They ask the same about another board, and nothing that the declaration leaves open.

    A turned game of Hex is over where its original goes on: nothing may follow there.
    """
    specification, reference = specify_game(game)
    said = Script(tuple(step.command for step in image(game, seed).steps))
    assert ByReference(specification, reference, tmp_path).cut_to_allowed(said) == said
    originals = {step.line: step.command.split()[0] for step in draw_cases(game, seed).steps}
    engine = right(game)()
    tests = 0
    for step in image(game, seed).steps:
        reply = reply_of(raw(engine.handle(step.command)))
        assert reply.ok
        if step.is_test:
            kind, line = origin(step)
            assert (kind, step.command.split()[0]) == (SYMMETRY, originals[line])
            assert step.pattern is not None
            assert re.fullmatch(step.pattern.expression, reply.text), (step.command, reply.text)
            tests += 1
    assert tests


@pytest.mark.processes
@pytest.mark.long(2)
@pytest.mark.parametrize("game", OTHERS)
def test_another_right_program_passes_all_images(
    game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *words = OTHERS[game]
    for seed in SEEDS:
        path = tmp_path / f"{seed}.gtp"
        path.write_text("\n".join([*image(game, seed).lines, ""]))
        words += [str(path)]
    command = f"{sys.executable} {OWN / program}"
    assert main(["run", command, *words, "--sandbox", "off"]) == ExitCode.OK
    assert "0 FAILED" not in capsys.readouterr().out


# --- each word of a declaration ---

POINTS = """
[game]
sizes = [[2, 3], [3, 2], [3, 3]]
{game}
[[command]]
name = "begin"
kind = "starts"
arguments = ["columns", "rows"]
[[command]]
name = "put"
kind = "moves"
arguments = [{arguments}]
[[command]]
name = "at"
arguments = ["vertex"]
"""


class Points:
    """Stones anywhere, by words of a declaration: an engine that knows ``begin, put, at``."""

    def __init__(self) -> None:
        self._stones: dict[str, str] = {}

    def handle(self, line: str) -> str:
        name, *words = line.split()
        if name == "put":
            self._stones[" ".join(words[1:])] = words[0]
        elif name == "at":
            return f"= {self._stones.get(' '.join(words), 'nothing')}\n\n"
        else:
            self._stones.clear()
        return "=\n\n"


def points(tmp_path: Path, game: str, lines: str, seed: str = "") -> list[str]:
    """Return the image of lines of a declared game, without comments."""
    path = tmp_path / "points.toml"
    path.write_text(POINTS.format(game=game, arguments='"color", "vertex"'))
    declared = declaration.read(path)
    own = specifying.specify("points", declared, tmp_path, ())
    own = replace(own, told=InMemory(Points, declared, tmp_path))
    found = image_of(casefile.parse(lines.encode(), "a.gtp"), own, seed)
    return [one for one in found.lines if not one.startswith("# ")] if found else []


@pytest.mark.parametrize(
    ("game", "one", "all_images"),
    [
        ("", "c1", {"a1", "a3", "c3"}),
        ('letters = "xyz"', "z1", {"x1", "x3", "z3"}),
        ('vertices = "x y"', "2 0", {"0 0", "0 2", "2 2"}),
        ('vertices = "x y"\norigin = 1', "3 1", {"1 1", "1 3", "3 3"}),
    ],
)
def test_a_corner_comes_to_lie_in_each_other_one(
    game: str, one: str, all_images: set[str], tmp_path: Path
) -> None:
    lines = f"begin 3 3\nput b {one}\n10 at {one}\n"
    found = [points(tmp_path, game, lines, str(seed)) for seed in range(20)]
    corners = set()
    for begin, put, at, wanted in filter(None, found):
        assert (begin, wanted) == ("begin 3 3", "#? [b]")
        corners.add(put.removeprefix("put b "))
        assert at == f"30 at {put.removeprefix('put b ')}"
    assert corners == all_images


def test_the_sides_of_a_rectangle_are_exchanged_with_its_points(tmp_path: Path) -> None:
    lines = "begin 2 3\nput b b3\n10 at b3\n"
    found = {tuple(points(tmp_path, "", lines, str(seed))[:2]) for seed in range(60)}
    wide = {("begin 3 2", f"put b {one}") for one in ("a1", "a2", "c1", "c2")}
    high = {("begin 2 3", f"put b {one}") for one in ("a1", "a3", "b1")}
    assert found == wide | high


@pytest.mark.parametrize(
    ("game", "has_image"),
    [
        ('turns = "any"', True),
        ("", False),  # the other color may not begin
        ('turns = "any"\ncolors = ["b", "w", "r"]', False),
    ],
)
def test_colors_are_exchanged_where_any_may_play(
    game: str, has_image: bool, tmp_path: Path
) -> None:
    lines = "begin 3 3\nput b b2\nput W a1\n10 at b2\n20 at c3\n"
    found = points(tmp_path, game, lines)
    kinds = [one for one in found if one[0].isdigit()]
    exchanged = ["begin 3 3", "put w b2", "put B a1", "41 at b2", "#? [w]", "51 at c3"]
    assert (found[-7:-1] == exchanged) is has_image
    assert has_image is any(one.split()[0].endswith("1") for one in kinds)
    assert COLORS == "colors"


@pytest.mark.parametrize(
    "lines",
    [
        "put b a1\n10 at a1\n",  # no board was begun
        "begin 9 9\nput b a1\n10 at a1\n",  # a size that is not declared
        "begin 3 3\nput b z9\n10 at a1\n",  # nobody knows what a wrong point does
        "begin 3 3\nput b b2\n10 at b2\n",  # the same, however the board is turned
        "begin 3 3\nother\nput b a1\n10 at a1\n",  # an unknown command
    ],
)
def test_what_is_left_open_has_no_image(lines: str, tmp_path: Path) -> None:
    assert points(tmp_path, "", lines) == []
