"""What holds on any board: symmetries, the swap of colors, komi, and games that leave no trace."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import batch
from oracle.answers import go_scoring, gosensei, java_go
from oracle.games.go import GoGame
from oracle.position import BLACK, WHITE, Position, grid
from oracle.rules import go
from oracle.rules.flood import regions
from tests.oracle.boards import every_board, from_array, to_array

# The eight symmetries of a board, on arrays whose first two axes are rows and columns.
SYMMETRIES = {
    "identity": lambda cells: cells,
    "quarter turn": np.rot90,
    "half turn": lambda cells: np.rot90(cells, 2),
    "three quarter turn": lambda cells: np.rot90(cells, 3),
    "left and right": lambda cells: cells[:, ::-1],
    "top and bottom": lambda cells: cells[::-1],
    "diagonal": np.transpose,
    "other diagonal": lambda cells: cells[::-1, ::-1].T,
}


@st.composite
def cells(draw):
    """Draw a board of up to 9x9, its shape and its density of stones drawn as well."""
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    stones = draw(st.sampled_from(["012", "0012", "01112", "1122220"]))
    board = draw(
        st.lists(st.sampled_from(stones), min_size=rows * columns, max_size=rows * columns)
    )
    return np.array(board, np.int8).reshape(rows, columns)


def map_points(position, points):
    found = np.zeros((position.grid.rows, position.grid.columns), np.int8)
    for point in points:
        found[point] = 1
    return found


def owner_map(position):
    owners = go_scoring.owners(position)
    black = [point for point, owner in owners.items() if owner == BLACK]
    white = [point for point, owner in owners.items() if owner == WHITE]
    return map_points(position, black) + 2 * map_points(position, white)


def legal_map(position, color):
    mine, theirs = position.stones(color), position.stones(3 - color)
    return map_points(position, position.grid.points(go.legal(position.grid, mine, theirs)))


def captured_map(position):
    everywhere = position.grid.points(position.grid.full)
    return map_points(position, [p for p in everywhere if java_go.is_captured(position, p)])


def spaces_map(position, color):
    spaces = gosensei.eye_spaces(position, color)
    return map_points(position, [point for space in spaces for point in space])


# Each answer as a map, or a number, of a position seen by a color.
MAPS = {
    "owners": lambda position, color: owner_map(position),
    "isCaptured": lambda position, color: captured_map(position),
    "isLegal": legal_map,
    "eyes": lambda position, color: map_points(position, gosensei.eyes(position, color)),
    "two eyes": lambda position, color: map_points(position, gosensei.two_eyes(position, color)),
    "eye spaces": spaces_map,
}
NUMBERS = {
    "score": lambda position, color: (
        int(go_scoring.score(position)) * (1 if color == BLACK else -1)
    ),
    "java score": java_go.score,
    "two eyes, both readings": lambda p, color: list(
        gosensei.readings_two_eyes(p, color).values()
    ),
    "eye spaces, all readings": lambda p, color: list(
        gosensei.readings_eye_spaces(p, color).values()
    ),
}


@given(board=cells(), symmetry=st.sampled_from(list(SYMMETRIES.values())))
def test_answers_turn_with_the_board_and_the_colors_have_the_same_rules(board, symmetry):
    position = from_array(board)
    turned = from_array(np.ascontiguousarray(symmetry(board)))
    swapped = position.swap_colors()
    for name, ask in MAPS.items():
        found = ask(position, BLACK)
        assert np.array_equal(ask(turned, BLACK), symmetry(found)), name
        of_white = np.array([0, 2, 1])[found] if name == "owners" else found
        assert np.array_equal(ask(swapped, WHITE), of_white), name
    for name, count in NUMBERS.items():
        assert count(position, BLACK) == count(turned, BLACK) == count(swapped, WHITE), name


# Tromp and Farnebäck, "Combinatorics of Go" (2006): legal positions by size.
@pytest.mark.parametrize(("size", "known"), [(1, 1), (2, 57), (3, 12_675)])
def test_number_of_legal_positions(size, known):
    boards = every_board(size, size)
    assert np.count_nonzero(batch.positions_legal(boards)) == known
    singly = [go.find_captured_of_both(p.grid, p.black, p.white) for p in map(from_array, boards)]
    assert sum(not (black or white) for black, white in singly) == known


@given(board=cells())
def test_a_batch_does_not_mix_its_boards(board):
    """Check that a board's answer does not hang on its place, nor on the others in its words."""
    crowd = np.random.default_rng(7).integers(0, 3, (130, *board.shape)).astype(np.int8)
    before = batch.owners(crowd)
    for place in (0, 63, 64, 129):
        changed = crowd.copy()
        changed[place] = board
        owners = batch.owners(changed)
        assert np.array_equal(owners[place], owner_map(from_array(board)))
        owners[place] = before[place]
        assert np.array_equal(owners, before)


komis = st.decimals(min_value=-400, max_value=400, places=2)


@given(board=cells(), komi=komis, more=komis)
def test_komi_shifts_the_score(board, komi, more):
    position = from_array(board)
    assert go_scoring.score(position, komi + more) == go_scoring.score(position, komi) - more


def test_komi_is_exact():
    position = from_array(np.array([[1]], np.int8))
    assert go_scoring.answer(position, Decimal("0.1") + Decimal("0.2")) == "B+0.7"
    assert go_scoring.answer(position, Decimal("1.00")) == "0"
    assert go_scoring.answer(position, Decimal("0." + "1" * 38)) == "B+0." + "8" * 37 + "9"


moves = st.lists(st.tuples(st.sampled_from((BLACK, WHITE)), st.integers(0, 24)), max_size=60)


def game_of(moves):
    """Return a game on 5x5 with those of the moves that are legal, in their order."""
    game = GoGame.empty(5)
    for color, place in moves:
        if game.is_legal(color, divmod(place, 5)):
            game.play(color, divmod(place, 5))
    return game


def list_facts(game):
    """Return all that a game shows."""
    prisoners = game.prisoners(BLACK), game.prisoners(WHITE)
    return game.position, game.to_play, game.ko, prisoners, game.moves, game.is_over


@given(moves)
def test_play_then_undo_restores(moves):
    game = game_of(moves)
    before = list_facts(game)
    for color in (BLACK, WHITE):
        for point in game.position.grid.points(game.legal_moves(color)):
            game.play(color, point)
            assert game.undo() == (color, point)
            assert list_facts(game) == before


@given(board=cells())
def test_legal_moves_leave_a_liberty(board):
    """Check legality by playing: the map of all points against the move itself."""
    position = from_array(board)
    shape, mine, theirs = position.grid, position.black, position.white
    for point in shape.points(position.empty):
        own, other = go.play(shape, mine, theirs, shape.bit(point))
        chain = next(part for part in regions(shape, own) if part & shape.bit(point))
        breathes = bool(go.liberties(shape, chain, own | other))
        assert breathes == bool(go.legal(shape, mine, theirs) & shape.bit(point))
        assert breathes == go.is_legal(shape, mine, theirs, shape.bit(point))
        assert breathes == bool(go.legal_among(shape, mine, theirs, shape.bit(point)))
    every = go.legal_among(shape, mine, theirs, position.empty)
    assert every == go.legal(shape, mine, theirs)


def test_no_grid_is_too_small_or_too_large():
    for rows, columns in ((1, 1), (1, 25), (25, 1), (25, 25)):
        position = Position(grid(rows, columns), black=1)
        assert go_scoring.score(position) == rows * columns
        assert batch.score(to_array([position])).tolist() == [rows * columns]
