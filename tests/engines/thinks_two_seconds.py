"""Plays Gomoku after two seconds of thought, as a Monte Carlo player; lists moves by rows."""

import sys
import time

from oracle.mistakes import MISTAKES, mistaken_engine

engine = mistaken_engine(MISTAKES["sorted-by-rows"], playouts=0)
for line in sys.stdin:
    if line.startswith("genmove"):
        time.sleep(2)
    print(engine.handle(line), end="", flush=True)
