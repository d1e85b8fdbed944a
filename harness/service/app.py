"""The web application: all routes, each with its rule, and the process that answers HTTP.

``python -m harness.service.app FD`` answers on a socket; the settings come as JSON on standard
input. Threads answer: the database waits for a disk or a server most of the time.
"""

import socket
import sys

import uvicorn
from anyio import to_thread
from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp

from harness.service import machines, processes
from harness.service.api import courses, requests, submissions
from harness.service.api import gradings as api_gradings
from harness.service.api import people as api_people
from harness.service.api import private_cases as api_private_cases
from harness.service.api import suites as api_suites
from harness.service.lti import launch_pages
from harness.service.lti import pages as lti_pages
from harness.service.operations import health
from harness.service.pages import assignment, course, gradings, people, submission, suites
from harness.service.storage.database import CONNECTIONS, Database
from harness.service.web import access, middleware, rendering
from harness.service.web.service import Service
from oracle import __version__

FOR_OPERATORS = access.Routes()
METRICS = requests.ApiRoutes("operation")
_SHOWN = 50  # remarks


@FOR_OPERATORS.at("GET", "/ready", access.ANYBODY)
def ready(context: access.Context) -> Response:
    """Say whether all is there that work needs; 503 and why if not."""
    found = [*health.complaints(health.state(context.service))]
    return JSONResponse({"ready": not found, "reasons": found}, 503 if found else 200)


@METRICS.at("GET", "/metrics", access.ADMINS, include_in_schema=False)
def give_metrics(context: access.Context) -> Response:
    """Give figures to Prometheus."""
    found, counted = health.state(context.service), health.get_figures(context.service)
    return Response(health.metrics_text(found, counted), media_type=health.TYPE)


@FOR_OPERATORS.at("GET", "/cluster", access.ADMINS)
def show_cluster(context: access.Context) -> Response:
    """Show the present state of the cluster."""
    from harness.cluster import records

    settings = context.service.settings
    return rendering.page(
        context,
        "cluster.html",
        scheduler=settings.scheduler,
        state=machines.state(settings),
        find_unfitness=records.find_unfitness,
        complaint=machines.complaint(settings),
        aside=machines.set_aside(settings),
        remarks=machines.remarks(settings)[:_SHOWN],
    )


# --- The application -----------------------------------------------------------------------------

ROUTES = (
    *(people.ROUTES, course.ROUTES, assignment.ROUTES, submission.ROUTES, gradings.ROUTES),
    *(suites.ROUTES, api_people.ROUTES, courses.ROUTES),
    *(submissions.ROUTES, requests.ROUTES, api_people.STAFF_ROUTES),
    *(submissions.REMARKS, api_private_cases.ROUTES, api_private_cases.POINTS_ROUTES),
    *(courses.OWN_ROUTES, api_private_cases.DRAFT_ROUTES, api_people.STUDENT_ROUTES),
    *(api_gradings.ROUTES, submissions.MARK_ROUTES, api_suites.ROUTES, api_suites.RUN_ROUTES),
    *(FOR_OPERATORS, METRICS, lti_pages.ROUTES, launch_pages.ROUTES),
    api_gradings.TOURNAMENT_ROUTES,
)


def application(service: Service) -> FastAPI:
    """Return the application; raises RuntimeError if a route declares no access rule."""
    # The schema has a route of its own, with a rule like all others.
    app = FastAPI(
        title="gtp-harness", version=__version__, openapi_url=None, docs_url=None, redoc_url=None
    )
    app.state.service = service
    app.router.routes += [route for routes in ROUTES for route in routes.routes]
    access.require_rules(app)
    middleware.add_handlers(app)
    return app


def guard_application(service: Service) -> ASGIApp:
    """Return the application as it is served: with the headers added to every response."""
    settings = service.settings
    app = application(service)
    app.add_middleware(middleware.OwnHosts, settings=settings)
    inner = middleware.SecurityHeaders(middleware.HeadRequests(app), settings)
    return middleware.RequestLog(inner, settings, service.requests)


# --- The process that answers HTTP ---------------------------------------------------------------

_PATIENCE = 5  # seconds for open connections at the end


class _WebServer(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # No more threads than connections: each keeps half a megabyte for good.
        to_thread.current_default_thread_limiter().total_tokens = CONNECTIONS
        await super().startup(sockets)


def main(descriptor: int) -> int:
    """Answer until a signal comes, and then what was asked before it."""
    settings = processes.begin()
    service = Service(settings, Database.patiently)
    config = uvicorn.Config(
        guard_application(service),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.address),
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=30,
    )
    try:
        with socket.socket(fileno=descriptor) as listening:
            _WebServer(config).run(sockets=[listening])
    finally:
        service.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
