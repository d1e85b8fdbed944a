"""Leaves a child behind whose name is an order to a terminal."""

import os
import sys
import time

from common import serve

ready, told = os.pipe()
if os.fork() == 0:
    with open("/proc/self/comm", "wb") as name:
        name.write(b"\x1b[2J\x9bm")
    os.close(told)
    time.sleep(50)
    sys.exit()
os.close(told)
os.read(ready, 1)
serve()
