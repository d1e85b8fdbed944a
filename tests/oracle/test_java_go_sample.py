"""The "Sample game board file" of java-go.txt with all its answers, derived by hand.

The board, with GTP's names (row 9 on top)::

       A B C D E F G H J
    9  . . . . . O O . .
    8  . O X O O X X O .
    7  . X O . O X O X O
    6  . O . . O X X X O
    5  . . X . . O O O .
    4  . X O X . X . . .
    3  X O O O O O X . .
    2  X O O X X O O X .
    1  . X X . . X X . .

First the chains with their liberties, then the empty regions with the colors around them: both
tables below are checked stone by stone against the definitions. From these follow

*isCaptured.* Two chains have no liberty: the black chain of seven around G7, which White's stones
and the single white stone G7 shut in, and that stone itself. Of the six empty regions A1 and
D1-E1 touch black stones only, H9-J9-J8 white stones only; the other three touch both.

*score for Black.* The white stone G7 is a prisoner: 1. Off the board, it leaves a point with black
stones all around it: 1. The regions A1 and D1-E1 add 1 + 2. Together 5.

*score for White.* The seven black stones are prisoners: 7. Off the board, they leave seven points
that touch white stones only (G7 among them): 7. The region H9-J9-J8 adds 3. Together 17.

*isLegal.* Every empty point has an empty neighbour or lets the stone join a chain with another
liberty, but one: a white stone on A1 would stand between A2 and B1, black chains which have the
liberties A4 and D1 as well, so it takes nothing and has no liberty. Black may play all 32 empty
points, White 31.
"""

from __future__ import annotations

import pytest

from oracle.answers import java_go
from oracle.position import BLACK, WHITE, parse_vertex, vertex
from tests.oracle import naive
from tests.oracle.boards import board
from tests.oracle.documents import SAMPLE

# stones: liberties
BLACK_CHAINS = {
    "C8": "C9",
    "F8 G8 F7 H7 F6 G6 H6": "",
    "B7": "A7",
    "C5": "B5 C6 D5",
    "B4": "A4 B5",
    "D4": "D5 E4",
    "F4": "E4 G4",
    "A3 A2": "A1 A4",
    "G3": "G4 H3",
    "D2 E2": "D1 E1",
    "H2": "H1 H3 J2",
    "B1 C1": "A1 D1",
    "F1 G1": "E1 H1",
}
WHITE_CHAINS = {
    "F9 G9": "E9 H9",
    "B8": "A8 B9",
    "D8 E8 E7 E6": "D9 E9 D7 D6 E5",
    "H8": "H9 J8",
    "C7": "C6 D7",
    "G7": "",
    "J7 J6": "J8 J5",
    "B6": "A6 B5 C6",
    "F5 G5 H5": "E5 J5 G4 H4",
    "C4 B3 C3 D3 E3 F3 B2 C2 F2 G2": "E4",
}
# empty points: the colors of the stones next to them
REGIONS = {
    "A9 B9 C9 D9 E9 A8 A7 A6 A5 B5 A4": {BLACK, WHITE},
    "D7 C6 D6 D5 E5 E4": {BLACK, WHITE},
    "J5 G4 H4 J4 H3 J3 J2 H1 J1": {BLACK, WHITE},
    "H9 J9 J8": {WHITE},
    "A1": {BLACK},
    "D1 E1": {BLACK},
}
CAPTURED = "F8 G8 F7 H7 F6 G6 H6 G7 H9 J9 J8 A1 D1 E1"
SUICIDE_OF_WHITE = "A1"


def points(names):
    return {parse_vertex(name, 9, 9) for name in names.split()}


@pytest.fixture
def position():
    return board(SAMPLE)


@pytest.fixture
def plain(position):
    return position.to_rows()[::-1]


def test_the_derivation_names_every_point_once():
    names = " ".join([*BLACK_CHAINS, *WHITE_CHAINS, *REGIONS]).split()
    assert sorted(names) == sorted(
        vertex((row, column)) for row in range(9) for column in range(9)
    )


@pytest.mark.parametrize(("color", "chains"), [(BLACK, BLACK_CHAINS), (WHITE, WHITE_CHAINS)])
def test_chains_of_the_derivation(plain, color, chains):
    for stones, liberties in chains.items():
        stone = min(points(stones))
        assert naive.at(plain, stone) == color
        assert naive.part(plain, stone) == points(stones)
        assert naive.liberties(plain, stone) == points(liberties)


def test_regions_of_the_derivation(plain):
    for empties, colors in REGIONS.items():
        region = naive.part(plain, min(points(empties)))
        assert region == points(empties)
        assert naive.colors_around(plain, region) == colors


def test_is_captured(position):
    everywhere = position.grid.points(position.grid.full)
    captured = {point for point in everywhere if java_go.is_captured(position, point)}
    assert captured == points(CAPTURED)


def test_score(position):
    assert java_go.score(position, BLACK) == 1 + 1 + (1 + 2)
    assert java_go.score(position, WHITE) == 7 + 7 + 3


@pytest.mark.parametrize(
    ("color", "refused", "number"), [(BLACK, "", 32), (WHITE, SUICIDE_OF_WHITE, 31)]
)
def test_is_legal(position, color, refused, number):
    everywhere = position.grid.points(position.grid.full)
    legal = {point for point in everywhere if java_go.is_legal(position, point, color)}
    assert legal == points(" ".join(REGIONS)) - points(refused)
    assert len(legal) == number
