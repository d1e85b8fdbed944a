# ruff: noqa - as others write
"""Snort: no stone beside one of the other color; who cannot move loses. GTP; refusals are errors."""

import sys

LETTERS = "ABCDEFGHJ"
COMMANDS = """protocol_version name version list_commands known_command quit boardsize clear_board
play genmove legal_moves snort-result undo showboard""".split()


class Illegal(Exception):
    pass


class Board:
    def __init__(self, size):
        self.size = size
        self.moves = []

    @property
    def stones(self):
        return dict(self.moves)

    def legal(self, color):
        stones = self.stones
        other = {"b": "w", "w": "b"}[color]
        found = []
        for row in range(1, self.size + 1):
            for column in range(self.size):
                around = [
                    (column - 1, row),
                    (column + 1, row),
                    (column, row - 1),
                    (column, row + 1),
                ]
                if (column, row) in stones:
                    continue
                if other not in [stones.get(point) for point in around]:
                    found.append((column, row))
        return found

    def turn(self):
        return "b" if len(self.moves) % 2 == 0 else "w"


def name(point):
    return f"{LETTERS[point[0]]}{point[1]}"


def play(board, color, vertex):
    color = color.lower()
    if color not in ("b", "w"):
        raise Illegal("invalid color")
    if color != board.turn():
        raise Illegal("not your turn")
    for point in board.legal(color):
        if name(point) == vertex.upper():
            board.moves.append((point, color))
            return ""
    raise Illegal("illegal move")


def handle(board, command, words):
    if command == "list_commands":
        return "\n".join(COMMANDS)
    if command == "known_command":
        return "true" if words[0] in COMMANDS else "false"
    if command in ("name", "version", "protocol_version"):
        return "2"
    if command == "boardsize":
        if not 1 <= int(words[0]) <= 9:
            raise Illegal("unacceptable size")
        board.__init__(int(words[0]))
        return ""
    if command == "clear_board":
        board.__init__(board.size)
        return ""
    if command == "play":
        return play(board, words[0], words[1])
    if command == "undo":
        if not board.moves:
            raise Illegal("cannot undo")
        board.moves.pop()
        return ""
    if command == "legal_moves":
        return " ".join(map(name, board.legal(words[0])))
    if command == "genmove":
        if words[0] != board.turn():
            raise Illegal("not your turn")
        moves = board.legal(words[0])
        if not moves:
            return "resign"
        board.moves.append((moves[0], words[0]))
        return name(moves[0])
    if command == "snort-result":
        if board.legal(board.turn()):
            return "unknown"
        return "white" if board.turn() == "b" else "black"
    if command == "showboard":
        rows = range(board.size, 0, -1)
        cells = [[board.stones.get((c, r), ".") for c in range(board.size)] for r in rows]
        return "\n" + "\n".join(" ".join(row) for row in cells)
    if command == "quit":
        return ""
    raise Illegal("unknown command")


board = Board(4)
for line in sys.stdin:
    words = line.split()
    if not words:
        continue
    number = words.pop(0) if words[0].isdigit() else ""
    try:
        print(f"={number} {handle(board, words[0], words[1:])}\n", flush=True)
    except (Illegal, ValueError, IndexError, KeyError) as error:
        print(f"?{number} {error}\n", flush=True)
    if words[0] == "quit":
        break
