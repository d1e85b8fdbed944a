"""Is the rule-based policy worth its time? 200 games of Monte Carlo against Monte Carlo.

Both players have the same number of playouts for each move; one plays them out at random, one by
the rules. Colors alternate. The games are the same in every run (seeded).
"""

from random import Random
from time import process_time

from oracle.games.gomoku import GomokuGame
from oracle.montecarlo import PLAYOUTS, choose_move
from oracle.position import EMPTY, Position, grid

GAMES, SIZE, NUMBER = 200, 7, 4


def play(players, random):
    """Return the policy of the winner, None for a draw; ``players`` are Black's and White's."""
    game = GomokuGame(Position(grid(SIZE)))
    while not game.is_over:
        policy = players[game.to_play - 1]
        move = choose_move(game.position, game.to_play, random, policy, NUMBER)
        game.play(game.to_play, move)
    return None if game.winner == EMPTY else players[game.winner - 1]


def interval(share, number):
    """Return Wilson's 95 % confidence interval of a share."""
    z = 1.96
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    spread = z * (share * (1 - share) / number + z * z / (4 * number**2)) ** 0.5
    spread /= 1 + z * z / number
    return middle - spread, middle + spread


def playout_speed(policy):
    random, shape = Random(1), grid(SIZE)
    start = process_time()
    for _ in range(500):
        PLAYOUTS[policy](shape, 0, 0, random)
    return 500 / (process_time() - start)


def main():
    print(f"Flat Monte Carlo on {SIZE}x{SIZE}, {NUMBER} playouts for each candidate move")
    for policy in PLAYOUTS:
        print(f"  {policy} playouts from the empty board: {playout_speed(policy):,.0f} per second")
    random, orders = Random(455), [("rule_based", "random"), ("random", "rule_based")]
    start = process_time()
    winners = [play(orders[game % 2], random) for game in range(GAMES)]
    won, lost = winners.count("rule_based"), winners.count("random")
    share = (won + (GAMES - won - lost) / 2) / GAMES
    low, high = interval(share, GAMES)
    print(f"  rule_based against random, {GAMES} games, colors alternating:")
    print(f"  won {won}, drawn {GAMES - won - lost}, lost {lost}: {share:.1%} of the points")
    print(f"  95 % confidence interval {low:.1%} to {high:.1%}")
    print(f"  {process_time() - start:.0f} s of CPU time")
