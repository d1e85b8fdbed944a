"""Ends instead of answering, with a traceback on standard error."""

from common import serve


def fault(id_, name):
    raise KeyError("no such vertex")


serve(fault)
