"""Ends at quit without a reply."""

import sys

from common import answer

for line in sys.stdin:
    words = line.split()
    if words[-1:] == ["quit"]:
        break
    answer(words[0] if words[0].isdigit() else "", words[-1])
