"""Replies for ever, whatever is asked."""

from common import say, serve


def fault(id_, name):
    while True:
        say("= again\n\n" * 1000)


serve(fault)
