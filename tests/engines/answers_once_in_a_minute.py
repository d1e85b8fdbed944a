"""Answers one command far too late."""

import time

from common import answer, serve


def fault(id_, name):
    time.sleep(50)
    answer(id_, name)


serve(fault)
