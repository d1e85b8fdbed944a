"""Reads a little at a time."""

import os
import time

from common import answer

pending = b""
while data := os.read(0, 512):
    time.sleep(0.001)
    *lines, pending = (pending + data).split(b"\n")
    for line in lines:
        words = line.decode().split()
        answer(words.pop(0) if words[0].isdigit() else "", " ".join(words[:1]))
    if lines and lines[-1] == b"quit":
        break
