# ruff: noqa - as others write
"""Glow: each stone lights up its row and column. It needs NumPy. GTP; refusals begin with '='."""

import sys

import numpy as np

NAMES = [
    "boardsize",
    "clear_board",
    "play",
    "komi",
    "light",
    "brightest",
    "leader",
    "showboard",
    "list_commands",
    "quit",
]


class Glow:
    def __init__(self):
        self.komi = 0.0
        self.begin(4)

    def begin(self, size):
        self.stones = np.zeros((size, size), dtype=int)

    def shine(self, color):
        own = (self.stones == color).astype(float)
        return own + 0.25 * (own.sum(axis=0)[None, :] + own.sum(axis=1)[:, None])

    def name(self, row, column):
        return f"{'abcdefgh'[column]}{row + 1}"

    def play(self, color, vertex):
        if color not in ("b", "w"):
            return f"Error: '{color}' is not a color"
        column, row = "abcdefgh".find(vertex[0]), int(vertex[1:]) - 1
        if not (0 <= row < len(self.stones) and 0 <= column < len(self.stones)):
            return f"Error: '{vertex}' is not on the board"
        if self.stones[row, column]:
            return f"Error: '{vertex}' is taken"
        self.stones[row, column] = 1 if color == "b" else -1
        return ""

    def light(self):
        black, white = self.shine(1).sum(), self.shine(-1).sum()
        return f"{black:g} {white + self.komi:g}"

    def brightest(self):
        both = self.shine(1) + self.shine(-1)
        every = np.argwhere(both == both.max())
        return " ".join(sorted(self.name(*one) for one in every))

    def leader(self):
        if (self.stones == 0).any():
            return "unknown"
        black, white = self.shine(1).sum(), self.shine(-1).sum() + self.komi
        return "black" if black > white else "white" if white > black else "draw"

    def answer(self, name, words):
        if name == "boardsize":
            return self.begin(int(words[0]))
        if name == "clear_board":
            return self.begin(len(self.stones))
        if name == "komi":
            self.komi = float(words[0])
            return ""
        if name == "list_commands":
            return "\n".join(NAMES)
        if name == "showboard":
            return "\n" + "\n".join(" ".join(".bw"[one] for one in row) for row in self.stones)
        if name in ("play", "light", "brightest", "leader"):
            return getattr(self, name)(*words)
        if name == "quit":
            return ""
        raise ValueError("unknown command")


game = Glow()
for line in sys.stdin:
    number, words = "", line.lower().split()
    if words and words[0].isdigit():
        number = words.pop(0)
    try:
        print(f"={number} {game.answer(words[0], words[1:]) or ''}\n", flush=True)
    except Exception as error:
        print(f"?{number} {error}\n", flush=True)
    if words[:1] == ["quit"]:
        break
