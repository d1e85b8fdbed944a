"""A player for matches that draws its moves; its argument names a habit, its second the dice.

It knows no rules: it plays on empty points of its own board and passes after four moves, or
where its board is full. It ends by itself after a minute.
"""

import random
import signal
import sys
import time

signal.alarm(60)
HABIT = sys.argv[1] if len(sys.argv) > 1 else ""
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
dice = random.Random(sys.argv[2] if len(sys.argv) > 2 else 1)
size, stones, moves, times = 5, {}, 0, []


def say(text="", status="="):
    """Reply."""
    sys.stdout.write(f"{status} {text}\n\n")
    sys.stdout.flush()


def choose(color):
    """Reply with a move, as the habit has it."""
    points = [f"{column}{row + 1}" for column in LETTERS[:size] for row in range(size)]
    free = [point for point in points if point not in stones]
    if HABIT == "occupied" and stones:
        return say(next(iter(stones)))
    if HABIT == "off-board":
        return say("Z99")
    if HABIT == "claims-victory":
        return say(f"{color}+R, I have won")
    if HABIT == "hangs" or (HABIT == "hangs-as-white" and color == "w"):
        time.sleep(50)
    if HABIT in ("slow", "careful"):
        time.sleep(0.4 if HABIT == "slow" else 0.03)
    if HABIT == "ten-megabytes":
        return say("x" * 10_000_000)
    if HABIT == "resigns":
        return say("resign")
    if HABIT == "crashes":
        sys.exit(3)
    if HABIT == "refuses":
        return say("no idea", "?")
    if HABIT == "moves-out-of-turn":
        return say(f"{free[0]}\n\n= {free[1]}")
    if HABIT != "never-passes" and (not free or moves > 4):
        return say("pass")
    move = dice.choice(free or points)
    stones[move] = color
    return say(move)


for line in sys.stdin:
    name, *words = line.split()
    if name in ("boardsize", "clear_board"):
        size, stones, moves = int(words[0]) if words else size, {}, 0
        say()
    elif name == "list_commands":
        known = "boardsize clear_board komi play genmove final_score time_settings time_left quit"
        say(known.replace(" ", "\n"))
    elif name == "play" and HABIT == "refuses-legal-moves":
        say("illegal move: nothing suits me")
    elif name == "play":
        stones[words[1].upper()] = words[0]
        say()
    elif name == "genmove":
        moves += 1
        choose(words[0])
    elif name in ("time_settings", "time_left"):
        times.append(" ".join(words))
        say()
    elif name == "final_score" and HABIT == "tells-times":
        say("; ".join(times))
    elif name == "final_score":
        say("W+99" if HABIT == "counts-wrongly" else "B+1")
    else:
        say()
    if name == "quit":
        break
