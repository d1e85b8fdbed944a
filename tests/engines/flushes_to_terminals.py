"""Flushes its output only if that is a terminal, as the C library does."""

import sys

import common  # noqa: F401 - for its alarm

for line in sys.stdin:
    words = line.split()
    print(f"={words[0] if words[0].isdigit() else ''} {words[-1]}\n")
    if words[-1] == "quit":
        break
