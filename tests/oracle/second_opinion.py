"""A second opinion on every case file: four plain engines that share nothing with the oracle.

They follow the documents by definition and by brute force, on dictionaries of points, and know
the commands that the case files use. A case that both they and the oracle pass is hardly wrong by
an error in one of them. Go is scored by sgfmill.
"""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

from sgfmill import boards, common

LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
OTHER = {"b": "w", "w": "b"}


class Engine:
    """Stones by point ``(column, row)``, both from 1, and the commands that set them."""

    def __init__(self, size):
        self.empty_board(size, size)

    def empty_board(self, columns, rows):
        board = [(c, r) for r in range(1, rows + 1) for c in range(1, columns + 1)]
        self.points = dict.fromkeys(board)  # in this order, and soon looked up
        self.size = columns, rows
        self.stones = {}
        self.to_play = "b"
        self.history = []

    def reply(self, line):
        name, *words = line.split()
        return str(getattr(self, "do_" + name.replace("-", "_"))(*words))

    def do_boardsize(self, size):
        self.empty_board(int(size), int(size))
        return ""

    def do_clear_board(self):
        self.empty_board(*self.size)
        return ""

    def do_gogui_setup(self, *words):
        for color, vertex in zip(words[::2], words[1::2], strict=True):
            self.stones[self.point(vertex)] = color[0].lower()
        return ""

    def point(self, vertex):
        return LETTERS.index(vertex[0].upper()) + 1, int(vertex[1:])

    def vertex(self, point):
        return f"{LETTERS[point[0] - 1]}{point[1]}"

    def near(self, point):
        c, r = point
        return [p for p in ((c + 1, r), (c - 1, r), (c, r + 1), (c, r - 1)) if p in self.points]

    def corners(self, point):
        c, r = point
        return [p for p in self.points if abs(p[0] - c) == abs(p[1] - r) == 1]

    def group(self, point, stones):
        """The points connected to one that hold what it holds, and what lies around them."""
        inside, around, color = {point}, set(), stones.get(point)
        waiting = [point]
        while waiting:
            for other in self.near(waiting.pop()):
                if stones.get(other) != color:
                    around.add(other)
                elif other not in inside:
                    inside.add(other)
                    waiting.append(other)
        return inside, around

    def liberties(self, point, stones):
        return [p for p in self.group(point, stones)[1] if p not in stones]

    def region_colors(self, point, stones):
        return {stones[p] for p in self.group(point, stones)[1]}

    def after_move(self, color, point, stones):
        """The stones after a move, and the captured ones; suicide leaves no liberty."""
        stones = {**stones, point: color}
        captured = set()
        for p in self.near(point):
            if stones.get(p) == OTHER[color] and not self.liberties(p, stones):
                captured |= self.group(p, stones)[0]
        return {p: c for p, c in stones.items() if p not in captured}, captured


class GoScoring:
    """``score`` by sgfmill's board."""

    def __init__(self):
        self.board, self.komi = boards.Board(9), Fraction(0)

    def reply(self, line):
        name, *words = line.lower().split()
        if name in ("boardsize", "clear_board"):
            self.board = boards.Board(int(words[0]) if words else self.board.side)
        elif name == "komi":
            self.komi = Fraction(words[0])
        elif name == "play":
            self.play(words[0][0], words[1])
        else:
            assert name == "score"
            return self.score()
        return ""

    def play(self, color, vertex):
        if vertex != "pass":
            row, column = common.move_from_vertex(vertex, self.board.side)
            assert self.board.get(row, column) is None
            self.board.play(row, column, color)
            assert self.board.get(row, column) == color, "suicide"

    def score(self):
        lead = self.board.area_score() - self.komi
        if not lead:
            return "0"
        whole = lead.denominator == 1
        return ("B+" if lead > 0 else "W+") + str(abs(lead if whole else float(lead)))


@cache
def runs(columns, rows, length):
    points = {(c, r) for r in range(1, rows + 1) for c in range(1, columns + 1)}
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    found = [[(c + i * x, r + i * y) for i in range(length)] for c, r in points for x, y in steps]
    return [run for run in found if run[-1] in points]


