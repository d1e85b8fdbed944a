from gtp_connection import GtpConnection, neighbors


class GtpConnectionGo1(GtpConnection):
    def __init__(self, name):
        GtpConnection.__init__(self, name)
        self.commands["score"] = self.score_cmd

    def score_cmd(self, _):
        stones = list(self.board.values())
        score = stones.count("b") - stones.count("w") - self.komi + self.territory()
        if score == 0:
            return "0"
        return f"B+{score}" if score > 0 else f"W+{-score}"

    def territory(self):
        empty = {(r, c) for r in range(self.size) for c in range(self.size)} - set(self.board)
        score = 0
        while empty:
            size, colors = self.region(empty)
            if len(colors) == 1:
                score += size if colors == {"b"} else -size
        return score

    def region(self, empty):
        rest, size, colors = [empty.pop()], 0, set()
        while rest:
            size += 1
            for beside in neighbors(self.size, rest.pop()):
                if beside in empty:
                    empty.remove(beside)
                    rest.append(beside)
                elif beside in self.board:
                    colors.add(self.board[beside])
        return size, colors
