"""A line in the log for each request, under an id that its answer has, too; and its count."""

from __future__ import annotations

import secrets
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.service import monitoring
from harness.service.monitoring import Counter
from harness.service.settings import Settings

HEADER = b"x-request-id"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Parts of a path that are ids of ours; all others may be secrets, or what somebody made up.
_IDS = ("course", "assignment", "upload", "grading", "suite", "run")


class Logged:
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
    here = scope["state"].get("here")
    named = scope.get("path_params", {})
    return {
        "method": scope["method"],
        "route": _route(scope),
        "person": scope["state"].get("by", ""),
        **{name: named[name] for name in _IDS if here and name in named},
    }
