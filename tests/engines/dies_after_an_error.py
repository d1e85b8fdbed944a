"""Tells of an error, as a course's starter code does, and ends: at ``score`` and at size 2."""

import sys

for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    if words in (["score"], ["boardsize", "2"]):
        print(f"?{number} an exception\n", flush=True)
        sys.exit(1)
    print(f"={number} ok\n", flush=True)
    if words == ["quit"]:
        break
