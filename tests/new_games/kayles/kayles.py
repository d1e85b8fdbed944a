# ruff: noqa - as others write
"""Kayles with a solver: a player takes a pin or two adjacent ones; who takes the last one wins.

Each answer ends with '= 1' or '= -1'; nothing says why a move is refused.
"""

import sys
from functools import lru_cache

LIMIT = 9


@lru_cache(None)
def moves(pins):
    found = []
    for i, pin in enumerate(pins):
        if pin == "1":
            found.append(pins[:i] + "0" + pins[i + 1 :])
        if pins[i : i + 2] == "11":
            found.append(pins[:i] + "00" + pins[i + 2 :])
    return found


@lru_cache(None)
def wins(pins):
    return any(not wins(after) for after in moves(pins))


class Kayles:
    most = 100

    def init_game(self, columns, rows):
        width, height = int(columns), int(rows)
        assert width > 0 and height == 1
        self.pins, self.turn = "1" * width, 0

    def limit(self, number):
        self.most = int(number)

    def play(self, player, count, x):
        if player != "bw"[self.turn]:
            raise ValueError
        x, count = int(x), int(count)
        taken = self.pins[:x] + "0" * count + self.pins[x + count :]
        if x < 0 or count not in (1, 2) or taken not in moves(self.pins):
            raise ValueError
        self.pins, self.turn = taken, 1 - self.turn

    def pins_left(self):
        print(self.pins.count("1"))

    def row(self):
        print(self.pins)

    def win(self):
        print("-" if "1" in self.pins else "wb"[self.turn])

    def solve(self):
        if self.pins.count("1") > self.most:
            print("unknown")
        elif not wins(self.pins):
            print("wb"[self.turn])
        else:
            best = next(one for one in moves(self.pins) if not wins(one))
            place = next(i for i, (a, b) in enumerate(zip(self.pins, best)) if a != b)
            print("bw"[self.turn], self.pins.count("1") - best.count("1"), place)


game = Kayles()
for line in sys.stdin:
    name, *words = line.split() or [""]
    if name == "exit":
        print("= 1", flush=True)
        break
    try:
        assert not name.startswith("_")
        getattr(game, name)(*words)
        print("= 1", flush=True)
    except Exception:
        print("= -1", flush=True)
