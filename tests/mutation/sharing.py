"""Work that several workers share, each with a copy of the project of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, closing
from queue import SimpleQueue
from typing import Protocol, TypeVar


class Worker(Protocol):
    """Has processes that end when it is closed."""

    def close(self) -> None: ...


Working = TypeVar("Working", bound=Worker)
Thing = TypeVar("Thing")
Made = TypeVar("Made")


def share(
    things: Sequence[Thing], workers: Iterable[Working], do: Callable[[Working, Thing], Made]
) -> Iterator[tuple[Thing, Made]]:
    """Yield each thing with what a worker makes of it, as soon as that is done; close the workers.

    Nothing to do makes no worker. Who stops early waits for what is under way; no more is begun.
    """
    if not things:
        return
    with ExitStack() as open_ones:
        crew = [open_ones.enter_context(closing(one)) for one in workers]
        free: SimpleQueue[Working] = SimpleQueue()
        for one in crew:
            free.put(one)
        threads = ThreadPoolExecutor(len(crew))
        open_ones.callback(threads.shutdown, cancel_futures=True)
        begun = {threads.submit(_with_free_worker, thing, free, do): thing for thing in things}
        for future in as_completed(begun):
            yield begun[future], future.result()


def _with_free_worker(
    thing: Thing, free: SimpleQueue[Working], do: Callable[[Working, Thing], Made]
) -> Made:
    worker = free.get()
    try:
        return do(worker, thing)
    finally:
        free.put(worker)
