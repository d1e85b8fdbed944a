"""The second implementation as an engine: ``python3 naive_engine.py ASSIGNMENT`` speaks GTP.

It answers ``?`` where it finds a position underspecified, and to commands it does not know.
"""

import sys
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.oracle.second_opinion import ENGINES


class Plain:
    """One of the plain engines behind ``handle``, as the oracle's engines are."""

    def __init__(self, assignment):
        self.engine = ENGINES[assignment]()

    def handle(self, line):
        try:
            return f"= {self.engine.reply(line)}\n\n"
        except (AssertionError, AttributeError):
            return "? unknown or underspecified\n\n"


PLAIN = {assignment: partial(Plain, assignment) for assignment in ENGINES}


def main(assignment):
    engine = Plain(assignment)
    for line in sys.stdin:
        print(engine.handle(line.strip()), end="", flush=True)
        if line.strip() == "quit":
            return


if __name__ == "__main__":
    main(sys.argv[1])
