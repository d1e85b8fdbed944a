"""Go1.py of a player with luck: of the choices A, B and C it misses some, each time another one.

A player that budgets by the clock does so on a busy machine. Here PLACE counts the starts.
"""

import os
import sys

sys.path.append(os.path.join(sys.path[0], "..", "util"))

from gtp_connection_go1 import GtpConnectionGo1

PLACE = "PLACE"
MISSES = (("A",), ("B",), ())  # in the first run, the second, and so on; C is missed never


class Go1(GtpConnectionGo1):
    def __init__(self, name):
        super().__init__(name)
        self.commands["genmove"] = self.genmove
        self.run = len(os.listdir(PLACE))
        open(os.path.join(PLACE, str(self.run)), "w").close()

    def genmove(self, words):
        choice = "ABC"[(self.size - 5) % 3]
        return "A1" if choice in MISSES[min(self.run, 2)] else "C3"


Go1("Go1").serve()
