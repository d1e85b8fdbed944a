"""Sends a reply byte by byte, always something new, without an end."""

import time

from common import say, serve


def fault(id_, name):
    for byte in f"={id_} " + "x" * 400:
        say(byte)
        time.sleep(0.1)


serve(fault)
