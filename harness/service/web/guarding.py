"""What is said with every answer, and how much of a request is read."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.service.web.problems import Refused
from harness.service.web.rendering import POLICY

_FORMS = 1 << 20  # bytes around a file in a form
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Guarded:
    """Puts headers around all answers; one that an answer has itself stays."""

    def __init__(self, app: ASGIApp, *, is_secure: bool, largest: int) -> None:
        """``largest``: bytes of a file that is uploaded."""
        tls = ((b"strict-transport-security", b"max-age=31536000"),) if is_secure else ()
        self._app = app
        self._headers = (*_HEADERS, *tls)
        self._most = largest + _FORMS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        left = self._most

        async def measure() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise Refused(413, f"more than {self._most - _FORMS:,} bytes are not taken")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                more = [pair for pair in self._headers if pair[0] not in own]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self._app(scope, measure, with_headers)
