"""HEAD: the status and the headers that GET would have, without the body (RFC 9110, 9.3.2)."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAnswered:
    """Asks the application for GET where HEAD is asked, and leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        inner, head = {**scope, "method": "GET"}, _HeadersAlone(send)
        try:
            await self._app(inner, head.receive, head.send)
        finally:
            scope.update({**inner, "method": "HEAD"})  # the log has the route


class _HeadersAlone:
    """What an application hears and says while it answers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_sent = asyncio.Event()
        self._is_read = False

    async def receive(self) -> Message:
        """Give a request without a body; once the headers are sent, nobody listens any more.

        So what would be sent without end ends at once.
        """
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._is_sent.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            return
        await self._send(message)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        self._is_sent.set()
