"""Reads and reads."""

import sys

import common  # noqa: F401 - for its alarm

for _ in sys.stdin:
    pass
