"""NoGo for GTP, as a teacher wrote it: no captures, no suicide, no pass; who cannot move loses.

``play`` refuses with a successful reply, ``= illegal move: "b a1" (occupied)``. ``solve`` answers
the winner and, if that is the side to move, a winning move; ``unknown`` after ``timelimit``.
"""

import random
import sys
import time

LETTERS = "abcdefghjklmnopqrstuvwxyz"
NAMES = {"b": "black", "w": "white"}
OTHER = {"b": "w", "w": "b"}


class Refused(Exception):
    """The engine answers with a question mark."""


class Illegal(Exception):
    """A move is refused, with this reason."""


class TimeIsUp(Exception):
    """``solve`` has thought long enough."""


class NoGo:
    """One engine; a board is a dictionary from point to color."""

    def __init__(self):
        self.size = 5
        self.seconds = 5.0
        self.new_game()

    def new_game(self):
        self.board = {}
        self.turn = "b"
        self.moves = []

    # --- rules ----------------------------------------------------------------------------------

    def points(self):
        return [(row, column) for row in range(self.size) for column in range(self.size)]

    def around(self, point):
        row, column = point
        beside = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
        return [one for one in beside if 0 <= one[0] < self.size and 0 <= one[1] < self.size]

    def has_liberty(self, point):
        """Return whether the chain of the stone on a point has an empty point beside it."""
        color, chain, todo = self.board[point], {point}, [point]
        while todo:
            for one in self.around(todo.pop()):
                if one not in self.board:
                    return True
                if self.board[one] == color and one not in chain:
                    chain.add(one)
                    todo.append(one)
        return False

    def captures(self, point, color):
        """Return whether the stone on a point leaves a chain of the other color no liberty."""
        return any(
            self.board.get(one) == OTHER[color] and not self.has_liberty(one)
            for one in self.around(point)
        )

    def reason(self, point, color):
        """Return why a stone may not be played on a point; "" if it may."""
        if point in self.board:
            return "occupied"
        self.board[point] = color
        try:
            if self.captures(point, color):
                return "capture"
            return "" if self.has_liberty(point) else "suicide"
        finally:
            del self.board[point]

    def legal(self, color):
        return [point for point in self.points() if not self.reason(point, color)]

    def put(self, point, color):
        self.board[point] = color
        self.moves.append(point)
        self.turn = OTHER[color]

    def winner(self):
        """Return the color that has won, "" as long as somebody can move."""
        return "" if self.legal(self.turn) else OTHER[self.turn]

    # --- the solver -----------------------------------------------------------------------------

    def winning_move(self, color, known):
        """Return a winning move for the side to move, or None."""
        if time.monotonic() > self.ends:
            raise TimeIsUp
        key = frozenset(self.board.items())
        if key not in known:
            known[key] = next(
                (one for one in self.legal(color) if self.wins(one, color, known)), None
            )
        return known[key]

    def wins(self, point, color, known):
        self.board[point] = color
        try:
            return self.winning_move(OTHER[color], known) is None
        finally:
            del self.board[point]

    # --- commands -------------------------------------------------------------------------------

    def vertex(self, text):
        """Return the point that a vertex names."""
        column, row = LETTERS.find(text[:1].lower()), text[1:]
        if column < 0 or not row.isdecimal():
            raise Illegal("wrong coordinate")
        point = (int(row) - 1, column)
        if not (0 <= point[0] < self.size and column < self.size):
            raise Illegal("wrong coordinate")
        return point

    def color(self, text):
        if text.lower() not in NAMES:
            raise Illegal("wrong color")
        if text.lower() != self.turn:
            raise Illegal("wrong turn")
        return text.lower()

    @staticmethod
    def text(point):
        return f"{LETTERS[point[1]]}{point[0] + 1}"

    def do_boardsize(self, size):
        if not size.isdecimal() or not 1 <= int(size) <= 19:
            raise Refused("unacceptable size")
        self.size = int(size)
        self.new_game()

    def do_clear_board(self):
        self.new_game()

    def do_timelimit(self, seconds):
        self.seconds = float(seconds)

    def do_play(self, color, vertex):
        mine, point = self.color(color), self.vertex(vertex)
        if why := self.reason(point, mine):
            raise Illegal(why)
        self.put(point, mine)

    def do_undo(self):
        if not self.moves:
            raise Refused("cannot undo")
        self.turn = self.board.pop(self.moves.pop())

    def do_genmove(self, color):
        mine = self.color(color)
        legal = self.legal(mine)
        if not legal:
            return "resign"
        point = random.choice(legal)
        self.put(point, mine)
        return self.text(point)

    def do_solve(self):
        self.ends = time.monotonic() + self.seconds
        try:
            point = self.winning_move(self.turn, {})
        except TimeIsUp:
            return "unknown"
        return f"{self.turn} {self.text(point)}" if point else OTHER[self.turn]

    def do_showboard(self):
        rows = []
        for row in reversed(range(self.size)):
            cells = (self.board.get((row, column), ".") for column in range(self.size))
            rows.append(f"{row + 1} {' '.join(cells)}")
        return "\n" + "\n".join([*rows, f"  {' '.join(LETTERS[: self.size])}"])

    def do_gogui_rules_board_size(self):
        return str(self.size)

    def do_gogui_rules_side_to_move(self):
        return NAMES[self.turn]

    def do_gogui_rules_legal_moves(self):
        return " ".join(sorted(map(self.text, self.legal(self.turn))))

    def do_gogui_rules_final_result(self):
        winner = self.winner()
        return NAMES[winner] if winner else "unknown"

    def do_name(self):
        return "NoGo"

    def do_version(self):
        return "1"

    def do_protocol_version(self):
        return "2"

    def do_known_command(self, name):
        return "true" if name in self.commands() else "false"

    def do_list_commands(self):
        return "\n".join(self.commands())

    def do_quit(self):
        pass

    # --- the protocol ---------------------------------------------------------------------------

    def commands(self):
        names = [name[3:] for name in dir(self) if name.startswith("do_")]
        return [name.replace("gogui_rules", "gogui-rules") for name in names]

    def illegal(self, words, reason):
        """Return what is answered to a move that is refused."""
        return f'illegal move: "{" ".join(words)}" ({reason})'

    def handle(self, line):
        """Return the reply to a command."""
        name, *words = line.split()
        if name not in self.commands():
            return "? unknown command\n\n"
        method = getattr(self, f"do_{name.replace('-', '_')}")
        try:
            return f"= {method(*words) or ''}\n\n"
        except Illegal as why:
            return f"= {self.illegal(words, why)}\n\n"
        except Refused as why:
            return f"? {why}\n\n"
        except (TypeError, ValueError):
            return "? wrong arguments\n\n"


def talk(engine):
    """Answer commands until the end; ids are repeated."""
    for line in sys.stdin:
        words = line.split("#")[0].split()
        number = words.pop(0) if words and words[0].isdecimal() else ""
        if words:
            reply = engine.handle(" ".join(words))
            print(f"{reply[0]}{number}{reply[1:]}", end="", flush=True)
        if words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    talk(NoGo())
