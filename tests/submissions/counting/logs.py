"""Opens a log where it starts, when it is imported, and counts its starts in a file of its own."""

import os
import sys

assert os.getcwd() == os.path.dirname(os.path.abspath(__file__))
log = open("gtp_log", "x", encoding="utf-8")  # noqa: SIM115 - as the course has it
with open("starts.txt", "a+", encoding="utf-8") as starts:
    starts.write("1\n")
    starts.seek(0)
    assert starts.read() == "1\n", "not the first start of this copy"
os.makedirs("boards/new")
sys.path.insert(0, "boards")
with open("boards/helper.py", "w", encoding="utf-8") as file:
    file.write("def double(n):\n    return 2 * n\n")

from helper import double  # noqa: E402 - written by itself

for line in sys.stdin:
    log.write(line)
    words = line.split()
    number = words.pop(0) if words[0].isdigit() else ""
    answer = double(int(words[1])) if words[0] == "twice" else ""
    print(f"={number} {answer}\n", flush=True)
    if words[0] == "quit":
        break
