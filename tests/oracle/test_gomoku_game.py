"""The game: turns, the first five, undo; and what no symmetry and no question may change."""

from itertools import product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import symmetry
from oracle.answers import gomoku_policy, gomoku_rules
from oracle.errors import IllegalMove
from oracle.games.gomoku import GomokuGame
from oracle.position import BLACK, EMPTY, WHITE, Position, grid, opponent
from tests.oracle.gomoku_boards import board, points, position, random_board


def new_game(size=7):
    return GomokuGame(Position(grid(size)))


def play(game, color, names):
    for point in points(names):
        game.play(color, point)


def snapshot(game):
    return (
        game.position,
        game.to_play,
        game.winner,
        game.result,
        game.is_over,
        game.played_on,
        game.moves,
        game.legal_moves(),
    )


class TestEnd:
    def test_five_wins(self):
        game = new_game()
        play(game, BLACK, "A1 A2 A3 A4")
        assert (game.result, game.winner, game.is_over) == ("unknown", EMPTY, False)
        play(game, BLACK, "A5")
        assert (game.result, game.winner, game.is_over) == ("black", BLACK, True)
        assert game.legal_moves() == 0
        assert not game.played_on

    def test_first_five_stays(self):
        """gomoku-rules.html: "The first player to achieve that goal wins."."""
        game = new_game()
        play(game, WHITE, "A1 A2 A3 A4 A5")
        play(game, BLACK, "B1 B2 B3 B4 B5")
        assert game.result == "white"
        assert game.played_on
        assert gomoku_rules.colors_with_five(game.position) == [BLACK, WHITE]

    def test_full_board_is_a_draw(self):
        game = GomokuGame(position(board("XXXXO OOOOX XXXXO OOOOX XXXX.")), WHITE)
        assert game.result == "unknown"
        play(game, WHITE, "E1")
        assert (game.result, game.winner, game.is_over) == ("draw", EMPTY, True)

    def test_five_decides_on_a_full_board(self):
        game = GomokuGame(position(board("XXXXO OOOOX XXXXO OOOOX XXXX.")), BLACK)
        play(game, BLACK, "E1")
        assert game.result == "black"

    def test_undo_takes_the_win_back(self):
        game = new_game()
        play(game, BLACK, "A1 A2 A3 A4 A5 A6")
        assert game.undo() == (BLACK, (5, 0))
        assert game.result == "black"
        game.undo()
        assert (game.result, game.to_play) == ("unknown", WHITE)

    def test_a_five_on_the_first_board_has_won(self):
        game = GomokuGame(position(board("OOOOO")), BLACK)
        assert (game.result, game.legal_moves()) == ("white", 0)


# --- properties --------------------------------------------------------------------------------

# The same examples in every run, however busy the machine is.
steady = settings(deadline=None, derandomize=True)
moves = st.lists(st.tuples(st.sampled_from([BLACK, WHITE]), st.integers(0, 24)), max_size=40)


@steady
@given(moves)
def test_play_then_undo_restores(played):
    game, seen = new_game(5), []
    for color, place in played:
        before = snapshot(game)
        try:
            game.play(color, divmod(place, 5))
        except IllegalMove:
            assert snapshot(game) == before
        else:
            seen.append(before)
    for before in reversed(seen):
        game.undo()
        assert snapshot(game) == before


@steady
@given(moves)
def test_winner_is_the_first_to_have_five(played):
    """Recomputed from the moves alone."""
    game, first = new_game(5), EMPTY
    for color, place in played:
        point = divmod(place, 5)
        if game.refusal(point):
            continue
        game.play(color, point)
        first = first or gomoku_rules.winner(game.position)
        assert game.winner == first


@steady
@given(moves)
def test_questions_change_nothing(played):
    game = new_game(5)
    for color, place in played:
        if not game.refusal(divmod(place, 5)):
            game.play(color, divmod(place, 5))
    before = snapshot(game)
    game.refusal((0, 0))
    gomoku_rules.legal_moves(game.position)
    gomoku_rules.explain_result(game.position)
    for color in (BLACK, WHITE):
        gomoku_policy.policy_moves(game.position, color)
        gomoku_policy.explain_policy_moves(game.position, color)
        gomoku_policy.readings_policy_moves(game.position, color)
    assert snapshot(game) == before


@steady
@given(seed=st.integers(0, 2**32), size=st.integers(5, 19), number=st.sampled_from(symmetry.ALL))
def test_symmetries_move_every_answer(seed, size, number):
    now = position(random_board(Random(seed), size, size))
    image = symmetry.transform(now, number)
    assert gomoku_rules.result(image) == gomoku_rules.result(now)
    for color, policy in product((BLACK, WHITE), ("random", "rule_based")):
        kind, found = gomoku_policy.policy_moves(now, color, policy)
        moved = symmetry.transform(Position(now.grid, now.grid.mask(found)), number).black
        image_kind, image_found = gomoku_policy.policy_moves(image, color, policy)
        assert (image_kind, image.grid.mask(image_found)) == (kind, moved)


@steady
@given(seed=st.integers(0, 2**32), rows=st.integers(1, 19), columns=st.integers(1, 19))
def test_color_swap_swaps_every_answer(seed, rows, columns):
    now = position(random_board(Random(seed), rows, columns))
    swapped = now.swap_colors()
    assert gomoku_rules.colors_with_five(swapped) == sorted(
        opponent(color) for color in gomoku_rules.colors_with_five(now)
    )
    for color in (BLACK, WHITE):
        answer = gomoku_policy.policy_moves(now, color)
        assert gomoku_policy.policy_moves(swapped, opponent(color)) == answer
        readings = gomoku_policy.readings_policy_moves(now, color)
        assert gomoku_policy.readings_policy_moves(swapped, opponent(color)) == readings
