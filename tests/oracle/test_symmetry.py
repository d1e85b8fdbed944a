"""Symmetries: where points go, back again, and one position for all its images."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import symmetry
from oracle.position import Position

#: A board of two rows and three columns as 0 leaves it; then what each symmetry makes of it.
IMAGES = [
    ["120", "000"],
    ["021", "000"],
    ["000", "120"],
    ["000", "021"],
    ["00", "02", "01"],
    ["01", "02", "00"],
    ["00", "20", "10"],
    ["10", "20", "00"],
]


def position(rows):
    return Position.from_rows([[int(cell) for cell in row] for row in rows])


@pytest.mark.parametrize("number", symmetry.ALL)
def test_each_symmetry(number):
    # Drawn with the top row first; bit 1 mirrors, bit 2 flips, bit 4 exchanges rows and columns.
    assert symmetry.transform(position(IMAGES[0]), number) == position(IMAGES[number])


boards = st.integers(1, 6).flatmap(
    lambda rows: st.integers(1, 6).flatmap(
        lambda columns: st.lists(
            st.lists(st.sampled_from([0, 1, 2]), min_size=columns, max_size=columns),
            min_size=rows,
            max_size=rows,
        ).map(Position.from_rows)
    )
)


@given(board=boards, number=st.sampled_from(symmetry.ALL))
def test_the_inverse_undoes(board, number):
    back = symmetry.transform(symmetry.transform(board, number), symmetry.inverse(number))
    assert back == board


@given(board=boards, number=st.sampled_from(symmetry.ALL), swap=st.booleans())
def test_one_stands_for_all(board, number, swap):
    turned = symmetry.transform(board, number)
    assert symmetry.canonical(turned)[0] == symmetry.canonical(board)[0]
    other = turned.swap_colors() if swap else turned
    assert symmetry.canonical(other, True)[0] == symmetry.canonical(board, True)[0]
