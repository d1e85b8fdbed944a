"""Writes its thoughts before a reply."""

from common import answer, say, serve


def fault(id_, name):
    say("thinking ...\n\nfound it\n")
    answer(id_, name)


serve(fault)
