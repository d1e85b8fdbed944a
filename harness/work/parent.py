"""A worker does not outlive the process that it works for."""

from __future__ import annotations

import os
import sys
import time
from signal import SIGTERM
from threading import Thread

from harness.sandbox.kernel import PR_SET_PDEATHSIG, prctl

_LOOK = 0.5  # seconds between two looks, where the kernel tells nobody


def die_with_parent(parent: int) -> None:
    """Get SIGTERM when our parent ends, so that engines and folders do not stay behind.

    ``parent``: its id; where it has ended already, this process does so now.
    """
    if sys.platform == "linux":
        prctl("die with parent", PR_SET_PDEATHSIG, SIGTERM)
    else:
        Thread(target=_watch, args=[parent], daemon=True).start()
    if os.getppid() != parent:
        raise SystemExit


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.kill(os.getpid(), SIGTERM)
