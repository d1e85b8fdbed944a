"""A client that asks an application in its own thread.

Starlette's runs the application in a thread and a loop beside, and each route in one more: to go
from one thread to another, ten times for a request, takes longer than most requests.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from urllib.parse import unquote

import anyio.to_thread
import httpx2
from fastapi.testclient import TestClient

_SERVER_PORTS = {"http": 80, "https": 443}
_run_in_thread = anyio.to_thread.run_sync


class _Loops(threading.local):
    """The loops of a thread: an application may ask another one."""

    def __init__(self) -> None:
        self.free: list[asyncio.AbstractEventLoop] = []
        self.used = 0

    def run(self, task: Awaitable, loop: asyncio.AbstractEventLoop) -> object:
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        self.used += 1
        try:
            return loop.run_until_complete(task)
        finally:
            self.used -= 1
            asyncio._set_running_loop(outer)


_LOOPS = _Loops()


async def _run_here(function: Callable, *arguments: object, **how: object) -> object:
    """Call a function where this client asks; elsewhere in a thread, as ever."""
    if _LOOPS.used:
        return contextvars.copy_context().run(function, *arguments)
    return await _run_in_thread(function, *arguments, **how)


anyio.to_thread.run_sync = _run_here


class Client(TestClient):
    """Asks an application in the thread of who asks. As a context it starts nothing."""

    def __init__(self, app: Callable, *, raise_server_exceptions: bool = True, **how) -> None:
        super().__init__(app, **how)
        self._transport = _Transport(app, raise_server_exceptions)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Transport(httpx2.BaseTransport):
    def __init__(self, app: Callable, raises: bool) -> None:
        self._app, self._raises = app, raises

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = _Answer(self._app, request, self._raises)
        answer.begin()
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=answer, request=request
        )


def _scope(request: httpx2.Request) -> dict:
    url = request.url
    headers = [(key.lower(), value) for key, value in request.headers.raw]
    if "host" not in request.headers:
        headers.insert(0, (b"host", url.netloc))
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "path": unquote(url.path),
        "raw_path": url.raw_path.split(b"?", 1)[0],
        "root_path": "",
        "scheme": url.scheme,
        "query_string": url.query,
        "headers": headers,
        "client": ("testclient", 50000),
        "server": [url.host, url.port or _SERVER_PORTS[url.scheme]],
        "state": {},
    }


class _Answer(httpx2.SyncByteStream):
    """What an application answers; it runs as far as somebody reads."""

    def __init__(self, app: Callable, request: httpx2.Request, raises: bool) -> None:
        self._request, self._raises = request, raises
        self._loop = _LOOPS.free.pop() if _LOOPS.free else asyncio.new_event_loop()
        self._pieces: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._was_read = self._is_complete = False
        self._end = asyncio.Event()
        self.status, self.headers = 0, []
        self._task = self._loop.create_task(app(_scope(request), self._receive, self._send))
        self._task.add_done_callback(lambda _: self._news.set())

    async def _receive(self) -> dict:
        if self._was_read:
            await self._end.wait()
            return {"type": "http.disconnect"}
        self._was_read = True
        return {"type": "http.request", "body": self._request.read(), "more_body": False}

    async def _send(self, message: dict) -> None:
        if message["type"] == "http.response.start":
            assert not self.status, "the response has begun before"
            self.status, self.headers = message["status"], message.get("headers", [])
        else:
            assert self.status and not self._is_complete, "a body where none is to be"
            self._pieces.append(bytes(message.get("body", b"")))
            if not message.get("more_body", False):
                self._is_complete = True
                self._end.set()
        self._news.set()

    def begin(self) -> None:
        """Run until the answer has begun; raise what the application raised."""
        while not self.status and not self._task.done():
            self._wait()
        if self._task.done():
            self._finish()
        if not self.status:
            self.status = 500

    def _wait(self) -> None:
        self._news.clear()
        _LOOPS.run(self._news.wait(), self._loop)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            while self._pieces:
                piece = self._pieces.popleft()
                if piece and self._request.method != "HEAD":
                    yield piece
            if self._is_complete or self._task.done():
                break
            self._wait()
        self.close()

    def close(self) -> None:
        """Let the application end; one that has more to say is told that nobody listens."""
        if not self._task.done():
            if self._is_complete:
                _LOOPS.run(asyncio.wait([self._task]), self._loop)
            else:
                self._end.set()
                self._task.cancel()
                _LOOPS.run(asyncio.wait([self._task]), self._loop)
        self._finish()

    def _finish(self) -> None:
        if self._loop is None:
            return
        _LOOPS.free.append(self._loop)
        self._loop = None
        if not self._task.cancelled() and (error := self._task.exception()) and self._raises:
            raise error