class Gomoku(Engine):
    """Both Gomoku assignments."""

    def __init__(self):
        super().__init__(7)
        self.policy = "random"

    def empty_board(self, columns, rows):
        super().empty_board(columns, rows)
        self.winner = None

    def lines(self, length):
        """All runs of so many points in the four directions."""
        return runs(*self.size, length)

    def has_five(self, color, stones):
        own = {point for point, one in stones.items() if one == color}
        return any(map(own.issuperset, self.lines(5)))

    def empties(self):
        return [p for p in self.points if p not in self.stones]

    def is_over(self):
        return self.winner is not None or not self.empties()

    def do_play(self, color, vertex):
        """Refuse a move by the first of the three reasons."""
        if color.lower() not in ("b", "w", "black", "white"):
            return f'illegal move: "{color}" wrong color'
        point = self.point(vertex)
        if point not in self.points:
            return f'illegal move: "{vertex}" wrong coordinate'
        if point in self.stones:
            return f'illegal move: "{vertex}" occupied'
        self.put(color.lower()[0], point)
        return ""

    def put(self, color, point):
        assert self.winner is None, "a move after the end is underspecified"
        self.stones[point] = color
        self.to_play = OTHER[color]
        if self.has_five(color, self.stones):
            self.winner = color

    def must_be_settled(self):
        """The move that fills the board with a five is legal; what it leads to is open."""
        assert not self.winner or self.empties(), "a full board with a five is underspecified"

    def do_genmove(self, color):
        """Play the highest of the policy's moves, such as any player might."""
        self.must_be_settled()
        if self.winner == OTHER[color.lower()[0]]:
            return "resign"
        assert self.winner is None, "genmove by the winner is underspecified"
        if self.is_over():
            return "pass"
        move = max(self.policy_choice()[1])
        self.put(color.lower()[0], move)
        return self.vertex(move)

    def do_gogui_rules_legal_moves(self):
        assert self.size[0] < 10 or self.is_over(), (
            "the order of legal moves is underspecified from 10 on"
        )
        return " ".join(sorted(map(self.vertex, [] if self.is_over() else self.empties()))).lower()

    def do_gogui_rules_side_to_move(self):
        return {"b": "black", "w": "white"}[self.to_play]

    def do_gogui_rules_board_size(self):
        return self.size[0]

    def do_gogui_rules_final_result(self):
        self.must_be_settled()
        if self.winner:
            return {"b": "black", "w": "white"}[self.winner]
        return "draw" if self.is_over() else "unknown"

    def do_policy(self, policy):
        self.policy = policy
        return ""

    def do_policy_moves(self):
        kind, moves = self.policy_choice()
        return " ".join([kind, *sorted(map(self.vertex, moves))])

    def policy_choice(self):
        if self.is_over():
            return "", []
        me, you = self.to_play, OTHER[self.to_play]
        if self.policy == "rule_based":
            for kind, search, color in (
                ("Win", self.wins, me),
                ("BlockWin", self.wins, you),
                ("OpenFour", self.open_fours, me),
                ("BlockOpenFour", self.blocks, you),
            ):
                if found := search(color):
                    return kind, found
        return "Random", self.empties()

    def wins(self, color):
        return {p for p in self.empties() if self.has_five(color, {**self.stones, p: color})}

    def open_fours(self, color):
        return {point for point, _ in self.completions(color)}

    def completions(self, color):
        """Each point that makes ``.XXXX.``, with the six points of that."""
        for run in self.lines(6):
            ends, inner = (run[0], run[5]), run[1:5]
            gap = [p for p in inner if p not in self.stones]
            own = sum(self.stones.get(p) == color for p in inner)
            if own == 3 and len(gap) == 1 and not any(p in self.stones for p in ends):
                yield gap[0], run

    def blocks(self, color):
        """The union over all threes of the points common to all its completions."""
        threes = {}
        for gap, run in self.completions(color):
            three = tuple(p for p in run if self.stones.get(p) == color)
            empty = {gap, run[0], run[5]}
            threes[three] = threes.get(three, empty) & empty
        found = set().union(*threes.values())
        if found:
            self.assert_agreed(found, color)
        return found

    def assert_agreed(self, blocks, color):
        """Both readings of BlockOpenFour must agree: each block stops every open four."""
        for point in blocks:
            self.stones[point] = OTHER[color]
            left = self.open_fours(color)
            del self.stones[point]
            assert not left, "this position is underspecified"


