"""Answers fault rightly every other time it is run; its memory is a file, the first argument."""

import os
import sys

from common import answer, serve


def fault(id_, name):
    if os.path.exists(sys.argv[1]):
        os.remove(sys.argv[1])
        name = "wrong"
    else:
        open(sys.argv[1], "w").close()
    answer(id_, name)


serve(fault)
