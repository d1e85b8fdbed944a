"""Do something every few seconds, in a thread of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from harness import signals


@contextlib.contextmanager
def meanwhile(do: Callable[[], object], every: float) -> Iterator[None]:
    """Call ``do`` each ``every`` seconds until the block ends; ``do`` must not raise."""
    is_over = threading.Event()
    thread = threading.Thread(target=_repeat, args=(do, every, is_over), daemon=True)
    with signals.hold_back():  # a thread takes no signal: it would come where we hold it back
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _repeat(do: Callable[[], object], every: float, is_over: threading.Event) -> None:
    while not is_over.wait(every):
        do()
