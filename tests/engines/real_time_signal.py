"""Ends by a signal that has no name."""

import os
import signal

from common import serve


def fault(id_, name):
    os.kill(os.getpid(), signal.SIGRTMIN + 5)


serve(fault)
