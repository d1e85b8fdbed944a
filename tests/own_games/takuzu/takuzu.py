"""A placing game of zeros and ones, in which each answer ends with a status line.

Two players put a 0 or a 1 on an empty cell, in turn. A line (row or column) has no three equal
digits side by side, and of neither digit more than half its cells, rounded up. Who cannot place
anything loses. Cells are ``x y``, ``0 0`` at the upper left; ``game W H`` begins a game.

The status is ``= 1`` (done), ``= -1`` (refused), or ``= illegal move: 0 0 1 occupied``.
"""

import random
import sys

DONE, REFUSED = "= 1", "= -1"
DIGITS = ("0", "1")


class Illegal(Exception):
    """A placement is refused, for this reason."""


class Takuzu:
    """One engine; the grid is a list of rows, a digit, or ``.`` for an empty cell."""

    def __init__(self):
        self.begin(5, 5)

    def begin(self, width, height):
        self.width, self.height = width, height
        self.grid = [["."] * width for _ in range(height)]
        self.player = 1

    # --- rules ----------------------------------------------------------------------------------

    def row(self, y):
        return "".join(self.grid[y])

    def column(self, x):
        return "".join(row[x] for row in self.grid)

    def has_three(self, x, y, digit):
        return digit * 3 in self.row(y) or digit * 3 in self.column(x)

    def has_too_many(self, x, y, digit):
        across = self.row(y).count(digit) > (self.width + 1) // 2
        return across or self.column(x).count(digit) > (self.height + 1) // 2

    def reason(self, x, y, digit):
        """Return why a digit may not be placed; "" if it may."""
        if self.grid[y][x] != ".":
            return "occupied"
        self.grid[y][x] = digit
        try:
            if self.has_three(x, y, digit):
                return "three in a row"
            return f"too many {digit}" if self.has_too_many(x, y, digit) else ""
        finally:
            self.grid[y][x] = "."

    def legal(self):
        """Return all placements that are legal, as (x, y, digit)."""
        cells = ((x, y) for y in range(self.height) for x in range(self.width))
        return [
            (x, y, digit) for x, y in cells for digit in DIGITS if not self.reason(x, y, digit)
        ]

    def place(self, x, y, digit):
        self.grid[y][x] = digit
        self.player = 3 - self.player

    def read(self, words):
        """Return the placement that the words name."""
        if len(words) != 3:
            raise Illegal("wrong number of arguments")
        x, y, digit = words
        if not (x.isdecimal() and y.isdecimal()):
            raise Illegal("wrong coordinate")
        if int(x) >= self.width or int(y) >= self.height:
            raise Illegal("wrong coordinate")
        if digit not in DIGITS:
            raise Illegal("wrong number")
        return int(x), int(y), digit

    # --- commands: each returns lines and a status ----------------------------------------------

    def do_game(self, words):
        if len(words) != 2 or not all(word.isdecimal() and 1 <= int(word) <= 20 for word in words):
            return [], REFUSED
        self.begin(*map(int, words))
        return [], DONE

    def do_play(self, words):
        try:
            placement = self.read(words)
            if why := self.reason(*placement):
                raise Illegal(why)
        except Illegal as why:
            return [], f"= illegal move: {' '.join(words)} {why}"
        self.place(*placement)
        return [], DONE

    def do_legal(self, words):
        try:
            is_legal = not self.reason(*self.read(words))
        except Illegal:
            is_legal = False
        return ["yes" if is_legal else "no"], DONE

    def do_genmove(self, words):
        legal = self.legal()
        if not legal:
            return ["resign"], DONE
        x, y, digit = random.choice(legal)
        self.place(x, y, digit)
        return [f"{x} {y} {digit}"], DONE

    def do_winner(self, words):
        return ["unfinished" if self.legal() else str(3 - self.player)], DONE

    def do_show(self, words):
        return [self.row(y) for y in range(self.height)], DONE

    def do_help(self, words):
        return ["game W H: a new game", "play X Y DIGIT: place a digit"], DONE

    def do_exit(self, words):
        return [], DONE

    def handle(self, line):
        """Return the lines of a reply, the last one the status."""
        name, *words = line.split()
        command = getattr(self, f"do_{name}", None)
        if command is None:
            return [f"{name} is not a command", REFUSED]
        lines, status = command(words)
        return [*lines, status]


def talk(engine):
    """Answer commands until the end."""
    for line in sys.stdin:
        if line.strip():
            print("\n".join(engine.handle(line)), flush=True)
        if line.split() == ["exit"]:
            return


if __name__ == "__main__":
    talk(Takuzu())
