"""Aborts in the middle of a reply."""

import os

from common import say, serve


def fault(id_, name):
    say(f"={id_} fau")
    os.abort()


serve(fault)
