"""Go1.py of a right engine that never scores a stone on B2, and one on C3 after a while only."""

import os
import sys
import time

sys.path.append(os.path.join(sys.path[0], "..", "util"))

from gtp_connection_go1 import GtpConnectionGo1


class Go1(GtpConnectionGo1):
    def score_cmd(self, words):
        if self.board.get((1, 1)) == "b":
            time.sleep(600)
        if self.board.get((2, 2)) == "b":
            time.sleep(2.5)
        return GtpConnectionGo1.score_cmd(self, words)


Go1("Go1").serve()
