"""Ends a reply with one newline."""

from common import say, serve


def fault(id_, name):
    say(f"={id_} {name}\n")


serve(fault)
