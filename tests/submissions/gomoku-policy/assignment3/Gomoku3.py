"""A made-up gomoku-policy submission, on top of the one for the rules."""

from gtp_connection import DIRECTIONS, GtpConnection


class Gomoku3(GtpConnection):
    def __init__(self):
        GtpConnection.__init__(self, "Gomoku3")
        self.policy = "random"
        self.commands["policy"] = self.set_policy
        self.commands["policy_moves"] = lambda _: self.policy_moves()

    def set_policy(self, words):
        self.policy = words[0]
        return ""

    def policy_moves(self):
        if self.result() != "unknown":
            return ""
        kind, moves = self.considered(self.to_play)
        return " ".join([kind, *sorted(map(self.name_of, moves))])

    def choices(self, color):
        return self.considered(color)[1]

    def considered(self, color):
        other = "white" if color == "black" else "black"
        rules = (
            ("Win", lambda: self.fives(color)),
            ("BlockWin", lambda: self.fives(other)),
            ("OpenFour", lambda: {move for move, *_ in self.open_fours(color)}),
            ("BlockOpenFour", lambda: self.blocks(other)),
        )
        if self.policy == "rule_based":
            for kind, rule in rules:
                if moves := rule():
                    return kind, list(moves)
        return "Random", self.empty()

    def fives(self, color):
        return {point for point in self.empty() if self.makes_five(point, color)}

    def open_fours(self, color):
        """Yield (move, its three stones, the two ends) for each open four that can be made."""
        for row in range(self.size):
            for column in range(self.size):
                for step in DIRECTIONS:
                    six = [(row + i * step[0], column + i * step[1]) for i in range(6)]
                    if not all(0 <= r < self.size and 0 <= c < self.size for r, c in six):
                        continue
                    ends, four = (six[0], six[5]), six[1:5]
                    stones = frozenset(p for p in four if self.board.get(p) == color)
                    gaps = [p for p in four if p not in self.board]
                    if len(stones) == 3 and gaps and not any(e in self.board for e in ends):
                        yield gaps[0], stones, ends

    def blocks(self, color):
        """A block is common to all the ways in which a three becomes an open four."""
        ways = {}
        for move, stones, ends in self.open_fours(color):
            ways.setdefault(stones, []).append({move, *ends})
        return {point for sets in ways.values() for point in set.intersection(*sets)}


Gomoku3().serve()
