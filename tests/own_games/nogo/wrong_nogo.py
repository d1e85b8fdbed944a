"""NoGo with one thing missing, for a fuzzer to find: ``python3 wrong_nogo.py NAME``."""

import sys

from nogo import OTHER, Illegal, NoGo, talk


class SuicideOfChains(NoGo):
    """Looks for the liberties of the new stone alone, so that a chain may lose its last one."""

    def reason(self, point, color):
        why = super().reason(point, color)
        own = any(self.board.get(one) == color for one in self.around(point))
        return "" if why == "suicide" and own else why


class CapturesSingleStones(NoGo):
    """Sees the capture of a single stone, and not that of a chain."""

    def captures(self, point, color):
        return any(
            self.board.get(one) == OTHER[color]
            and all(self.board.get(beside) == color for beside in self.around(one))
            for one in self.around(point)
        )


class FirstNeighbourOnly(NoGo):
    """Looks at the first neighbour of the other color, and at no other one."""

    def captures(self, point, color):
        for one in self.around(point):
            if self.board.get(one) == OTHER[color]:
                return not self.has_liberty(one)
        return False


class RefusedStoneStays(NoGo):
    """Tries a move on the board, and leaves the stone there when it is refused as a capture."""

    def do_play(self, color, vertex):
        mine, point = self.color(color), self.vertex(vertex)
        if why := self.reason(point, mine):
            if why == "capture":
                self.board[point] = mine
            raise Illegal(why)
        self.put(point, mine)


class ClearKeepsTurn(NoGo):
    """Takes the stones away for a new game, and keeps the side to move."""

    def do_clear_board(self):
        turn = self.turn
        self.new_game()
        self.turn = turn


class GenmoveKeepsTurn(NoGo):
    """Plays a move of its own without passing the turn on."""

    def do_genmove(self, color):
        text = super().do_genmove(color)
        self.turn = color.lower()
        return text


class GenmoveCommitsSuicide(NoGo):
    """Chooses among all points on which nothing is captured: right until the board is full."""

    def do_genmove(self, color):
        mine = self.color(color)
        for point in self.points():
            if self.reason(point, mine) in ("", "suicide"):
                self.put(point, mine)
                return self.text(point)
        return "resign"


class EndsWhenBothAreStuck(NoGo):
    """Calls the game over when neither color can move."""

    def winner(self):
        return "" if self.legal("b") or self.legal("w") else OTHER[self.turn]


class PassIsAMove(NoGo):
    """Lets a color pass, as in Go."""

    def do_play(self, color, vertex):
        if vertex.lower() == "pass":
            self.turn = OTHER[self.color(color)]
            return
        super().do_play(color, vertex)


class UndoKeepsTurn(NoGo):
    """Takes the stone back, and not the turn."""

    def do_undo(self):
        turn = self.turn
        super().do_undo()
        self.turn = turn


# --- solvers -----------------------------------------------------------------------------------


class WhoCannotMoveWins(NoGo):
    """Solves the game the wrong way round."""

    def winning_move(self, color, known):
        legal = self.legal(color)
        key = frozenset(self.board.items())
        if key not in known:
            winning = (one for one in legal if self.wins(one, color, known))
            known[key] = next(winning, None) if legal else (0, 0)
        return known[key]


class AnyMoveWins(NoGo):
    """Knows who wins, and names the first legal move."""

    def do_solve(self):
        answer = super().do_solve()
        return f"{answer[0]} {self.text(self.legal(self.turn)[0])}" if " " in answer else answer


class NamesTheNextMove(NoGo):
    """Names the legal move after the winning one, the last one if there is none."""

    def do_solve(self):
        answer = super().do_solve()
        if " " not in answer:
            return answer
        legal = list(map(self.text, self.legal(self.turn)))
        after = min(legal.index(answer[2:]) + 1, len(legal) - 1)
        return f"{answer[0]} {legal[after]}"


class SolvesForBlack(NoGo):
    """Thinks that Black is to move."""

    def do_solve(self):
        turn, self.turn = self.turn, "b"
        answer = super().do_solve()
        self.turn = turn
        return answer


class FourMovesDeep(NoGo):
    """Looks four moves ahead, and hopes then."""

    depth = 0

    def winning_move(self, color, known):
        if self.depth == 4:
            legal = self.legal(color)
            return legal[0] if legal else None
        return next((one for one in self.legal(color) if self.wins(one, color, {})), None)

    def wins(self, point, color, known):
        self.depth += 1
        try:
            return super().wins(point, color, known)
        finally:
            self.depth -= 1


class ThreeMovesWide(NoGo):
    """Tries no more than three moves in each position."""

    def winning_move(self, color, known):
        key = frozenset(self.board.items())
        if key not in known:
            tried = self.legal(color)[:3]
            known[key] = next((one for one in tried if self.wins(one, color, known)), None)
        return known[key]


class SolvePlays(NoGo):
    """Leaves the winning move on the board."""

    def do_solve(self):
        answer = super().do_solve()
        if " " in answer:
            self.put(self.vertex(answer[2:]), self.turn)
        return answer


class SolvePassesTheTurn(NoGo):
    """Is the other color's turn after solving a lost position."""

    def do_solve(self):
        answer = super().do_solve()
        if " " not in answer:
            self.turn = OTHER[self.turn]
        return answer


class SolvesWithSuicide(NoGo):
    """Plays by the rules, and solves without the one about suicide."""

    is_solving = False

    def reason(self, point, color):
        why = super().reason(point, color)
        return "" if self.is_solving and why == "suicide" else why

    def do_solve(self):
        self.is_solving = True
        answer = super().do_solve()
        self.is_solving = False
        return answer


class WinnerAsAName(NoGo):
    """Names the winner only where the side to move loses, and only a move where it wins."""

    def do_solve(self):
        answer = super().do_solve()
        return answer[2:] if " " in answer else answer


PLAYERS = (
    *(SuicideOfChains, CapturesSingleStones, FirstNeighbourOnly, RefusedStoneStays),
    *(ClearKeepsTurn, GenmoveKeepsTurn, GenmoveCommitsSuicide, EndsWhenBothAreStuck),
    *(PassIsAMove, UndoKeepsTurn),
)
SOLVERS = (
    *(WhoCannotMoveWins, AnyMoveWins, NamesTheNextMove, SolvesForBlack, FourMovesDeep),
    *(ThreeMovesWide, SolvePlays, SolvePassesTheTurn, SolvesWithSuicide, WinnerAsAName),
)
WRONG = {one.__name__: one for one in (*PLAYERS, *SOLVERS)}

if __name__ == "__main__":
    talk(WRONG[sys.argv[1]]())
