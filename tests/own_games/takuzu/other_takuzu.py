"""The game of zeros and ones by somebody else: right, and all that may be written otherwise is.

Lines are kept as two masks of bits, one for each digit. It refuses, helps and shows itself in its
own words, and ``genmove`` takes the first placement that is legal.
"""

import sys


def has_three(mask):
    return bool(mask & mask >> 1 & mask >> 2)


class Game:
    def __init__(self, width, height):
        self.size = (width, height)
        # By digit: rows and columns as bits.
        self.lines = [([0] * height, [0] * width) for _ in "01"]
        self.moves = 0

    def may(self, x, y, digit):
        width, height = self.size
        if any(rows[y] >> x & 1 for rows, _ in self.lines):
            return False
        rows, columns = self.lines[digit]
        row, column = rows[y] | 1 << x, columns[x] | 1 << y
        if has_three(row) or has_three(column):
            return False
        return 2 * row.bit_count() <= width + 1 and 2 * column.bit_count() <= height + 1

    def put(self, x, y, digit):
        rows, columns = self.lines[digit]
        rows[y] |= 1 << x
        columns[x] |= 1 << y
        self.moves += 1

    def first(self):
        """Return the first legal placement, None if there is none."""
        width, height = self.size
        for y in range(height):
            for x in range(width):
                for digit in (0, 1):
                    if self.may(x, y, digit):
                        return x, y, digit
        return None

    def cell(self, x, y):
        return next((str(d) for d in (0, 1) if self.lines[d][0][y] >> x & 1), "_")


def placement(game, words):
    """Return what the words name, None for nothing on the grid."""
    if len(words) != 3 or not all(word.isdecimal() for word in words):
        return None
    x, y, digit = map(int, words)
    return (x, y, digit) if x < game.size[0] and y < game.size[1] and digit < 2 else None


class Engine:
    """A method for each command; it returns a status, and prints the lines before it."""

    def __init__(self):
        self.now = Game(5, 5)

    def game(self, words):
        if len(words) != 2 or not all(word.isdecimal() and 0 < int(word) < 21 for word in words):
            return "-1"
        self.now = Game(*map(int, words))
        return "1"

    def play(self, words):
        wanted = placement(self.now, words)
        if wanted is None or not self.now.may(*wanted):
            return "illegal move: not there"
        self.now.put(*wanted)
        return "1"

    def legal(self, words):
        wanted = placement(self.now, words)
        print("yes" if wanted is not None and self.now.may(*wanted) else "no")
        return "1"

    def genmove(self, words):
        first = self.now.first()
        print(*first or ["resign"])
        if first:
            self.now.put(*first)
        return "1"

    def winner(self, words):
        print("unfinished" if self.now.first() else "21"[self.now.moves % 2])
        return "1"

    def show(self, words):
        width, height = self.now.size
        for y in range(height):
            print(*(self.now.cell(x, y) for x in range(width)))
        return "1"

    def help(self, words):
        print("There is no help.")
        return "1"

    def exit(self, words):
        return "1"


engine = Engine()
for line in sys.stdin:
    words = line.split()
    if words:
        command = vars(Engine).get(words[0]) if words[0].isalpha() else None
        print("=", command(engine, words[1:]) if command else "-1", flush=True)
    if words == ["exit"]:
        break
