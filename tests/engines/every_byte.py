"""Sends every byte there is, in every reply, before it, and on standard error."""

import os
import sys

from common import say

BYTES = bytes(byte for byte in range(256) if byte not in b"\r\n") + "\u2028\ufeff\uffff".encode()
for line in sys.stdin:
    words = line.split()
    id_ = words[0] if words[0].isdigit() else ""
    os.write(2, BYTES + b"\n")
    say(BYTES + b"\n" + f"={id_} ".encode() + BYTES + b"\n\n")
    if words[-1] == "quit":
        break
