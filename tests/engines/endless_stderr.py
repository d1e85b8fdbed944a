"""Writes to standard error without end, and answers in order once much of it has been read."""

import os
import threading

from common import serve

flooded = threading.Event()


def flood():
    for _ in range(100):
        os.write(2, b"debug " * 1000 + b"\n")
    flooded.set()
    while True:
        os.write(2, b"debug " * 1000 + b"\n")


threading.Thread(target=flood, daemon=True).start()
flooded.wait()
serve()
