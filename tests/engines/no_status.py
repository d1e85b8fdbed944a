"""Replies without = or ?."""

from common import say, serve


def fault(id_, name):
    say(f"{name}\n\n")


serve(fault)
