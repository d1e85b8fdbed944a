"""Hex by another author, right in its own words.

White begins and joins the left with the right, Black the top with the bottom, so that both
programs agree when colors and coordinates are exchanged. ``winner`` answers ``unknown`` as long as
nobody has won. Stones that touch are kept in one group, found by its root (union and find).
"""

import sys

A = ord("a")
LEFT, RIGHT, TOP, BOTTOM = "left", "right", "top", "bottom"


class Groups:
    """Which of a color's stones and sides are joined."""

    def __init__(self):
        self.parent = {}

    def root(self, one):
        parent = self.parent.setdefault(one, one)
        return one if parent == one else self.root(parent)

    def join(self, one, other):
        self.parent[self.root(one)] = self.root(other)


class Board:
    def __init__(self, size):
        self.size = size
        self.cells = {}
        self.history = []
        self.build()

    @property
    def turn(self):
        return "white" if len(self.history) % 2 == 0 else "black"

    def build(self):
        self.cells = {}
        self.groups = {"white": Groups(), "black": Groups()}
        for number, point in enumerate(self.history):
            self.lay(point, ("white", "black")[number % 2])

    def lay(self, point, color):
        self.cells[point] = color
        x, y = point
        groups = self.groups[color]
        place, first, last = (x, LEFT, RIGHT) if color == "white" else (y, TOP, BOTTOM)
        if place == 0:
            groups.join(point, first)
        if place == self.size - 1:
            groups.join(point, last)
        for beside in (
            (x - 1, y),
            (x + 1, y),
            (x, y - 1),
            (x, y + 1),
            (x + 1, y + 1),
            (x - 1, y - 1),
        ):
            if self.cells.get(beside) == color:
                groups.join(point, beside)

    @property
    def winner(self):
        if self.groups["white"].root(LEFT) == self.groups["white"].root(RIGHT):
            return "white"
        if self.groups["black"].root(TOP) == self.groups["black"].root(BOTTOM):
            return "black"
        return "unknown"

    def free(self):
        line = range(self.size)
        return [(x, y) for y in line for x in line if (x, y) not in self.cells]


def parse(word, size):
    x, y = ord(word[0].lower()) - A, int(word[1:]) - 1
    if not (0 <= x < size and 0 <= y < size):
        raise ValueError("outside")
    return x, y


def spell(point):
    return f"{chr(A + point[0])}{point[1] + 1}"


COLORS = {"b": "black", "w": "white", "black": "black", "white": "white"}


class Engine:
    """A method for each command; ValueError and IndexError are what is refused."""

    def __init__(self):
        self.board = Board(5)

    def boardsize(self, size):
        if not 1 <= int(size) <= 26:
            raise ValueError("I have no such board")
        self.board = Board(int(size))

    def clear_board(self):
        self.board = Board(self.board.size)

    def _move(self, color, point):
        if COLORS.get(color.lower()) != self.board.turn or self.board.winner != "unknown":
            raise ValueError("it is not time for that")
        if point in self.board.cells:
            raise ValueError("there is a stone")
        self.board.lay(point, self.board.turn)
        self.board.history.append(point)

    def play(self, color, vertex):
        self._move(color, parse(vertex, self.board.size))

    def genmove(self, color):
        if self.board.winner != "unknown":
            return "resign"
        point = self.board.free()[-1]
        self._move(color, point)
        return spell(point)

    def undo(self):
        self.board.history.pop()
        self.board.build()

    def winner(self):
        return self.board.winner

    def turn(self):
        return self.board.turn

    def empty(self):
        return " ".join(map(spell, self.board.free()))

    def showboard(self):
        return "\n".join(f"{spell(one)}: {color}" for one, color in self.board.cells.items())

    def name(self):
        return "Sechseck"

    def known_command(self, name):
        return "true" if name in vars(Engine) else "false"

    def list_commands(self):
        return "\n".join(name for name in vars(Engine) if not name.startswith("_"))

    def quit(self):
        return ""


def answer(engine, words):
    """Return a reply without its id: a status and a text."""
    command = vars(Engine).get(words[0])
    if command is None or words[0].startswith("_"):
        return "?", "what?"
    try:
        return "=", command(engine, *words[1:]) or ""
    except (ValueError, IndexError, TypeError) as why:
        return "?", why


engine = Engine()
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words and words[0].isdecimal() else ""
    if words:
        status, text = answer(engine, words)
        sys.stdout.write(f"{status}{number} {text}\n\n")
        sys.stdout.flush()
    if words[:1] == ["quit"]:
        break
