"""Go1.py of a right engine that dies of a komi, which is sent again to every new engine."""

import os
import sys

sys.path.append(os.path.join(sys.path[0], "..", "util"))

from gtp_connection_go1 import GtpConnectionGo1


class Go1(GtpConnectionGo1):
    def set_komi(self, words):
        self.komi = float(words[1])  # IndexError


Go1("Go1").serve()
