"""Othello by somebody else: right, and all that may be written otherwise is.

The board is a text with a border; a pass is kept in the list of moves, and ``undo`` plays all of
them again but the last one. ``genmove`` takes the move that flips most.
"""

import sys

FILES = "abcdefghjk"
COLORS = "xo"  # black and white within this program


class Position:
    def __init__(self, size):
        self.size = size
        self.width = size + 2
        self.cells = [" "] * self.width**2
        for row in range(1, size + 1):
            self.cells[row * self.width + 1 : row * self.width + size + 1] = ["."] * size
        corner = (size // 2) * self.width + size // 2
        for place, disc in ((0, "o"), (1, "x"), (self.width, "x"), (self.width + 1, "o")):
            self.cells[corner + place] = disc
        self.mover = 0

    def taken(self, at):
        """Return all discs that change sides."""
        if self.cells[at] != ".":
            return []
        mine, theirs, found = COLORS[self.mover], COLORS[1 - self.mover], []
        for step in (1, self.width + 1, self.width, self.width - 1):
            for way in (step, -step):
                reach = at + way
                while self.cells[reach] == theirs:
                    reach += way
                if self.cells[reach] == mine:
                    found += range(at + way, reach, way)
        return found

    def moves(self):
        return [at for at in range(len(self.cells)) if self.taken(at)]

    def play(self, at):
        """Play, or pass with 0."""
        for one in [at, *self.taken(at)] if at else []:
            self.cells[one] = COLORS[self.mover]
        self.mover = 1 - self.mover

    def is_over(self):
        if self.moves():
            return False
        self.mover = 1 - self.mover
        try:
            return not self.moves()
        finally:
            self.mover = 1 - self.mover


class Engine:
    def __init__(self):
        self.size, self.played = 8, []
        self.position = Position(8)

    def at(self, word):
        if word.lower() == "pass":
            return 0
        column, row = FILES.index(word[0].lower()), int(word[1:])
        if column >= self.size or not 0 < row <= self.size:
            raise ValueError("off the board")
        return row * self.position.width + column + 1

    def word(self, at):
        row, column = divmod(at, self.position.width)
        return f"{FILES[column - 1]}{row}" if at else "pass"

    def move(self, color, at):
        if color.lower() != "bw"[self.position.mover]:
            raise ValueError("wait for your turn")
        if at not in (self.position.moves() or [0]):
            raise ValueError("that flips nothing")
        self.played.append(at)
        self.position.play(at)

    def replay(self, size, moves):
        self.size, self.played, self.position = size, list(moves), Position(size)
        for at in moves:
            self.position.play(at)

    def do_boardsize(self, size):
        if size not in {"4", "6", "8", "10"}:
            raise ValueError("an even size, please")
        self.replay(int(size), [])

    def do_clear_board(self):
        self.replay(self.size, [])

    def do_undo(self):
        if not self.played:
            raise ValueError("nothing to undo")
        self.replay(self.size, self.played[:-1])

    def do_play(self, color, vertex):
        self.move(color, self.at(vertex))

    def do_genmove(self, color):
        moves = self.position.moves() or [0]
        best = max(moves, key=lambda at: len(self.position.taken(at)))
        self.move(color, best)
        return self.word(best).upper()

    def do_legal_moves(self):
        return " ".join(self.word(at) for at in reversed(self.position.moves() or [0]))

    def discs(self):
        return [self.position.cells.count(one) for one in COLORS]

    def do_discs(self):
        return "{} {}".format(*self.discs())

    def do_final_score(self):
        if not self.position.is_over():
            raise ValueError("there is more to play")
        black, white = self.discs()
        return f"{'W' if black < white else 'B'}+{abs(black - white)}" if black != white else "0"

    def do_side_to_move(self):
        return ("black", "white")[self.position.mover]

    def do_showboard(self):
        return "\n".join("".join(self.position.cells).split())

    def do_name(self):
        return "Reversal"

    def do_list_commands(self):
        return "\n".join(name[3:] for name in dir(self) if name.startswith("do_"))

    def do_quit(self):
        pass

    def answer(self, name, words):
        """Return a reply without its id: a status and a text."""
        try:
            return "=", getattr(self, f"do_{name}")(*words) or ""
        except (AttributeError, IndexError, TypeError, ValueError) as why:
            return "?", why


engine = Engine()
for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words and words[0].isdecimal() else ""
    if words:
        status, text = engine.answer(words[0], words[1:])
        sys.stdout.write(f"{status}{number} {text}\n\n")
        sys.stdout.flush()
    if words[:1] == ["quit"]:
        break
