"""Tells its computing time as its locale would, with a decimal comma."""

import sys

from common import answer

for line in sys.stdin:
    words = line.split()
    id_ = words.pop(0) if words[0].isdigit() else ""
    answer(id_, "0,5" if words[0] == "cputime" else words[0])
    if words[0] == "quit":
        break
