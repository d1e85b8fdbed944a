"""Go1.py of a right engine that answers tests under another number."""

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
        print(f"={'99' if number else ''} {answer}\n", flush=True)


Go1("Go1").serve()
