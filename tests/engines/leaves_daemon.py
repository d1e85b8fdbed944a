"""Leaves a daemon behind that forked twice, in a session of its own, with nothing open."""

import os
import sys

from common import answer, serve


def fault(id_, name):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 1024)
            os.environ.clear()
            os.execv("/bin/sleep", [sys.argv[1], "50"])
        os._exit(0)
    os.wait()
    answer(id_, name)


serve(fault)
