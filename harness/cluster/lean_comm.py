"""Connections of Dask that handle small messages with less work, and send them at once."""

from __future__ import annotations

import asyncio
import logging
import struct
from ssl import SSLError
from typing import Any

from distributed.batched import BatchedSend
from distributed.comm import CommClosedError, tcp
from distributed.protocol import core
from distributed.protocol.utils import unpack_frames

_PIECE = 1 << 16  # bytes that are read at once
_CHUNK = 1 << 14  # of these, bytes for which room is made: a record of TLS has no more
_SMALL = 1 << 17  # bytes of a message that is copied rather than sent in parts, as in Dask
_LENGTH = struct.Struct("Q")
_PRELUDE = struct.Struct("QQQ")  # bytes of all that follows, number of frames, bytes of the frame


class _Lean(tcp.TCP):  # type: ignore[misc] # Dask has no types
    """Reads and writes; the rest is Dask's."""

    stream: Any

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._received = bytearray()  # what has come, and is of no message yet
        self._packer = core.msgpack.Packer(use_bin_type=True)
        super().__init__(*arguments, **options)
        self.stream.read_chunk_size = _CHUNK

    async def read(self, deserializers: Any = None) -> Any:
        """Return the next message; raises CommClosedError if the connection is closed."""
        try:
            frames = await self._read_frames(self._open_stream())
        except (tcp.StreamClosedError, SSLError) as error:
            self._end(error)
        except BaseException:
            self.abort()  # how much of a message was read is not known
            raise
        return core.loads(frames, deserialize=self.deserialize, deserializers=deserializers)

    async def _read_frames(self, stream: Any) -> list[Any]:
        (length,) = _LENGTH.unpack(await self._take(stream, _LENGTH.size))
        frames, lengths = unpack_frames(await self._take(stream, length), partial=True)
        return [*frames, *[memoryview(await self._take(stream, one)) for one in lengths]]

    async def _take(self, stream: Any, count: int) -> bytearray:
        """Return the next so many bytes."""
        while len(self._received) < count:
            self._received += await stream.read_bytes(_PIECE, partial=True)
        taken = self._received[:count]
        del self._received[:count]
        return taken

    async def write(
        self, msg: Any, serializers: Any = None, on_error: str = "message"
    ) -> int | None:
        """Send a message; return its bytes, or None if Dask has not counted them.

        Raises:
            CommClosedError: the connection is closed.
        """
        stream = self._open_stream()
        packed = self._pack(msg)
        if packed is None:
            written: int | None = await super().write(msg, serializers, on_error)
            return written
        size = len(packed)
        try:
            stream.write(_PRELUDE.pack(_PRELUDE.size - _LENGTH.size + size, 1, size) + packed)
        except tcp.StreamClosedError as error:
            self._end(error)
        except BaseException:
            self.abort()  # how much was written is not known
            raise
        return _PRELUDE.size + size

    def _pack(self, message: Any) -> bytes | None:
        """Return a small message of plain data as a frame; None if it is another one."""
        try:
            packed: bytes = self._packer.pack(message)
        except (TypeError, ValueError, OverflowError):
            return None
        return packed if len(packed) < _SMALL else None

    def _open_stream(self) -> Any:
        if self.stream is None:
            raise CommClosedError
        return self.stream

    def _end(self, error: Exception) -> None:
        """Note that the connection is closed, and raise CommClosedError."""
        self.stream, self._closed = None, True
        tcp.convert_stream_closed_error(self, error)


class _LeanTLS(_Lean, tcp.TLS):  # type: ignore[misc]
    pass


def use() -> None:
    """Let all connections of this process be such ones from now on."""
    tcp.TCPConnector.comm_class = tcp.TCPListener.comm_class = _Lean
    tcp.TLSConnector.comm_class = tcp.TLSListener.comm_class = _LeanTLS


# --- Sends messages of Dask as soon as the event loop has nothing else to do ---------------------
# Dask's own sender waits for 2 to 10 ms after each message, so that more can go with the next one.
# It sets a timer for that each time. Where few messages are sent, these timers cost more than the
# messages. What is said at one turn of the loop still goes at once.


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
