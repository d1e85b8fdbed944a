"""Routes for operators: is it ready, metrics, and the cluster on which engines run."""

from __future__ import annotations

from fastapi.responses import JSONResponse, Response

from harness.service import machines
from harness.service.operations import state
from harness.service.web import rendering
from harness.service.web.access import Now, Routes
from harness.service.web.request_context import ADMINS, ANYBODY

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
    return Response(state.metrics_text(found, counted), media_type=state.TYPE)


# --- The cluster on which engines run, for administrators: its machines, and what went wrong -----

_SHOWN = 50  # remarks


@ROUTES.at("GET", "/cluster", ADMINS)
def show(here: Now) -> Response:
    """Show the present state of the cluster."""
    from harness.cluster import rules

    settings = here.service.settings
    return rendering.page(
        here,
        "cluster.html",
        [("Cluster", "")],
        scheduler=settings.scheduler,
        state=machines.state(settings),
        find_unfitness=rules.find_unfitness,
        complaint=machines.complaint(settings),
        aside=machines.set_aside(settings),
        remarks=machines.remarks(settings)[:_SHOWN],
    )
