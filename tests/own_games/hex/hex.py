"""Hex for GTP: Black begins and joins the top with the bottom, White the left with the right.

The points beside ``b2`` are ``a2 c2 b1 b3 a1 c3``: a row lies half a point to the right of the one
above it. Nobody may play when somebody has won. ``winner`` answers ``black``, ``white`` or
``none``; a move that is refused is an error.
"""

import random
import sys

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NAMES = {"b": "black", "w": "white"}
OTHER = {"b": "w", "w": "b"}
STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1))


class Refused(Exception):
    """The engine answers with a question mark."""


class Hex:
    """One engine; points are (row, column), the first row the bottom."""

    def __init__(self):
        self.size = 5
        self.new_game()

    def new_game(self):
        self.board = {}
        self.moves = []
        self.turn = "b"

    # --- rules ----------------------------------------------------------------------------------

    def around(self, point):
        for up, right in STEPS:
            row, column = point[0] + up, point[1] + right
            if 0 <= row < self.size and 0 <= column < self.size:
                yield row, column

    def sides(self, color):
        """Return the points of both sides that a color joins."""
        ends, line = (0, self.size - 1), range(self.size)
        if color == "b":
            return tuple({(end, i) for i in line} for end in ends)
        return tuple({(i, end) for i in line} for end in ends)

    def has_joined(self, color):
        start, goal = self.sides(color)
        todo = [point for point in start if self.board.get(point) == color]
        seen = set(todo)
        while todo:
            point = todo.pop()
            if point in goal:
                return True
            fresh = [one for one in self.around(point) if self.board.get(one) == color]
            todo += [one for one in fresh if one not in seen]
            seen.update(fresh)
        return False

    def winner(self):
        return next((color for color in "bw" if self.has_joined(color)), "")

    def empty(self):
        points = ((row, column) for row in range(self.size) for column in range(self.size))
        return [point for point in points if point not in self.board]

    def put(self, point, color):
        self.board[point] = color
        self.moves.append(point)
        self.turn = OTHER[color]

    # --- commands -------------------------------------------------------------------------------

    def color(self, text):
        if text.lower() not in NAMES:
            raise Refused("no such color")
        if text.lower() != self.turn:
            raise Refused("not your turn")
        if self.winner():
            raise Refused("game over")
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
        if not size.isdecimal() or not 1 <= int(size) <= 26:
            raise Refused("unacceptable size")
        self.size = int(size)
        self.new_game()

    def do_clear_board(self):
        self.new_game()

    def do_play(self, color, vertex):
        mine, point = self.color(color), self.point(vertex)
        if point in self.board:
            raise Refused("occupied")
        self.put(point, mine)

    def do_undo(self):
        if not self.moves:
            raise Refused("cannot undo")
        self.turn = self.board.pop(self.moves.pop())

    def do_genmove(self, color):
        if self.winner():
            return "resign"
        mine, point = self.color(color), random.choice(self.empty())
        self.put(point, mine)
        return self.vertex(point)

    def do_winner(self):
        return NAMES.get(self.winner(), "none")

    def do_turn(self):
        return NAMES[self.turn]

    def do_empty(self):
        return " ".join(sorted(map(self.vertex, self.empty())))

    def do_showboard(self):
        rows = reversed(range(self.size))
        return "\n".join(
            " " * indent + " ".join(self.board.get((row, i), ".") for i in range(self.size))
            for indent, row in enumerate(rows)
        )

    def do_name(self):
        return "Hex"

    def do_version(self):
        return "1"

    def do_protocol_version(self):
        return "2"

    def do_known_command(self, name):
        return "true" if hasattr(self, f"do_{name}") else "false"

    def do_list_commands(self):
        return "\n".join(name[3:] for name in dir(self) if name.startswith("do_"))

    def do_quit(self):
        pass

    def handle(self, line):
        """Return the reply to a command."""
        name, *words = line.split()
        command = getattr(self, f"do_{name}", None)
        if command is None:
            return "? unknown command\n\n"
        try:
            return f"= {command(*words) or ''}\n\n"
        except Refused as why:
            return f"? {why}\n\n"
        except TypeError:
            return "? wrong arguments\n\n"


def talk(engine):
    """Answer commands until the end; ids are repeated."""
    for line in sys.stdin:
        words = line.split()
        number = words.pop(0) if words and words[0].isdecimal() else ""
        if words:
            reply = engine.handle(" ".join(words))
            print(f"{reply[0]}{number}{reply[1:]}", end="", flush=True)
        if words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    talk(Hex())
