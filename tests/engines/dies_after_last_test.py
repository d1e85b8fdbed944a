"""Dies of the cputime command that comes after the file."""

import sys

from common import answer

asked = 0
for line in sys.stdin:
    words = line.split()
    asked += words == ["cputime"]
    if asked == 2:
        sys.exit(4)
    answer(words[0] if words[0].isdigit() else "", words[-1])
