"""Processes of ``multiprocessing`` in tests that share a process with all others."""

from __future__ import annotations

import multiprocessing
import warnings
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext


def spawn_context() -> SpawnContext:
    """Return what starts processes in a fresh interpreter.

    Python keeps a process that removes semaphores afterwards. Seen once in some thirty runs of all
    tests: it had ended, nobody knows by what. Python starts another one and warns, and a warning
    is an error in our tests.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "resource_tracker: process died", UserWarning)
        resource_tracker.ensure_running()
    return multiprocessing.get_context("spawn")
