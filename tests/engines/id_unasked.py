"""Gives an id to replies whose commands have none."""

import sys

from common import answer

for line in sys.stdin:
    words = line.split()
    id_ = words[0] if words[0].isdigit() else "7"
    answer(id_, words[-1])
    if words[-1] == "quit":
        break
