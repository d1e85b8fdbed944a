"""Leaves twenty children behind that ignore SIGTERM, each with a child of its own."""

import os
import signal
import sys

from common import serve

signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        os.fork()
        os.execv("/bin/sleep", [sys.argv[1], "50"])
serve()
