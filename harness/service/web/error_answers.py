"""What is answered when something is refused or breaks: a page, or a problem (RFC 9457)."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from harness.errors import HarnessError, ServerError, UsageError
from harness.service import monitoring
from harness.service.courses.gradings import InvalidGradingStateError
from harness.service.people.accounts import AccountDisabledError
from harness.service.web import rendering, request_context
from harness.service.web.access import guard_of
from harness.service.web.request_context import RequestContext, RequestRefused

API = "/api/"
_FULL = (errno.ENOSPC, errno.EDQUOT)  # of a disk
_NOT_TAKEN = (409, 422)  # a form may be sent again after a change
# What a page is headed by; the API has the names that HTTP gives.
_HEADINGS = {
    401: "Sign in first",
    403: "You may not do this",
    404: "Not found",
    405: "Not found",
    409: "Not now",
    410: "No longer there",
    413: "Too large",
    422: "Not done",
    429: "Too many requests",
    500: "The service failed",
    503: "Try again in a minute",
}


def add_handlers(app: FastAPI) -> None:
    """Let an application answer so."""
    handlers: dict[type[Exception], Callable[[Request, Exception], Response]] = {
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
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def answer(
    request: Request, status: int, why: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return why something is not answered as asked. ``headers``: of the API's answer."""
    if request.url.path.startswith(API):
        return request_context.respond(status, why, headers)
    context = getattr(request.state, "context", RequestContext(request.app.state.service, request))
    if status in _NOT_TAKEN and (shown := _show_form(request, replace(context, why=why))):
        shown.status_code = status
        return shown
    title = _HEADINGS.get(status, "Not done")
    told = {"title": title, "why": why, "back": _find_former(request)}
    return rendering.page(context, "trouble.html", [(title, "")], status, **told)


def _find_former(request: Request) -> str:
    """Return the page of ours from which a form was sent; "" if it is not known."""
    former = urlsplit(request.headers.get("referer", ""))
    is_ours = former.netloc == request.headers.get("host") and former.scheme in ("http", "https")
    is_page = former.path.startswith("/") and not former.path.startswith("//")
    return former.path if request.method == "POST" and is_ours and is_page else ""


def _show_form(request: Request, context: RequestContext) -> Response | None:
    """Return the page with the form that was sent; None if it is not known, or there no longer."""
    page = _find_page(request)
    try:
        return page(context) if page else None
    except (UsageError, RequestRefused):  # what it is about was removed meanwhile
        return None


def _find_page(request: Request) -> Callable[[RequestContext], Response] | None:
    """Return what shows the page with the form that was sent; None if it is not known."""
    route = request.scope.get("route")
    guard = guard_of(route) if isinstance(route, APIRoute) else None
    return guard.most.page if guard else None


def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefused)
    is_page = request.method == "GET" and not request.url.path.startswith(API)
    if error.status == 401 and is_page:
        return RedirectResponse("/sign-in", 303)
    return answer(request, error.status, error.why, error.headers)


def _unreadable(request: Request, error: Exception) -> Response:
    """Name what in a request cannot be read; what was found there is not repeated."""
    assert isinstance(error, RequestValidationError)
    wrong = (f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors())
    return answer(request, 422, "; ".join(wrong) or "it cannot be read")


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    is_page = not request.url.path.startswith(API)
    if error.status_code == 405:
        return _answer_method(request, is_page=is_page)
    why = str(error.detail)
    if error.status_code == 400:
        why = f"what was sent cannot be read ({why.rstrip('.')}): send it once more"
    if error.status_code == 404:
        why = f"there is no {'page' if is_page else 'resource'} at this address"
    return answer(request, error.status_code, why, error.headers)


def _answer_method(request: Request, *, is_page: bool) -> Response:
    """Say by which methods an address can be asked: each of its routes has one."""
    routes = (one for one in request.app.routes if isinstance(one, APIRoute))
    there = [one for one in routes if one.matches(request.scope)[0] != Match.NONE]
    methods = {method for one in there for method in one.methods or ()}
    allowed = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
    why = f"method: found {request.method}, expected one of {allowed}"
    headers = {"allow": allowed}
    return answer(request, 405, "there is no page at this address" if is_page else why, headers)


def _unavailable(request: Request, error: Exception) -> Response:
    settings = request.app.state.service.settings
    monitoring.warn(settings, str(error), request=request.state.request)
    return answer(request, 503, "the database cannot be reached now: try again in a minute")


def _system(request: Request, error: Exception) -> Response:
    """Tell a full disk from what is the service's own fault."""
    if not isinstance(error, OSError) or error.errno not in _FULL:
        return _fault(request, error)
    settings = request.app.state.service.settings
    told = f"cannot write into {settings.data}: {error.strerror}"
    monitoring.warn(settings, told, request=request.state.request)
    return answer(
        request, 503, "the disk of the service is full, so this was not kept: tell its operator"
    )


def _fault(request: Request, error: Exception) -> Response:
    """Tell the operator all, and anyone who asks nothing of it."""
    named = request.state.request
    told = "".join(traceback.format_exception(error))
    monitoring.warn(request.app.state.service.settings, told, request=named)
    return answer(
        request, 500, f"that is the service's own fault; it has been written down as {named}"
    )
