"""What a course's own starter code is like: a log where it runs, no ids, ``b`` and ``w``.

Written from what real starter code does, in the order in which it does it. Students may not
change this file.
"""

import sys
import traceback

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
COLORS = {"b": "b", "w": "w"}


def neighbors(size, point):
    row, column = point
    around = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
    return [(r, c) for r, c in around if 0 <= r < size and 0 <= c < size]


class GtpConnection:
    def __init__(self, name, outfile="gtp_log"):
        self.file = open(outfile, "w")  # noqa: SIM115 - as it is done
        sys.stdout.write("\n")
        self.name = name
        self.komi = 0.0
        self.commands = {
            "name": lambda _: self.name,
            "version": lambda _: "0.1",
            "protocol_version": lambda _: "2",
            "boardsize": self.boardsize_cmd,
            "clear_board": lambda _: self.reset(self.size),
            "komi": self.komi_cmd,
            "play": self.play_cmd,
        }
        self.reset(7)

    def __del__(self):
        # Where the log could not be opened this hides why: "no attribute 'file'".
        self.file.close()

    def reset(self, size):
        self.size = size
        self.board = {}
        return ""

    def boardsize_cmd(self, args):
        return self.reset(int(args[0]))

    def komi_cmd(self, args):
        self.komi = float(args[0])
        return ""

    def play_cmd(self, args):
        color, name = COLORS[args[0].lower()], args[1].upper()
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

    def start_connection(self):
        line = sys.stdin.readline()
        while line:
            self.get_cmd(line)
            line = sys.stdin.readline()

    def get_cmd(self, command):
        if not command.strip() or command[0] == "#":
            return
        self.file.write(command)
        elements = command.strip().split()
        if elements[0].isdigit():
            del elements[0]  # and it is forgotten: no reply has an id
        name, args = elements[0], elements[1:]
        if name == "quit":
            self.respond()
            sys.exit()
        if name not in self.commands:
            self.error("Unknown command")
            return
        try:
            self.respond(self.commands[name](args))
        except Exception as e:
            traceback.print_exc(file=sys.stderr)
            self.error(str(e))
            raise

    def respond(self, response=""):
        print(f"= {response}\n", flush=True)

    def error(self, message):
        print(f"? {message}\n", flush=True)
