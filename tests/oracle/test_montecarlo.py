"""The Monte Carlo player: fair playouts, sensible choices, the same moves for the same seed."""

from random import Random

import pytest

from oracle.games.gomoku import GomokuGame
from oracle.montecarlo import PLAYOUTS, choose_move
from oracle.position import BLACK, WHITE, Position, grid, vertex
from tests.oracle.gomoku_boards import board, position

BOTH = pytest.mark.parametrize("policy", PLAYOUTS)


# --- choices -----------------------------------------------------------------------------------


@BOTH
def test_takes_a_win(policy):
    now = position(board("....... .OOO... .XXXX.. ....... ......."))
    for seed in range(10):
        assert vertex(choose_move(now, BLACK, Random(seed), policy, 2)) in ("A3", "F3")


@BOTH
def test_blocks_a_win(policy):
    """After any other move White wins in many of the playouts."""
    now = position(board("OOOO.. XX.... ...X.. ...... ......"))
    for seed in range(5):
        assert vertex(choose_move(now, BLACK, Random(seed), policy, 60)) == "E5"


@BOTH
@pytest.mark.parametrize("diagram", ["XXXXX.", "XOXO OXOX"])
def test_refuses_when_the_game_is_over(policy, diagram):
    with pytest.raises(ValueError, match="over"):
        choose_move(position(board(diagram)), WHITE, Random(0), policy)


# --- reproducibility ---------------------------------------------------------------------------


def self_play(seed, policy):
    game, random = GomokuGame(Position(grid(6))), Random(seed)
    while not game.is_over:
        game.play(game.to_play, choose_move(game.position, game.to_play, random, policy, 1))
    return game.moves


@BOTH
@pytest.mark.long(0.5)
def test_same_seed_same_game(policy):
    games = [self_play(seed, policy) for seed in range(3)]
    assert games == [self_play(seed, policy) for seed in range(3)]
    assert len({tuple(game) for game in games}) == 3
