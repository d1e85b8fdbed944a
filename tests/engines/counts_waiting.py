"""Answers with the number of bytes that wait behind the command."""

import os
import time

from common import answer

os.set_blocking(0, False)
waiting = b""
idle = 0
while idle < 5000:
    try:
        data = os.read(0, 65536)
        idle = 0
    except BlockingIOError:
        data = b""
        idle += 1
        time.sleep(0.0005)
    else:
        if not data:
            break
    waiting += data
    if data or b"\n" not in waiting:
        continue
    line, _, waiting = waiting.partition(b"\n")
    words = line.decode().split()
    answer(words[0] if words[0].isdigit() else "", str(len(waiting)))
    if words[-1] == "quit":
        break
