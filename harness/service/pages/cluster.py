"""The cluster on which engines run, for administrators: its machines, and what went wrong."""

from __future__ import annotations

from fastapi.responses import Response

from harness.service import machines
from harness.service.web import rendering
from harness.service.web.access import Now, Routes
from harness.service.web.rules import ADMINS

ROUTES = Routes()
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
