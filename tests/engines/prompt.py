"""Writes a prompt before a reply, in its line."""

from common import say, serve


def fault(id_, name):
    say(f"> ={id_} {name}\n\n")


serve(fault)
