"""Pictures are read back: whatever is drawn must give the very position that was drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.draw import Diagram, draw_svg, draw_text
from oracle.position import BLACK, EMPTY, SENSEI_LETTERS, WHITE, Position

SVG = "{http://www.w3.org/2000/svg}"

POSITION = Position.from_rows(
    [
        [0, 1, 2, 0, 0],
        [1, 0, 1, 2, 0],
        [0, 1, 2, 0, 0],
    ]
)


@st.composite
def positions(draw):
    rows, columns = draw(st.integers(1, 25)), draw(st.integers(1, 25))
    colors = st.sampled_from([EMPTY, EMPTY, BLACK, WHITE])
    row = st.lists(colors, min_size=columns, max_size=columns)
    return Position.from_rows(draw(st.lists(row, min_size=rows, max_size=rows)))


TEXTS = [
    pytest.param(
        Diagram(POSITION),
        False,
        """\
    A B C D E
 3  . X O . .  3
 2  X . X O .  2
 1  . X O . .  1
    A B C D E""",
        id="ascii",
    ),
    pytest.param(
        Diagram(POSITION, last=(1, 3), caption="White D2"),
        True,
        """\
    A B C D E
 3  ┌─●─○─┬─┐  3
 2  ●─┼─●(○)┤  2
 1  └─●─○─┴─┘  1
    A B C D E
White D2""",
        id="unicode with last move and caption",
    ),
    pytest.param(
        Diagram(POSITION, marks={(0, 0): "a", (1, 2): "12", (2, 4): "b"}),
        False,
        """\
    A   B   C   D   E
 3  .   X   O   .   b    3
 2  X   .   X12 O   .    2
 1  a   X   O   .   .    1
    A   B   C   D   E""",
        id="marks on stones make every point wider",
    ),
    pytest.param(
        Diagram(Position.from_rows([[0] * 9] * 9), letters=SENSEI_LETTERS),
        False,
        """\
    A B C D E F G H I
 9  . . . . . . . . .  9
 8  . . . . . . . . .  8
 7  . . + . . . + . .  7
 6  . . . . . . . . .  6
 5  . . . . + . . . .  5
 4  . . . . . . . . .  4
 3  . . + . . . + . .  3
 2  . . . . . . . . .  2
 1  . . . . . . . . .  1
    A B C D E F G H I""",
        id="star points, columns with I",
    ),
]


@pytest.mark.parametrize(("diagram", "unicode", "text"), TEXTS)
def test_text(diagram, unicode, text):
    assert draw_text(diagram, unicode=unicode) == text


@pytest.mark.parametrize("unicode", [False, True])
@given(position=positions())
def test_text_reads_back(unicode, position):
    stones = {"X": BLACK, "O": WHITE, "●": BLACK, "○": WHITE}
    _, *lines, _ = draw_text(Diagram(position), unicode=unicode).splitlines()
    columns = position.grid.columns
    rows = [[stones.get(char, EMPTY) for char in line[4::2][:columns]] for line in lines]
    assert Position.from_rows(rows) == position


def read_svg(svg: str, rows: int) -> tuple[dict[str, set[tuple[int, int]]], ElementTree.Element]:
    """Return the points that the round caps of each stroke color cover, and the parsed element."""
    root = ElementTree.fromstring(svg)
    covered: dict[str, set[tuple[int, int]]] = {}
    for path in root.iter(f"{SVG}path"):
        if float(path.get("stroke-width", "0")) > 0.5:
            dots = re.findall(r"M(\d+) (\d+)h0", path.get("d", ""))
            points = {(rows - int(y), int(x) - 1) for x, y in dots}
            covered[path.get("stroke", "")] = points
    return covered, root


@given(position=positions())
def test_svg_reads_back(position):
    covered, root = read_svg(draw_svg(Diagram(position)), position.grid.rows)
    white = covered.get("#fff", set())
    black = set().union(*covered.values()) - white
    assert white == set(position.grid.points(position.white))
    assert black == set(position.grid.points(position.black))
    assert root.tag == f"{SVG}svg"


def test_svg_is_self_contained():
    svg = draw_svg(Diagram(POSITION, last=(1, 3), marks={(0, 0): "a"}))
    allowed = 'xmlns="http://www.w3.org/2000/svg"'
    assert svg.startswith(f"<svg {allowed}")
    rest = svg.replace(allowed, "")
    for forbidden in ("http", "href", "<style", "<script", "class=", " id=", "url("):
        assert forbidden not in rest


def test_svg_escapes_what_it_is_given():
    diagram = Diagram(POSITION, marks={(0, 0): "<&"}, caption='</title><script>"&')
    _, root = read_svg(draw_svg(diagram), 3)
    assert root.findtext(f"{SVG}title") == '</title><script>"&'
    assert [t.text for t in root.iter(f"{SVG}text")][-1] == "<&"
