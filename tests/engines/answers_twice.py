"""Answers one command twice."""

from common import answer, serve


def fault(id_, name):
    answer(id_, name)
    answer(id_, name)


serve(fault)
