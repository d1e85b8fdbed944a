"""Othello for GTP: who flips nothing may not play, and passes if there is no other move."""

import random
import sys

LETTERS = "abcdefghjklmnopqrstuvwxyz"
NAMES, OTHER = {"b": "black", "w": "white"}, {"b": "w", "w": "b"}
STEPS = [(up, right) for up in (-1, 0, 1) for right in (-1, 0, 1) if up or right]


class Refused(Exception):
    """The engine answers with a question mark."""


class Othello:
    def __init__(self):
        self.size = 8
        self.do_clear_board()

    def do_clear_board(self):
        low, high = self.size // 2 - 1, self.size // 2
        self.board = {(low, low): "w", (high, high): "w", (low, high): "b", (high, low): "b"}
        self.turn = "b"
        self.before = []

    def line(self, point, color, step):
        """Return the discs that a move would flip in one direction."""
        found = []
        row, column = point[0] + step[0], point[1] + step[1]
        while self.board.get((row, column)) == OTHER[color]:
            found.append((row, column))
            row, column = row + step[0], column + step[1]
        return found if self.board.get((row, column)) == color else []

    def flips(self, point, color):
        if point in self.board:
            return []
        return [one for step in STEPS for one in self.line(point, color, step)]

    def legal(self, color):
        points = [(row, column) for row in range(self.size) for column in range(self.size)]
        return [point for point in points if self.flips(point, color)]

    def is_over(self):
        return not self.legal("b") and not self.legal("w")

    def move(self, point, color):
        """Play on a point, or pass (None)."""
        self.before.append((dict(self.board), self.turn))
        if point:
            self.board |= dict.fromkeys([point, *self.flips(point, color)], color)
        self.turn = OTHER[color]

    def count(self, color):
        return sum(one == color for one in self.board.values())

    def color(self, text):
        if text.lower() != self.turn:
            raise Refused("not the color to move")
        return text.lower()

    def point(self, text):
        column, row = LETTERS.find(text[:1].lower()), text[1:]
        if not row.isdecimal() or not (0 <= column < self.size and 1 <= int(row) <= self.size):
            raise Refused("no such point")
        return int(row) - 1, column

    @staticmethod
    def vertex(point):
        return f"{LETTERS[point[1]]}{point[0] + 1}"

    def do_boardsize(self, size):
        if size not in ("4", "6", "8", "10"):
            raise Refused("unacceptable size")
        self.size = int(size)
        self.do_clear_board()

    def do_play(self, color, vertex):
        mine = self.color(color)
        point = None if vertex.lower() == "pass" else self.point(vertex)
        if point not in (self.legal(mine) or [None]):
            raise Refused("illegal move")
        self.move(point, mine)

    def do_genmove(self, color):
        mine = self.color(color)
        point = random.choice(self.legal(mine) or [None])
        self.move(point, mine)
        return self.vertex(point) if point else "pass"

    def do_undo(self):
        if not self.before:
            raise Refused("cannot undo")
        self.board, self.turn = self.before.pop()

    def do_legal_moves(self):
        return " ".join(map(self.vertex, self.legal(self.turn))) or "pass"

    def do_discs(self):
        return f"{self.count('b')} {self.count('w')}"

    def do_final_score(self):
        if not self.is_over():
            raise Refused("not over")
        ahead = self.count("b") - self.count("w")
        return f"{'B' if ahead > 0 else 'W'}+{abs(ahead)}" if ahead else "0"

    def do_side_to_move(self):
        return NAMES[self.turn]

    def do_showboard(self):
        line = range(self.size)
        rows = ([self.board.get((row, column), ".") for column in line] for row in reversed(line))
        return "\n".join(map(" ".join, rows))

    def do_name(self):
        return "Othello"

    def do_list_commands(self):
        return "\n".join(name[3:] for name in dir(self) if name.startswith("do_"))

    def do_quit(self):
        pass

    def handle(self, line):
        """Return the reply to a command."""
        name, *words = line.split()
        command = getattr(self, f"do_{name}", None)
        try:
            return f"= {command(*words) or ''}\n\n" if command else "? unknown command\n\n"
        except Refused as why:
            return f"? {why}\n\n"
        except TypeError:
            return "? wrong arguments\n\n"


def talk(engine):
    for line in sys.stdin:
        words = line.split()
        number = words.pop(0) if words and words[0].isdecimal() else ""
        if words:
            reply = engine.handle(" ".join(words))
            print(f"{reply[0]}{number}{reply[1:]}", end="", flush=True)
        if words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    talk(Othello())
