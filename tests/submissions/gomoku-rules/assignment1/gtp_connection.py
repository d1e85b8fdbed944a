"""A made-up gomoku-rules submission: the game and its commands."""

import random
import sys

LETTERS = "abcdefghjklmnopqrst"
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
COLORS = {"b": "black", "black": "black", "w": "white", "white": "white"}


class GtpConnection:
    def __init__(self, name):
        self.commands = {
            "name": lambda _: name,
            "version": lambda _: "1",
            "boardsize": self.boardsize,
            "clear_board": lambda _: self.clear(),
            "play": self.play,
            "genmove": self.genmove,
            "gogui-rules_legal_moves": lambda _: " ".join(self.legal_moves()),
            "gogui-rules_side_to_move": lambda _: self.to_play,
            "gogui-rules_board_size": lambda _: str(self.size),
            "gogui-rules_final_result": lambda _: self.result(),
        }
        self.size = 7
        self.clear()

    def clear(self):
        self.board = {}
        self.to_play = "black"
        return ""

    def boardsize(self, words):
        self.size = int(words[0])
        return self.clear()

    def point(self, name):
        name = name.lower()
        row, column = int(name[1:]) - 1, LETTERS.index(name[0])
        if not (0 <= row < self.size and column < self.size):
            raise ValueError(name)
        return row, column

    def play(self, words):
        color = COLORS.get(words[0].lower())
        if color is None:
            return f'illegal move: "{words[0]}" wrong color'
        try:
            point = self.point(words[1])
        except ValueError:
            return f'illegal move: "{words[1]}" wrong coordinate'
        if point in self.board:
            return f'illegal move: "{words[1]}" occupied'
        self.put(point, color)
        return ""

    def put(self, point, color):
        self.board[point] = color
        self.to_play = "white" if color == "black" else "black"

    def run(self, point, step, color):
        """Return how many stones of a color lie beyond a point in one direction."""
        count = 0
        row, column = point[0] + step[0], point[1] + step[1]
        while self.board.get((row, column)) == color:
            count, row, column = count + 1, row + step[0], column + step[1]
        return count

    def makes_five(self, point, color):
        return any(
            self.run(point, (r, c), color) + self.run(point, (-r, -c), color) >= 4
            for r, c in DIRECTIONS
        )

    def winner(self):
        return next((c for p, c in self.board.items() if self.makes_five(p, c)), None)

    def empty(self):
        points = [(r, c) for r in range(self.size) for c in range(self.size)]
        return [point for point in points if point not in self.board]

    def result(self):
        return self.winner() or ("unknown" if self.empty() else "draw")

    def legal_moves(self):
        return sorted(map(self.name_of, self.empty())) if self.result() == "unknown" else []

    def name_of(self, point):
        return f"{LETTERS[point[1]]}{point[0] + 1}"

    def genmove(self, words):
        if self.winner():
            return "resign"
        if not self.empty():
            return "pass"
        move = random.choice(self.choices(COLORS[words[0].lower()]))
        self.put(move, COLORS[words[0].lower()])
        return self.name_of(move)

    def choices(self, color):
        return self.empty()

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
