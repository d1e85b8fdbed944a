"""The game of zeros and ones with one thing missing: ``python3 wrong_takuzu.py NAME``."""

import sys

from takuzu import DONE, Takuzu, talk


def run(line, at, digit, step):
    """Return how many cells with a digit follow a place, in one direction."""
    count = 0
    while 0 <= at + step < len(line) and line[at + step] == digit:
        at, count = at + step, count + 1
    return count


class ThreeFromTheEnds(Takuzu):
    """Looks at the two cells before and the two behind, and not at one on each side."""

    def has_three(self, x, y, digit):
        lines = ((self.row(y), x), (self.column(x), y))
        return any(run(line, at, digit, step) > 1 for line, at in lines for step in (1, -1))


class ThreeInRowsOnly(Takuzu):
    """Looks for three side by side in rows."""

    def has_three(self, x, y, digit):
        return digit * 3 in self.row(y)


class ThreeAroundTheEdge(Takuzu):
    """Has all rows in one list, in which the end of one lies beside the start of the next."""

    def has_three(self, x, y, digit):
        rows = "".join(map(self.row, range(self.height)))
        return digit * 3 in rows or digit * 3 in self.column(x)


class ThreeThroughGaps(Takuzu):
    """Leaves out empty cells before it looks for three side by side."""

    def has_three(self, x, y, digit):
        lines = (self.row(y), self.column(x))
        return any(digit * 3 in line.replace(".", "") for line in lines)


class HalfRoundedDown(Takuzu):
    """Takes half of an odd number of cells without the cell that is left."""

    def has_too_many(self, x, y, digit):
        across = self.row(y).count(digit) > max(1, self.width // 2)
        return across or self.column(x).count(digit) > max(1, self.height // 2)


class HalfOfTheWidth(Takuzu):
    """Counts in columns, too, up to half the width."""

    def has_too_many(self, x, y, digit):
        most = (self.width + 1) // 2
        return max(self.row(y).count(digit), self.column(x).count(digit)) > most


class PlayersKeptInNewGame(Takuzu):
    """Keeps the player to move from the game before."""

    def do_game(self, words):
        player = self.player
        answer = super().do_game(words)
        self.player = player
        return answer


class RefusedMoveTakesTheTurn(Takuzu):
    """Lets the other player move after a placement that was refused."""

    def do_play(self, words):
        lines, status = super().do_play(words)
        if status != DONE:
            self.player = 3 - self.player
        return lines, status


class OverOnlyWhenFull(Takuzu):
    """Calls the game unfinished as long as a cell is empty."""

    def do_winner(self, words):
        if any("." in row for row in self.grid):
            return ["unfinished"], DONE
        return super().do_winner(words)


class GenmoveOnlyProposes(Takuzu):
    """Names a move, and does not make it."""

    def do_genmove(self, words):
        grid, player = [list(row) for row in self.grid], self.player
        answer = super().do_genmove(words)
        self.grid, self.player = grid, player
        return answer


WRONG = {
    one.__name__: one
    for one in (
        *(ThreeFromTheEnds, ThreeInRowsOnly, ThreeAroundTheEdge, ThreeThroughGaps),
        *(HalfRoundedDown, HalfOfTheWidth, PlayersKeptInNewGame),
        *(RefusedMoveTakesTheTurn, OverOnlyWhenFull, GenmoveOnlyProposes),
    )
}

if __name__ == "__main__":
    talk(WRONG[sys.argv[1]]())
