"""NoGo once more, by somebody else: right, and all that may be written otherwise is.

The board is one row of cells with a wall around it. It names itself, draws and refuses in its own
words, lists moves from the other end, and its solver finds the last of the winning moves.
"""

import sys
import time

WALL, EMPTY = "#", "."
ALPHABET = "abcdefghjklmnopqrstuvwxyz"
WORDS = {"b": "black", "w": "white", "": "unknown"}


def start(size):
    """Return an empty board."""
    return list(WALL * (size + 2) + (EMPTY * size + WALL) * size + WALL * (size + 1))


class Game:
    def __init__(self, size):
        self.size = size
        self.width = size + 1
        self.cells = start(size)
        self.history = []
        self.steps = (1, -1, self.width, -self.width)

    @property
    def turn(self):
        return "bw"[len(self.history) % 2]

    def index(self, name):
        """Return the cell of a vertex, -1 for none on the board."""
        if len(name) < 2 or name[0].lower() not in ALPHABET or not name[1:].isdecimal():
            return -1
        column, row = ALPHABET.index(name[0].lower()), int(name[1:]) - 1
        if column >= self.size or not 0 <= row < self.size:
            return -1
        return (row + 1) * self.width + 1 + column

    def name(self, index):
        row, column = divmod(index - self.width - 1, self.width)
        return f"{ALPHABET[column]}{row + 1}"

    def breathes(self, index):
        """Return whether a chain has a liberty."""
        cells, color, seen, todo = self.cells, self.cells[index], set(), [index]
        while todo:
            here = todo.pop()
            if here in seen:
                continue
            seen.add(here)
            beside = [here + step for step in self.steps]
            if any(cells[one] == EMPTY for one in beside):
                return True
            todo += [one for one in beside if cells[one] == color]
        return False

    def is_legal(self, index, color):
        if self.cells[index] != EMPTY:
            return False
        self.cells[index] = color
        beside = [index + step for step in self.steps]
        alive = all(self.breathes(one) for one in (index, *beside) if self.cells[one] in "bw")
        self.cells[index] = EMPTY
        return alive

    def moves(self):
        return [i for i in range(len(self.cells)) if self.is_legal(i, self.turn)][::-1]

    def push(self, index):
        self.cells[index] = self.turn
        self.history.append(index)

    def pop(self):
        self.cells[self.history.pop()] = EMPTY

    def winning(self, ends):
        """Return a winning move, or 0; None when there is no time left."""
        if time.monotonic() > ends:
            return None
        for move in self.moves():
            self.push(move)
            answer = self.winning(ends)
            self.pop()
            if not answer:
                return move if answer == 0 else None
        return 0


class Engine:
    names = (
        *("list_commands", "known_command", "name", "version", "protocol_version", "quit"),
        *("boardsize", "clear_board", "play", "genmove", "undo", "solve", "timelimit"),
        *("gogui-rules_board_size", "gogui-rules_legal_moves", "gogui-rules_side_to_move"),
        *("gogui-rules_final_result", "showboard"),
    )

    def __init__(self):
        self.game = Game(5)
        self.patience = 5.0

    def handle(self, line):
        name, *words = line.split()
        if name not in self.names:
            return f"? {name}: never heard of it\n\n"
        try:
            ok, text = getattr(self, name.replace("-", "_"))(*words)
        except (TypeError, ValueError):
            ok, text = False, "that is not how it is asked"
        return f"{'=' if ok else '?'} {text}\n\n"

    def boardsize(self, size):
        if not 1 <= int(size) <= 19:
            return False, "too large or too small"
        self.game = Game(int(size))
        return True, ""

    def clear_board(self):
        self.game = Game(self.game.size)
        return True, ""

    def timelimit(self, seconds):
        self.patience = float(seconds)
        return True, ""

    def play(self, color, vertex):
        index = self.game.index(vertex)
        if color.lower() != self.game.turn:
            return True, "Illegal move, it is not for you to play"
        if index < 0 or not self.game.is_legal(index, color.lower()):
            return True, f"Illegal move, not on {vertex}"
        self.game.push(index)
        return True, ""

    def undo(self):
        if not self.game.history:
            return False, "nothing has been played"
        self.game.pop()
        return True, ""

    def genmove(self, color):
        if color.lower() != self.game.turn:
            return True, "Illegal move, the other one is to play"
        moves = self.game.moves()
        if not moves:
            return True, "resign"
        self.game.push(moves[0])
        return True, self.game.name(moves[0])

    def solve(self):
        move = self.game.winning(time.monotonic() + self.patience)
        if move is None:
            return True, "unknown"
        turn = self.game.turn
        return True, f"{turn} {self.game.name(move)}" if move else "wb"["bw".index(turn)]

    def showboard(self):
        width = self.game.width
        text = "".join(self.game.cells[width + 1 : -width])
        rows = [text[i : i + self.game.size] for i in range(0, len(text), width)]
        return True, "\n".join(rows[::-1])

    def gogui_rules_board_size(self):
        return True, self.game.size

    def gogui_rules_legal_moves(self):
        return True, " ".join(map(self.game.name, self.game.moves()))

    def gogui_rules_side_to_move(self):
        return True, WORDS[self.game.turn]

    def gogui_rules_final_result(self):
        over = not self.game.moves()
        return True, WORDS["bw"[1 - len(self.game.history) % 2] if over else ""]

    def name(self):
        return True, "Atari-Nichts"

    def version(self):
        return True, "0.9 beta"

    def protocol_version(self):
        return True, "2"

    def known_command(self, name):
        return True, "true" if name in self.names else "false"

    def list_commands(self):
        return True, "\n".join(self.names)

    def quit(self):
        return True, ""


def talk(engine):
    for line in sys.stdin:
        words = line.split()
        number = words.pop(0) if words and words[0].isdecimal() else ""
        if words:
            reply = engine.handle(" ".join(words))
            sys.stdout.write(reply[0] + number + reply[1:])
            sys.stdout.flush()
        if words[:1] == ["quit"]:
            break


if __name__ == "__main__":
    talk(Engine())
