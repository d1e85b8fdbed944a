"""What is done around every request: host names, headers, limits, HEAD, and the log."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.service import monitoring
from harness.service.monitoring import Counter
from harness.service.settings import Settings, own_names, read_address
from harness.service.web import error_answers
from harness.service.web.rendering import FRAMES, POLICY
from harness.service.web.request_context import RequestRefused

# Asked by machines, by whatever name they have for this one. No answer has an address in it.
FOR_ANY_NAME = ("/health", "/ready")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[0-9a-z_.-]+?)\.?(?P<port>:[0-9]{1,5})?")


class OwnHosts:
    """Answers requests to the service's own names, and to others why not."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._names = own_names(settings)
        self._base = read_address(settings)
        self._address = self._base.hostname if settings.address else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = MutableHeaders(scope=scope)
        asked = headers.getlist("host")
        found = _HOST.fullmatch(asked[0].lower()) if len(asked) == 1 else None
        name = found["name"] if found else ""
        is_own = name in self._names or _is_reached(name, scope)
        if found and is_own and name.strip("[]") != self._address:
            headers["host"] = name + (found["port"] or "")
        else:  # the port is that of the address, too, and a server in front has its scheme
            scope["scheme"], headers["host"] = self._base.scheme, self._base.netloc
        # One that says nothing, as HTTP/1.0 may, has come to us by no name.
        if is_own or not asked or scope["path"] in FOR_ANY_NAME:
            await self._app(scope, receive, send)
            return
        why = (
            f"this service is not known by that name, its address is"
            f" {self._base.geturl()}:"
            " open it there, or let its operator add the name (serve --allowed-host)"
        )
        await error_answers.answer(Request(scope), 400, why)(scope, receive, send)


def _is_reached(name: str, scope: Scope) -> bool:
    """Whether a name is the number at which a connection arrived."""
    try:
        asked, reached = (ip_address(one.strip("[]")) for one in (name, scope["server"][0]))
    except (KeyError, TypeError, ValueError):
        return False
    inner = reached.ipv4_mapped if isinstance(reached, IPv6Address) else None
    return asked in (reached, inner)


# --- What is done around every request: headers and limits, HEAD, and a line in the log ----------


_FORMS = 1 << 20  # bytes around a file in a form
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class SecurityHeaders:
    """Add headers to every response; one that the response has itself stays."""

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
                raise RequestRefused(413, f"more than {self._most - _FORMS:,} bytes are not taken")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                more = [pair for pair in self._headers if pair[0] not in own]
                message["headers"] = [*message["headers"], *more]
                if frame := scope.get("state", {}).get("frame"):
                    message["headers"] = [*_let_frame(message["headers"], frame)]
            await send(message)

        await self._app(scope, measure, with_headers)


def _let_frame(headers: list[tuple[bytes, bytes]], frame: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield headers by which the pages of some origins may show this one in a frame."""
    for name, value in headers:
        yield name, value.replace(FRAMES.encode(), f"frame-ancestors {frame}".encode())


# --- HEAD: the status and the headers that GET would have, without the body (RFC 9110, 9.3.2) ----


class HeadRequests:
    """Asks the application for GET where HEAD is asked, and leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        inner, head = {**scope, "method": "GET"}, _HeadersOnly(send)
        try:
            await self._app(inner, head.receive, head.send)
        finally:
            scope.update({**inner, "method": "HEAD"})  # the log has the route


class _HeadersOnly:
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


# --- A line in the log for each request, under an id that its answer has, too; and its count -----


HEADER = b"x-request-id"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Parts of a path that are ids of ours; all others may be secrets, or what somebody made up.
_IDS = ("course", "assignment", "upload", "grading", "suite", "run")


class RequestLog:
    """Gives each request an id, writes how it ended, and counts it."""

    def __init__(self, app: ASGIApp, settings: Settings, counter: Counter) -> None:
        self._app = app
        self._settings = settings
        self._counter = counter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Always our own: one that is sent along could be anything.
        request, begun, status = secrets.token_hex(6), time.monotonic(), 500
        scope.setdefault("state", {})["request"] = request

        async def with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (HEADER, request.encode())]
            await send(message)

        try:
            await self._app(scope, receive, with_id)
        finally:
            seconds = time.monotonic() - begun
            self._counter.count(monitoring.REQUESTS, seconds, **_labels(scope, status))
            facts = {"request": request, "status": status, "seconds": round(seconds, 4)}
            monitoring.tell(self._settings, "request", **facts, **_about(scope))


def _labels(scope: Scope, status: int) -> dict[str, str]:
    """Return what a request is counted by: the sender can make up none of it."""
    method = scope["method"] if scope["method"] in _METHODS else "other"
    return {"method": method, "route": _route(scope), "status": str(status)}


def _route(scope: Scope) -> str:
    """Return the template of a path; empty where there is no such route."""
    return str(getattr(scope.get("route"), "path", ""))


def _about(scope: Scope) -> dict[str, Any]:
    """Return what was asked, and by whom, without anything that only they know."""
    context = scope["state"].get("context")
    named = scope.get("path_params", {})
    return {
        "method": scope["method"],
        "route": _route(scope),
        "person": scope["state"].get("by", ""),
        **{name: named[name] for name in _IDS if context and name in named},
    }
