"""Which tests are the same, recomputed by turning made positions and exchanging their colors."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging import in_process
from harness.specifications import specification
from oracle.position import Position, grid, vertex
from oracle.symmetry import ALL, image

SIZE = 3
POINTS = list(product(range(SIZE), repeat=2))
STONES = st.dictionaries(st.sampled_from(POINTS), st.sampled_from([1, 2]), max_size=4)
COLORS = ["", "black", "white"]


def identity(
    stones: dict[Any, int], command: str, colors: tuple[int, ...] = (), rest: tuple[Any, ...] = (),
    *, swaps: bool = True,
) -> in_process.Identity:  # fmt: skip
    position = Position(grid(SIZE))
    for point, color in sorted(stones.items()):
        position = position.place(point, color)
    engine: Any = SimpleNamespace(session=SimpleNamespace(game=SimpleNamespace(position=position)))
    told: Any = SimpleNamespace(
        is_alike=None, swaps=swaps, key="made", depends={"ask": lambda *_: (colors, rest)}
    )
    return in_process.identity(engine, command, told)


def exchange(color: int) -> int:
    return {1: 2, 2: 1}.get(color, color)


def ask(point: Any, color: int, word: str = "all") -> str:
    return f"ask {COLORS[color]} {vertex(point)} {word}"


@given(
    STONES, st.sampled_from(POINTS), st.sampled_from([1, 2]), st.sampled_from(ALL), st.booleans()
)
def test_a_turned_test_with_its_colors_exchanged_is_the_same(stones, point, color, symmetry, swap):
    shape = grid(SIZE)
    turned = {
        image(at, shape, symmetry): exchange(one) if swap else one for at, one in stones.items()
    }
    asked = image(point, shape, symmetry)
    other = exchange(color) if swap else color
    sides = (color, 0, exchange(color), color)
    there = tuple(exchange(one) if swap else one for one in sides)
    first = identity(stones, ask(point, color), sides, ("rest",))
    assert first == identity(turned, ask(asked, other, "ALL"), there, ("rest",))
    assert first != identity(turned, ask(asked, other, "none"), there, ("rest",))
    assert first != identity(turned, ask(asked, other), there, ("more",))
    without = identity(stones, ask(point, color), swaps=False)
    assert (without == identity(turned, ask(asked, other), swaps=False)) >= (not swap)


CORNER = {(0, 0): 1}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((CORNER, ask((0, 1), 1)), (CORNER, ask((1, 0), 1)), True),
        ((CORNER, ask((0, 1), 1)), (CORNER, ask((0, 1), 2)), False),
        ((CORNER, ask((0, 1), 1)), ({(0, 0): 2}, ask((0, 1), 2)), True),
        ((CORNER, ask((0, 1), 1)), ({(2, 2): 1}, ask((0, 1), 1)), False),
        ((CORNER, "ask", (1, 0)), (CORNER, "ask", (2, 0)), False),
        ((CORNER, "ask", (1, 0)), ({(0, 0): 2}, "ask", (2, 0)), True),
        ((CORNER, "ask", (1, 0)), ({(0, 0): 2}, "ask", (1, 0)), False),
        ((CORNER, "ask", (3, 0)), ({(0, 0): 2}, "ask", (0, 0)), True),  # pairs, too
        (({}, "ask", (1, 0)), ({}, "ask", (2, 0)), True),
        ((CORNER, "other", (1, 0)), (CORNER, "other", (2, 0)), True),  # it depends on nothing
        (({}, ""), ({}, ""), True),
    ],
)
def test_which_tests_are_the_same(one, other, same):
    assert (identity(*one) == identity(*other)) is same


@pytest.mark.parametrize(("content", "same"), [("b a 1\n", True), ("b a 2\n", False)])
def test_a_question_about_a_file_is_about_that_of_the_folder(tmp_path, content, same):
    identities = []
    for folder, text in (("one", "b a 1\n"), ("other", content)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "board.txt").write_text(text)
        engine = specification("gosensei").reference_engine(str(tmp_path / folder))
        command = "is_valid board.txt"
        identities.append(in_process.identity(engine, command, specification("gosensei")))
    assert (identities[0] == identities[1]) is same
