"""Hex with one thing missing, for a fuzzer to find: ``python3 wrong_hex.py NAME``."""

import sys

from hex import NAMES, Hex, Refused, talk


class OtherDiagonal(Hex):
    """Has the rows lie half a point to the left, not to the right."""

    def around(self, point):
        for up, right in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)):
            row, column = point[0] + up, point[1] + right
            if 0 <= row < self.size and 0 <= column < self.size:
                yield row, column


class FourNeighbours(Hex):
    """Joins stones as on a board for Go."""

    def around(self, point):
        near = super().around(point)
        return (one for one in near if point[0] == one[0] or point[1] == one[1])


class NeverSideways(Hex):
    """Looks for a way that comes nearer to the other side with each step."""

    def has_joined(self, color):
        start, goal = self.sides(color)
        axis = 0 if color == "b" else 1
        row = {point for point in start if self.board.get(point) == color}
        for _ in range(self.size - 1):
            beside = {(one, point) for point in row for one in self.around(point)}
            ahead = {one for one, point in beside if one[axis] > point[axis]}
            row = {one for one in ahead if self.board.get(one) == color}
        return bool(row & goal)


class EndsAtTheSide(Hex):
    """Looks for a winner only when the last stone lies at a side of its color."""

    def winner(self):
        if not self.moves:
            return ""
        last = self.moves[-1]
        color = self.board[last]
        at_side = any(last in side for side in self.sides(color))
        return super().winner() if at_side else ""


class LooksAtTheNext(Hex):
    """Looks whether the color has won that is to move, not the one that has moved."""

    def winner(self):
        return self.turn if self.has_joined(self.turn) else ""


class UndoIsOver(Hex):
    """Takes back nothing when somebody has won."""

    def do_undo(self):
        if self.winner():
            raise Refused("game over")
        super().do_undo()


class OverwritesStones(Hex):
    """Lets a stone be put on one of the other color."""

    def do_play(self, color, vertex):
        mine, point = self.color(color), self.point(vertex)
        if self.board.get(point) == mine:
            raise Refused("occupied")
        self.put(point, mine)

    def do_undo(self):
        if not self.moves:
            raise Refused("cannot undo")
        self.turn = self.board.pop(self.moves.pop(), self.turn)


class WinnerKept(Hex):
    """Remembers the winner when the board is cleared, and forgets him with the next size."""

    won = ""

    def winner(self):
        self.won = self.won or super().winner()
        return self.won

    def do_boardsize(self, size):
        super().do_boardsize(size)
        self.won = ""

    def do_undo(self):
        super().do_undo()
        self.won = ""


class GenmoveAfterTheEnd(Hex):
    """Plays on when the other color has won."""

    def do_genmove(self, color):
        if self.winner() and self.empty():
            point = self.empty()[0]
            self.put(point, self.turn)
            return self.vertex(point)
        return super().do_genmove(color)


class DrawWhenFull(Hex):
    """Answers that nobody has won where the board is full."""

    def do_winner(self):
        return NAMES.get(self.winner(), "none") if self.empty() else "none"


WRONG = {
    one.__name__: one
    for one in (
        *(OtherDiagonal, FourNeighbours, NeverSideways, EndsAtTheSide, LooksAtTheNext, UndoIsOver),
        *(OverwritesStones, WinnerKept, GenmoveAfterTheEnd, DrawWhenFull),
    )
}

if __name__ == "__main__":
    talk(WRONG[sys.argv[1]]())
