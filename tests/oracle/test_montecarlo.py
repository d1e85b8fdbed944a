"""The Monte Carlo player: fair playouts, sensible choices, the same moves for the same seed."""

from collections import Counter
from random import Random

import pytest

from oracle.games.gomoku import GomokuGame
from oracle.montecarlo import DRAWN, LOST, PLAYOUTS, WON, any_bit, choose_move
from oracle.position import BLACK, WHITE, Position, grid, vertex
from oracle.rules.gomoku import POLICIES
from tests.oracle.gomoku_boards import board, points, position

BOTH = pytest.mark.parametrize("policy", PLAYOUTS)


def test_any_bit_gives_every_bit_the_same_chance():
    mask = 0b1011 << 60 | 0b1001
    random = Random(1)
    found = Counter(any_bit(mask, random) for _ in range(10_000))
    assert set(found) == {1 << place for place in (0, 3, 60, 61, 63)}
    assert all(1800 < times < 2200 for times in found.values())


@BOTH
@pytest.mark.parametrize(
    ("diagram", "result"),
    [
        ("XXXX.", WON),
        ("OXOXO XOXOX", DRAWN),
        ("XO.XO", DRAWN),
        (".OOOO. XXOXXO", LOST),  # whichever end Black takes, White has the other
    ],
)
def test_playout_of_a_forced_game(policy, diagram, result):
    """Black has the move, and nothing else can happen."""
    now, random = position(board(diagram)), Random(2)
    results = {PLAYOUTS[policy](now.grid, now.black, now.white, random) for _ in range(50)}
    assert results == {result}


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
@pytest.mark.parametrize("playouts", [0, 1, 5])
def test_every_choice_is_the_policys(policy, playouts):
    now = position(board("....... ....... ..OOO.. ....... ......."))
    _, moves = POLICIES[policy](now.grid, now.black, now.white)
    chosen = {choose_move(now, BLACK, Random(seed), policy, playouts) for seed in range(30)}
    assert chosen <= set(now.grid.points(moves))
    assert len(chosen) > 1


def test_without_playouts_every_legal_move_comes():
    """The random player of gomoku-rules.html: "play a random legal move"."""
    now = position(board("XXXX. OO.OO"))
    chosen = Counter(choose_move(now, BLACK, Random(seed), playouts=0) for seed in range(400))
    assert set(chosen) == set(points("E2 C1"))
    assert min(chosen.values()) > 150


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
