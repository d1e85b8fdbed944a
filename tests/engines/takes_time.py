"""Needs so many seconds of the processor, or of sleep, or threads that never end, to answer."""

import sys
import threading
import time

from common import answer, serve


def burn(seconds):
    """Compute, however long that takes on a busy machine."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def spin(threads):
    """Never answer, with so many threads that each waits for the others."""
    for _ in range(int(threads)):
        threading.Thread(target=burn, args=(1e9,), daemon=True).start()
    burn(1e9)


HOW = {"burn": burn, "sleep": time.sleep, "spin": spin}
how, amount = sys.argv[1:3] if len(sys.argv) > 2 else ("burn", "0.1")


def fault(id_, name):
    HOW[how](float(amount))
    answer(id_, name)


serve(fault)
