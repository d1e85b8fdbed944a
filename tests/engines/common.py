"""An engine in order, for the broken ones to differ from.

Every command is answered with its own name. What is wrong with an engine happens at the command
``fault``, unless it is wrong from the start. All engines end by themselves after a minute.
"""

import os
import signal
import sys

signal.alarm(60)


def say(data):
    """Write bytes to standard output, now."""
    if isinstance(data, str):
        data = data.encode()
    while data:
        data = data[os.write(1, data) :]


def answer(id_, text):
    """Reply as GTP wants it."""
    say(f"={id_} {text}\n\n")


def serve(fault=answer, quits=True):
    """Answer commands until ``quit`` or the end; ``fault(id, name)`` answers those so named."""
    while line := sys.stdin.buffer.readline():
        words = line.decode("latin-1").split()
        id_ = words.pop(0) if words and words[0].isdigit() else ""
        name = words[0] if words else ""
        (fault if name == "fault" else answer)(id_, name)
        if name == "quit" and quits:
            break
