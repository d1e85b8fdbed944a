"""Writes without end, but never a reply."""

from common import say, serve


def fault(id_, name):
    while True:
        say("still thinking\n\n" * 1000)


serve(fault)
