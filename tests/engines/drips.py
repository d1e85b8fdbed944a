"""Sends a reply byte by byte, so that there is always something new and never an end."""

import time

from common import say, serve


def fault(id_, name):
    for byte in f"={id_} " + "x" * 400:
        say(byte)
        time.sleep(0.1)


serve(fault)
