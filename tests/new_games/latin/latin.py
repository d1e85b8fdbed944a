# ruff: noqa - as others write
"""Latin: no digit twice in a row or column. Answers end with a status; an empty line follows it.

What is not known is answered '= -1', as by the course's programs since 2024.
"""

import sys


class CommandInterface:
    def __init__(self):
        self.commands = {
            "help": self.help,
            "game": self.game,
            "show": self.show,
            "play": self.play,
            "legal": self.legal,
            "genmove": self.genmove,
            "winner": self.winner,
        }
        self.board = [[None]]
        self.player = 1

    def process(self, line):
        words = line.lower().split()
        if not words or words[0] not in self.commands:
            print("? Unknown command.", file=sys.stderr)
            print("= -1\n", flush=True)
            return
        try:
            if self.commands[words[0]](words[1:]):
                print("= 1\n", flush=True)
        except Exception as error:
            print(f"Command {line!r} failed with exception: {error}", file=sys.stderr)
            print("= -1\n", flush=True)

    def main_loop(self):
        for line in sys.stdin:
            if line.split()[:1] == ["exit"]:
                print("= 1\n", flush=True)
                return
            self.process(line)

    def help(self, args):
        for command in self.commands:
            if command != "help":
                print(command)
        print("exit")
        return True

    def game(self, args):
        n, m = int(args[0]), int(args[1])
        if n < 1 or m < 1 or n > 20 or m > 20:
            raise ValueError("size")
        self.board = [[None] * n for _ in range(m)]
        self.player = 1
        return True

    def show(self, args):
        for row in self.board:
            print(" ".join("." if x is None else str(x) for x in row))
        return True

    def reason(self, x, y, num):
        if not 0 <= x < len(self.board[0]) or not 0 <= y < len(self.board):
            return "wrong coordinate"
        if num not in (1, 2, 3):
            return "wrong number"
        if self.board[y][x] is not None:
            return "occupied"
        if num in self.board[y] or num in [row[x] for row in self.board]:
            return "twice"
        return ""

    def play(self, args):
        try:
            if len(args) != 3:
                raise ValueError
            x, y, num = map(int, args)
            reason = self.reason(x, y, num)
        except ValueError:
            reason = "wrong number of arguments"
        if reason:
            print(f"= illegal move: {' '.join(args)} {reason}\n", flush=True)
            return False
        self.board[y][x] = num
        self.player = 3 - self.player
        return True

    def moves(self):
        return [
            (x, y, num)
            for y in range(len(self.board))
            for x in range(len(self.board[0]))
            for num in (1, 2, 3)
            if not self.reason(x, y, num)
        ]

    def legal(self, args):
        x, y, num = map(int, args)
        print("no" if self.reason(x, y, num) else "yes")
        return True

    def genmove(self, args):
        moves = self.moves()
        if not moves:
            print("resign")
            return True
        x, y, num = moves[0]
        self.board[y][x] = num
        self.player = 3 - self.player
        print(x, y, num)
        return True

    def winner(self, args):
        print("unfinished" if self.moves() else 3 - self.player)
        return True


CommandInterface().main_loop()
