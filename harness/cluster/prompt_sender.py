"""Sends messages of Dask as soon as the event loop has nothing else to do.

Dask's own sender waits for 2 to 10 ms after each message, so that more can go with the next one.
It sets a timer for that each time. Where few messages are sent, these timers cost more than the
messages. What is said at one turn of the loop still goes at once.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from distributed.batched import BatchedSend
from distributed.comm import CommClosedError

_log = logging.getLogger(__name__)


class PromptSender(BatchedSend):  # type: ignore[misc] # Dask has no types
    """A ``BatchedSend`` of Dask without timers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.buffer: list[Any] = []
        self._sending: asyncio.Task[None] | None = None

    def start(self, comm: Any) -> None:
        """Send on this connection, first what was said before there was one."""
        self.comm = comm
        self._send_soon()

    def send(self, *messages: Any) -> None:
        """Send messages soon.

        Raises:
            CommClosedError: the connection is closed.
        """
        if self.closed():
            raise CommClosedError(f"{self.comm!r} is closed")
        self.buffer.extend(messages)
        self._send_soon()

    def _send_soon(self) -> None:
        if self.comm and self.buffer and not self._sending and not self.please_stop:
            self._sending = asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        """Send what there is; without a connection that works, drop it, as Dask does."""
        try:
            while self.buffer:
                payload, self.buffer = self.buffer, []
                await self.comm.write(payload, serializers=self.serializers, on_error="raise")
        except Exception:  # noqa: BLE001 - of a message half sent, the rest cannot be sent
            _log.info("cannot send to %r", self.comm, exc_info=True)
            self.abort()
        finally:
            self._sending = None

    async def close(self, timeout: object = None) -> None:
        """Send the rest, then close the connection; ``timeout``: as Dask gives it, not needed."""
        if self.comm is None:
            return
        self.please_stop = True
        if self._sending:
            await self._sending
        if not self.comm.closed():
            await self._send_all()
            await self.comm.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self.please_stop = True
        self.buffer = []
        if self.comm and not self.comm.closed():
            self.comm.abort()
