"""What machines ask of a service: whether it is ready, and how far it is behind."""

from __future__ import annotations

from fastapi.responses import JSONResponse, Response

from harness.service.operating import metrics, state
from harness.service.web.access import Now, Routes
from harness.service.web.rules import ADMINS, ANYBODY

ROUTES = Routes()
FOR_TOKENS = Routes(is_api=True, prefix="/api/v1")


@ROUTES.at("GET", "/ready", ANYBODY)
def ready(here: Now) -> Response:
    """Say whether all is there that work needs; 503 and why if not."""
    found = [*state.complaints(state.state(here.service))]
    return JSONResponse({"ready": not found, "reasons": found}, 503 if found else 200)


@FOR_TOKENS.at("GET", "/metrics", ADMINS, include_in_schema=False)
def give_metrics(here: Now) -> Response:
    """Give figures to Prometheus."""
    found, counted = state.state(here.service), state.get_figures(here.service)
    return Response(metrics.text(found, counted), media_type=metrics.TYPE)
