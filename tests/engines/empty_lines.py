"""Writes empty lines without end."""

from common import say, serve


def fault(id_, name):
    while True:
        say("\n" * 65536)


serve(fault)
