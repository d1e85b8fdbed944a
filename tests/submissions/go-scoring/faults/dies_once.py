"""Go1.py of a right engine that dies when it scores a board with a black stone on B2."""

import os
import sys

sys.path.append(os.path.join(sys.path[0], "..", "util"))

from gtp_connection_go1 import GtpConnectionGo1


class Go1(GtpConnectionGo1):
    def score_cmd(self, words):
        if self.board.get((1, 1)) == "b":
            raise RecursionError("maximum recursion depth exceeded")
        return GtpConnectionGo1.score_cmd(self, words)


Go1("Go1").serve()
