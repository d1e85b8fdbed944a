"""Writes to standard error without end, and answers in order."""

import os
import threading

from common import serve


def flood():
    while True:
        os.write(2, b"debug " * 1000 + b"\n")


threading.Thread(target=flood, daemon=True).start()
serve()
