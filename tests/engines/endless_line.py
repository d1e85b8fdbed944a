"""Writes one line without end."""

from common import say, serve


def fault(id_, name):
    while True:
        say(b"x" * 65536)


serve(fault)