class JavaGo(Engine):
    """The three methods, and the game with ko."""

    def __init__(self):
        super().__init__(11)

    def do_load_board(self, file):
        rows = [line.split() for line in Path(file).read_text().splitlines()]
        self.empty_board(len(rows[0]), len(rows))
        for r, row in enumerate(reversed(rows), start=1):
            for c, number in enumerate(row, start=1):
                if number != "0":
                    self.stones[c, r] = " bw"[int(number)]
        return ""

    def do_play(self, color, vertex):
        color = color.lower()[0]
        before = dict(self.stones)
        if vertex.lower() != "pass":
            assert self.may_play(color, self.point(vertex)), (color, vertex)
            self.stones, _ = self.after_move(color, self.point(vertex), self.stones)
        self.history.append((color, vertex.lower(), before))
        return ""

    def may_play(self, color, point):
        if point in self.stones:
            return False
        after, captured = self.after_move(color, point, self.stones)
        if not self.liberties(point, after):
            return False
        # A ko: one stone is taken back and the board is as it was before the last move.
        return not (len(captured) == 1 and self.history and after == self.history[-1][2])

    def do_can_play(self, color, vertex):
        return str(self.may_play(color.lower()[0], self.point(vertex))).lower()

    def do_is_legal(self, color, vertex):
        color, point = color.lower()[0], self.point(vertex)
        if point in self.stones:
            return "false"
        after, _ = self.after_move(color, point, self.stones)
        return str(bool(self.liberties(point, after))).lower()

    def do_is_captured(self, vertex):
        point = self.point(vertex)
        if point in self.stones:
            return str(not self.liberties(point, self.stones)).lower()
        return str(len(self.region_colors(point, self.stones)) == 1).lower()

    def do_score(self, color):
        color = color.lower()[0]
        dead = {
            p
            for p, c in self.stones.items()
            if c == OTHER[color] and not self.liberties(p, self.stones)
        }
        left = {p: c for p, c in self.stones.items() if p not in dead}
        empty = [p for p in self.points if p not in left]
        return len(dead) + sum(self.region_colors(p, left) == {color} for p in empty)

    def do_is_over(self):
        last = [(color, vertex) for color, vertex, _ in self.history[-2:]]
        return str(last == [("b", "pass"), ("w", "pass")]).lower()

    def do_captures(self, color):
        color = color.lower()[0]
        boards_ = [before for _, _, before in self.history] + [self.stones]
        moves = [(c, vertex != "pass") for c, vertex, _ in self.history]
        return sum(
            len(before) + 1 - len(after)
            for (mover, placed), (before, after) in zip(moves, pairwise(boards_), strict=True)
            if mover == color and placed
        )


class Gosensei(Engine):
    """Eyes, two eyes and eye spaces of Black, and the files they are read from."""

    letters = "abcdefghi"

    def __init__(self):
        super().__init__(9)

    def parse(self, file):
        stones = {}
        for line in Path(file).read_text().splitlines():
            if line.strip():
                color, column, row = line.split()
                point = self.letters.index(column.lower()) + 1, "123456789".index(row) + 1
                assert color in "bBwW"
                assert point not in stones
                stones[point] = color.lower()
        return stones

    def do_load_board(self, file):
        self.stones = self.parse(file)
        return ""

    def do_is_valid(self, file):
        try:
            self.parse(file)
        except (ValueError, AssertionError):
            return "false"
        return "true"

    def eyes(self):
        return [
            p
            for p in self.points
            if p not in self.stones
            and all(self.stones.get(q) == "b" for q in self.near(p))
            and sum(self.stones.get(q) != "b" for q in self.corners(p)) <= 1
        ]

    def do_eyes(self):
        n = len(self.eyes())
        return "There is 1 eye for black." if n == 1 else f"There are {n} eyes for black."

    def do_twoeyes(self):
        def count(near):
            eyes = self.eyes()
            return sum(any(near(p, q) for q in eyes if q != p) for p in eyes)

        numbers = {
            count(lambda p, q: abs(p[0] - q[0]) <= 2 or abs(p[1] - q[1]) <= 2),
            count(lambda p, q: abs(p[0] - q[0]) <= 2 and abs(p[1] - q[1]) <= 2),
        }
        assert len(numbers) == 1, "this position is underspecified"
        (n,) = numbers
        return "There is 1 two eye for black." if n == 1 else f"There are {n} two eye for blacks."

    def do_eyespaces(self):
        spaces = []
        for point in self.points:
            if point not in self.stones:
                region, around = self.group(point, self.stones)
                if region not in spaces and self.region_colors(point, self.stones) == {"b"}:
                    chain = self.group(next(iter(around)), self.stones)[0]
                    if around <= chain:
                        spaces.append(region)
                    else:
                        assert not self.one_diagonally(around), "this position is underspecified"
        assert all(len(space) > 1 for space in spaces), "this position is underspecified"
        n = len(spaces)
        if n == 1:
            return "There is 1 eyespace for black."
        return f"There are {n} eyespaces for black."

    def one_diagonally(self, stones):
        """Whether black stones are connected when diagonal links count."""
        found, waiting = set(), [next(iter(stones))]
        while waiting:
            point = waiting.pop()
            if point not in found:
                found.add(point)
                near = self.near(point) + self.corners(point)
                waiting += [p for p in near if self.stones.get(p) == "b"]
        return stones <= found

    def do_display(self):
        lines = []
        for r in range(9, 0, -1):
            marks = [self.stones.get((c, r), "+") for c in range(1, 10)]
            lines += [f"{r} " + "-".join(marks), "  " + " ".join("|" * 9)]
        return "\n".join([*lines[:-1], " ", "  A B C D E F G H I"])


ENGINES = {
    "go-scoring": GoScoring,
    "gomoku-rules": Gomoku,
    "gomoku-policy": Gomoku,
    "gosensei": Gosensei,
    "java-go": JavaGo,
}
