"""Bit-planes: the way in and out, the operators, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from oracle import batch, planes
from oracle.grid import grid
from oracle.planes import PlaneFrame, Planes, ask, check_boards, plane_frame
from tests.oracle.boards import scatter_stones

SHAPES = [(1, 1), (1, 25), (25, 1), (2, 3), (9, 9), (19, 19)]


@pytest.fixture(params=SHAPES, ids=str)
def boards(request):
    return scatter_stones(np.random.default_rng(1), 192, *request.param)


def masks(boards, color):
    """Return the integer mask of a color on every board."""
    shape = grid(*boards.shape[1:])
    points = shape.points(shape.full)
    return [shape.mask([p for p in points if cells[p] == color]) for cells in boards]


def test_packing_is_undone_by_unpacking(boards):
    frame = plane_frame(*boards.shape[1:])
    black, white = frame.pack(boards)
    assert np.array_equal(frame.unpack(black, white), boards)
    assert np.array_equal(frame.unpack_set(black), boards == 1)
    assert np.array_equal(frame.unpack_set(white), boards == 2)


def test_counts_are_in_the_order_of_the_boards(boards):
    black, white = plane_frame(*boards.shape[1:]).pack(boards)
    assert black.bit_count().tolist() == [mask.bit_count() for mask in masks(boards, 1)]
    assert white.bit_count().tolist() == [mask.bit_count() for mask in masks(boards, 2)]
    assert black.any().tolist() == [mask > 0 for mask in masks(boards, 1)]


def test_the_largest_count_fits():
    full = np.ones((64, 25, 25), np.int8)
    assert set(batch.score(full).tolist()) == {625}
    assert set(batch.score(full * 2).tolist()) == {-625}


def test_operators_are_those_of_integers(boards):
    """Check each operator on planes against the same on every board's integer."""
    shape = grid(*boards.shape[1:])
    frame = plane_frame(*boards.shape[1:])
    black, white = frame.pack(boards)
    pairs = list(zip(masks(boards, 1), masks(boards, 2), strict=True))
    operations = [
        lambda a, b, full: a & b,
        lambda a, b, full: a | b,
        lambda a, b, full: ~a & full,
        lambda a, b, full: a << 1 & full,
        lambda a, b, full: a >> 1 & full,
        lambda a, b, full: a << shape.stride & full,
        lambda a, b, full: a >> shape.stride & full,
    ]
    for operation in operations:
        found = frame.unpack_set(operation(black, white, frame.full))
        expected = [operation(a, b, shape.full) for a, b in pairs]
        points = shape.points(shape.full)
        assert [[bool(m & shape.bit(p)) for p in points] for m in expected] == [
            [bool(cells[p]) for p in points] for cells in found
        ]


def test_truth_and_equality():
    frame = plane_frame(3, 3)
    nothing, everything = frame.constant(0), frame.full
    assert everything and not nothing
    assert nothing == Planes(np.zeros((12, 1), np.uint64)) != everything
    assert nothing != 0


def test_planes_are_not_keys():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Planes(np.zeros((4, 1), np.uint64)))


def test_halves_tell_any_two_points_apart():
    for rows, columns in SHAPES:
        shape = grid(rows, columns)
        sides = [
            tuple(bool(half & shape.bit(p)) for half in shape.halves)
            for p in shape.points(shape.full)
        ]
        assert len(set(sides)) == rows * columns
        frame = PlaneFrame(shape)
        assert len(frame.halves) == len(shape.halves)


@pytest.mark.parametrize("number", [0, 1, 63, 64, 65, 200])
def test_batches_of_any_length_in_pieces_of_any_size(number, monkeypatch):
    boards = scatter_stones(np.random.default_rng(2), number, 5, 7)
    whole = batch.owners(boards), batch.score(boards)
    monkeypatch.setattr(planes, "CACHED", 1)  # one word, 64 boards, at a time
    assert np.array_equal(batch.owners(boards), whole[0])
    assert np.array_equal(batch.score(boards), whole[1])
    assert whole[0].shape == boards.shape
    assert whole[1].shape == (number,)


def test_strides_do_not_matter():
    boards = scatter_stones(np.random.default_rng(3), 100, 6, 9)
    turned = boards[::-1, ::-1].transpose(0, 2, 1)
    assert np.array_equal(batch.score(turned), batch.score(np.ascontiguousarray(turned)))


def test_boards_are_not_changed():
    boards = scatter_stones(np.random.default_rng(4), 64, 9, 9)
    before = boards.copy()
    batch.owners(boards)
    batch.legal(boards, 1)
    assert np.array_equal(boards, before)


def test_questions_get_frame_and_stones():
    boards = np.array([[[1, 2], [0, 0]], [[2, 2], [2, 0]]], np.int8)
    seen = ask(boards, lambda frame, black, white: frame.unpack(black, white))
    assert np.array_equal(seen, boards)


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        ([[[0]]], "an array of int8, not of list"),
        (np.zeros((1, 3, 3)), "an array of int8, not of float64"),
        (np.zeros((1, 3, 3), np.int64), "an array of int8, not of int64"),
        (np.zeros((3, 3), np.int8), r"shape \(N, rows, columns\), not \(3, 3\)"),
        (np.zeros((1, 3, 26), np.int8), "1 to 25 rows and columns, not 3 by 26"),
        (np.zeros((1, 0, 3), np.int8), "1 to 25 rows and columns, not 0 by 3"),
        (np.array([[[0, 1]], [[2, 3]]], np.int8), r"board 1 has 3 at \(0, 1\), not 0 to 2"),
        (np.array([[[0, -1]]], np.int8), r"board 0 has -1 at \(0, 1\), not 0 to 2"),
    ],
)
def test_what_is_no_batch_is_refused(boards, message):
    with pytest.raises(ValueError, match=message):
        check_boards(boards)


@pytest.mark.parametrize("color", [0, 3, "black"])
def test_what_is_no_color_is_refused(color):
    with pytest.raises(ValueError, match=r"a color is 1 \(black\) or 2 \(white\)"):
        batch.legal(np.zeros((1, 3, 3), np.int8), color)
