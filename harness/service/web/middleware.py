"""Middleware of every request: hosts, headers, HEAD, the log, and refusals."""

import asyncio
import contextlib
import errno
import re
import secrets
import time
import traceback
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.core.errors import HarnessError, InvalidGradingStateError, ServerError, UsageError
from harness.service import monitoring
from harness.service.people.accounts import AccountDisabledError
from harness.service.settings import Settings, own_names, read_address
from harness.service.web import rendering, request_context
from harness.service.web.access import guard_of
from harness.service.web.request_context import RequestContext, RequestRefused

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
            f"this service is not known by that name, its address is {self._base.geturl()}:"
            " open it there, or let its operator add the name (serve --allowed-host)"
        )
        await answer(Request(scope), 400, why)(scope, receive, send)


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
    (b"content-security-policy", rendering.POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class SecurityHeaders:
    """Add headers to every response; one that the response has itself stays."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        tls = ((b"strict-transport-security", b"max-age=31536000"),) if settings.is_secure else ()
        self._app = app
        self._headers = (*_HEADERS, *tls)
        self._most = settings.largest + _FORMS

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
                if frame := scope.get("state", {}).get("frame"):  # of whose pages it may be a part
                    ours, theirs = rendering.FRAMES.encode(), f"frame-ancestors {frame}".encode()
                    headers = message["headers"]
                    message["headers"] = [(n, value.replace(ours, theirs)) for n, value in headers]
            await send(message)

        await self._app(scope, measure, with_headers)


class HeadRequests:
    """Asks the application for GET where HEAD is asked, and leaves the body out (RFC 9110, 9.3.2).

    Once the headers are sent, nobody listens any more: so what would be sent without end ends.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        inner, is_sent, is_read = {**scope, "method": "GET"}, asyncio.Event(), False

        async def read_nothing() -> Message:
            nonlocal is_read
            if not is_read:
                is_read = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await is_sent.wait()
            return {"type": "http.disconnect"}

        async def send_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                is_sent.set()

        try:
            await self._app(inner, read_nothing, send_headers)
        finally:
            scope.update({**inner, "method": "HEAD"})  # the log has the route


HEADER = b"x-request-id"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Parts of a path that are ids of ours; all others may be secrets, or what somebody made up.
_IDS = ("course", "assignment", "upload", "grading", "suite", "run")


class RequestLog:
    """Gives each request an id, writes how it ended, and counts it."""

    def __init__(self, app: ASGIApp, settings: Settings, counter: monitoring.Counter) -> None:
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
            seconds, state = time.monotonic() - begun, scope["state"]
            # The template of the path; empty where there is no such route. The sender makes up
            # nothing that is counted, and nothing is told that only the sender knows.
            asked = {"method": scope["method"], "route": getattr(scope.get("route"), "path", "")}
            labels = asked if scope["method"] in _METHODS else {**asked, "method": "other"}
            self._counter.count(monitoring.REQUESTS, seconds, **labels, status=str(status))
            named = scope.get("path_params", {}) if state.get("context") else {}
            ids = {name: named[name] for name in _IDS if name in named}
            facts = {"request": request, "status": status, "seconds": round(seconds, 4)}
            by = state.get("by", "")
            monitoring.tell(self._settings, "request", **facts, **asked, person=by, **ids)


# --- What is answered when something is refused or breaks: a page, or a problem (RFC 9457) -------

API = "/api/"
_FULL = (errno.ENOSPC, errno.EDQUOT)  # of a disk
_NOT_TAKEN = (409, 422)  # a form may be sent again after a change


def add_handlers(app: FastAPI) -> None:
    """Let an application answer so."""
    app.exception_handlers |= {
        RequestRefused: _answer_refusal,
        HTTPException: _http,
        RequestValidationError: _unreadable,
        InvalidGradingStateError: lambda request, error: answer(request, 409, str(error)),
        UsageError: lambda request, error: answer(request, 422, str(error)),
        AccountDisabledError: lambda request, error: answer(request, 403, str(error)),
        ServerError: _unavailable,
        ClientDisconnect: lambda _request, _error: Response(status_code=400),  # to nobody
        HarnessError: _fault,
        OSError: _system,
        Exception: _fault,
    }


def answer(
    request: Request, status: int, reason: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return why something is not answered as asked. ``headers``: of the API's answer."""
    if request.url.path.startswith(API):
        return request_context.respond(status, reason, headers)
    context = getattr(request.state, "context", RequestContext(request.app.state.service, request))
    route = request.scope.get("route")
    guard = guard_of(route) if isinstance(route, APIRoute) else None
    if status in _NOT_TAKEN and guard and guard.most.page:  # the page with the form
        # It is not there if what it is about was removed meanwhile.
        with contextlib.suppress(UsageError, RequestRefused):
            shown = guard.most.page(replace(context, why=reason))
            shown.status_code = status
            return shown
    # The page of ours from which a form was sent; empty if it is not known.
    former = urlsplit(request.headers.get("referer", ""))
    is_ours = former.netloc == request.headers.get("host") and former.scheme in ("http", "https")
    is_page = former.path.startswith("/") and not former.path.startswith("//")
    back = former.path if request.method == "POST" and is_ours and is_page else ""
    return rendering.page(context, "trouble.html", status, code=status, why=reason, back=back)


def _answer_refusal(request: Request, error: RequestRefused) -> Response:
    if error.status == 401 and request.method == "GET" and not request.url.path.startswith(API):
        return RedirectResponse("/sign-in", 303)
    return answer(request, error.status, error.why, error.headers)


def _unreadable(request: Request, error: RequestValidationError) -> Response:
    """Name what in a request cannot be read; what was found there is not repeated."""
    wrong = (f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors())
    return answer(request, 422, "; ".join(wrong) or "it cannot be read")


def _http(request: Request, error: HTTPException) -> Response:
    is_page, status = not request.url.path.startswith(API), error.status_code
    why, headers = str(error.detail), error.headers
    if status == 405:  # each route of an address has one method
        routes = (one for one in request.app.routes if isinstance(one, APIRoute))
        there = [one for one in routes if one.matches(request.scope)[0] != Match.NONE]
        methods = {method for one in there for method in one.methods or ()}
        allowed = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
        why = f"method: found {request.method}, expected one of {allowed}"
        headers = {"allow": allowed}
    if status == 400:
        why = f"what was sent cannot be read ({why.rstrip('.')}): send it once more"
    if status == 404 or (status == 405 and is_page):
        why = f"there is no {'page' if is_page else 'resource'} at this address"
    return answer(request, status, why, headers)


def _unavailable(request: Request, error: Exception) -> Response:
    monitoring.warn(request.app.state.service.settings, str(error), request=request.state.request)
    return answer(request, 503, "the database cannot be reached now: try again in a minute")


def _system(request: Request, error: OSError) -> Response:
    """Tell a full disk from what is the service's own fault."""
    if error.errno not in _FULL:
        return _fault(request, error)
    settings = request.app.state.service.settings
    told = f"cannot write into {settings.data}: {error.strerror}"
    monitoring.warn(settings, told, request=request.state.request)
    why = "the disk of the service is full, so this was not kept: tell its operator"
    return answer(request, 503, why)


def _fault(request: Request, error: Exception) -> Response:
    """Tell the operator all, and anyone who asks nothing of it."""
    named = request.state.request
    told = "".join(traceback.format_exception(error))
    monitoring.warn(request.app.state.service.settings, told, request=named)
    why = f"that is the service's own fault; it has been written down as {named}"
    return answer(request, 500, why)
