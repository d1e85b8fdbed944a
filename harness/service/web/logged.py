"""A line in the log for each request, under an id that its answer has, too."""

from __future__ import annotations

import secrets
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.service import telling
from harness.service.settings import Settings

HEADER = b"x-request-id"
# Parts of a path that are ids of ours; all others may be secrets, or what somebody made up.
_IDS = ("course", "assignment", "upload", "grading")


class Logged:
    """Gives each request an id and writes how it ended."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

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
            seconds = round(time.monotonic() - begun, 4)
            facts = {"request": request, "status": status, "seconds": seconds}
            telling.tell(self._settings, "request", **facts, **_about(scope))


def _about(scope: Scope) -> dict[str, Any]:
    """Return what was asked, and by whom, without anything that only they know."""
    here = scope["state"].get("here")
    named = scope.get("path_params", {})
    return {
        "method": scope["method"],
        "route": getattr(scope.get("route"), "path", ""),
        "person": here.by if here else "",
        **{name: named[name] for name in _IDS if here and name in named},
    }
