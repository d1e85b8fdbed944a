"""The course's part of a made-up go-scoring submission: a board, and GTP without a score."""

import sys

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def neighbors(size, point):
    row, column = point
    around = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
    return [(r, c) for r, c in around if 0 <= r < size and 0 <= c < size]


class GtpConnection:
    def __init__(self, name):
        self.name = name
        self.komi = 0.0
        self.commands = {
            "name": lambda _: self.name,
            "version": lambda _: "1",
            "boardsize": self.boardsize,
            "clear_board": lambda _: self.clear(),
            "komi": self.set_komi,
            "play": self.play,
        }
        self.size = 7
        self.clear()

    def clear(self):
        self.board = {}
        return ""

    def boardsize(self, words):
        self.size = int(words[0])
        return self.clear()

    def set_komi(self, words):
        self.komi = float(words[0])
        return ""

    def play(self, words):
        color, name = words[0][0].lower(), words[1].upper()
        if name == "PASS":
            return ""
        point = int(name[1:]) - 1, LETTERS.index(name[0])
        self.board[point] = color
        for beside in neighbors(self.size, point):
            if self.board.get(beside) not in (None, color):
                self.capture(beside)
        return ""

    def capture(self, point):
        chain, rest = {point}, [point]
        while rest:
            for beside in neighbors(self.size, rest.pop()):
                if beside not in self.board:
                    return
                if self.board[beside] == self.board[point] and beside not in chain:
                    chain.add(beside)
                    rest.append(beside)
        for stone in chain:
            del self.board[stone]

    def serve(self):
        for line in sys.stdin:
            words = line.split()
            number = words.pop(0) if words and words[0].isdigit() else ""
            if not words:
                continue
            if words[0] == "quit":
                print(f"={number}\n", flush=True)
                return
            if words[0] in self.commands:
                print(f"={number} {self.commands[words[0]](words[1:])}\n", flush=True)
            else:
                print(f"?{number} unknown command\n", flush=True)
