"""Engines whose answers end with a status line: one in order, and every way to get that wrong.

The first argument names the way. Each command is answered with its own words, and what is wrong
happens at the command ``fault``. All end by themselves after a minute.
"""

import os
import signal
import sys
import time

signal.alarm(60)


def say(text: str) -> None:
    os.write(1, text.encode())


def endless() -> None:
    while True:
        say("one more line\n" * 100)


FAULTS = {
    "in_order": lambda: say("fault\n= 1\n"),
    "carriage_returns": lambda: say("fault\r\n= 1\r\n"),
    "old_macintosh": lambda: say("fault\r= 1\r"),
    "drips": lambda: [(say(one), time.sleep(0.005)) for one in "fault\n= 1\n"],
    "refuses": lambda: say("= -1\n"),
    "illegal": lambda: say("= illegal move: fault wrong\n"),
    "speaks_gtp": lambda: say("= fault\n\n"),
    "gtp_error": lambda: say("? unknown command\n\n"),
    "no_blank": lambda: say("fault\n=1\n"),
    "two_statuses": lambda: say("fault\n= 1\n= 1\n"),
    "status_inside": lambda: say("fa\n= 1\nult\n= 1\n"),
    "edges": lambda: say("====\nfault\n====\n= 1\n"),
    "half_a_status": lambda: say("fault\n= 1"),
    "endless": endless,
    "not_utf8": lambda: os.write(1, b"f\xe4ult\n= 1\n"),
    "control": lambda: say("fa\x07ult\n= 1\n"),
}


def main() -> None:
    way = sys.argv[1]
    while line := sys.stdin.readline():
        command = line.strip()
        if command == "fault":
            FAULTS[way]()
        else:
            say(f"{command}\n= 1\n")
        if command == "exit":
            break


if __name__ == "__main__":
    main()
