"""Othello with one thing missing, for a fuzzer to find: ``python3 wrong_othello.py NAME``."""

import sys

from othello import OTHER, STEPS, Othello, Refused, talk


class FirstDirectionOnly(Othello):
    """Flips in the first direction in which there is something to flip."""

    def flips(self, point, color):
        if point in self.board:
            return []
        lines = (self.line(point, color, step) for step in STEPS)
        return next((line for line in lines if line), [])


class NearestDiscOnly(Othello):
    """Flips the nearest disc of a longer line, and no other one."""

    def line(self, point, color, step):
        return super().line(point, color, step)[:1]


class OpenEnds(Othello):
    """Takes the edge of the board for the other end of a line."""

    def line(self, point, color, step):
        found = []
        row, column = point[0] + step[0], point[1] + step[1]
        while self.board.get((row, column)) == OTHER[color]:
            found.append((row, column))
            row, column = row + step[0], column + step[1]
        is_inside = 0 <= row < self.size and 0 <= column < self.size
        return found if not is_inside or self.board.get((row, column)) == color else []


class AroundTheEdge(Othello):
    """Goes on in the row above, or below, where a row ends."""

    def line(self, point, color, step):
        if step[0]:
            return super().line(point, color, step)
        found, flat = [], point[0] * self.size + point[1] + step[1]
        while self.board.get(divmod(flat, self.size)) == OTHER[color]:
            found.append(divmod(flat, self.size))
            flat += step[1]
        return found if self.board.get(divmod(flat, self.size)) == color else []


class PassAtAnyTime(Othello):
    """Lets a color pass that could move."""

    def do_play(self, color, vertex):
        if vertex.lower() == "pass":
            self.move(None, self.color(color))
            return
        super().do_play(color, vertex)


class NobodyPasses(Othello):
    """Refuses a pass, as if there were always a move."""

    def do_play(self, color, vertex):
        if vertex.lower() == "pass":
            raise Refused("illegal move")
        super().do_play(color, vertex)


class OverWhenOneIsStuck(Othello):
    """Calls the game over when the color to move cannot, and allows no more moves."""

    def is_over(self):
        return not self.legal(self.turn)

    def do_play(self, color, vertex):
        if self.is_over():
            raise Refused("game over")
        super().do_play(color, vertex)


class MovesOfTheOther(Othello):
    """Lists the moves of the color that has just moved, when the game has begun."""

    def do_legal_moves(self):
        if not self.before:
            return super().do_legal_moves()
        return " ".join(map(self.vertex, self.legal(OTHER[self.turn]))) or "pass"


class EmptyToTheWinner(Othello):
    """Gives the empty points to the winner, as some tournaments do."""

    def count(self, color):
        own = super().count(color)
        if not self.is_over() or own <= super().count(OTHER[color]):
            return own
        return own + self.size**2 - len(self.board)


class UndoKeepsTheFlips(Othello):
    """Takes back the disc, and not what it has flipped."""

    def do_undo(self):
        now = dict(self.board)
        super().do_undo()
        self.board = {point: now[point] for point in self.board}


WRONG = {
    one.__name__: one
    for one in (
        *(FirstDirectionOnly, NearestDiscOnly, OpenEnds, AroundTheEdge, PassAtAnyTime),
        *(NobodyPasses, OverWhenOneIsStuck, MovesOfTheOther, EmptyToTheWinner),
        UndoKeepsTheFlips,
    )
}

if __name__ == "__main__":
    talk(WRONG[sys.argv[1]]())
