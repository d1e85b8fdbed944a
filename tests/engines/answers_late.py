"""Answers one command late, but in time."""

import time

from common import answer, serve


def fault(id_, name):
    time.sleep(0.5)
    answer(id_, name)


serve(fault)
