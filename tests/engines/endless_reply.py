"""Writes one reply without end, in lines."""

from common import say, serve


def fault(id_, name):
    say(f"={id_} ")
    while True:
        say("and on\n" * 1000)


serve(fault)
