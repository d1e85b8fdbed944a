"""Writes back what it reads, as a terminal would."""

from common import answer, say, serve


def fault(id_, name):
    say(f"{id_} {name}\n")
    answer(id_, name)


serve(fault)
