"""Says that it has computed for longer than numbers go."""

import sys

from common import answer

times = iter(["0", "inf"])
for line in sys.stdin:
    words = line.split()
    id_ = words.pop(0) if words[0].isdigit() else ""
    answer(id_, next(times) if words[0] == "cputime" else words[0])
    if words[0] == "quit":
        break
