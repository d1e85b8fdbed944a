"""Replies with another id."""

from common import answer, serve


def fault(id_, name):
    answer("99", name)


serve(fault)
