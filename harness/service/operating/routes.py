"""What machines ask of a service: whether it is ready."""

from __future__ import annotations

from fastapi.responses import JSONResponse, Response

from harness.service.operating import state
from harness.service.web.access import ANYBODY, Now, Routes

ROUTES = Routes()


@ROUTES.at("GET", "/ready", ANYBODY)
def ready(here: Now) -> Response:
    """Say whether all is there that work needs; 503 and why if not."""
    found = [*state.complaints(state.state(here.service))]
    return JSONResponse({"ready": not found, "reasons": found}, 503 if found else 200)
