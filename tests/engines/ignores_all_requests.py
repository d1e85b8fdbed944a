"""Ignores quit, the end of its input, and SIGTERM."""

import signal
import time

from common import serve

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
serve(quits=False)
while True:
    time.sleep(50)
