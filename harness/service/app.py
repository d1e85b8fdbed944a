"""The application: all routes, each with its rule, around one open service."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp

from harness.service.api import (
    courses,
    drafts,
    marks,
    own_files,
    people,
    requests,
    runs,
    staff,
    students,
    submissions,
    suites,
)
from harness.service.api import courses as api_changing
from harness.service.api import gradings as api_gradings
from harness.service.api import points as api_points
from harness.service.api import private_cases as api_private
from harness.service.operations import routes
from harness.service.operations import routes as operating
from harness.service.pages import (
    assignment_page,
    changing,
    course,
    gradings,
    mail_links,
    own_mark,
    own_name,
    points,
    private,
    provider,
    roster,
    sign_in,
    student,
    submission,
    tokens,
)
from harness.service.pages import runs as pages_of_runs
from harness.service.pages import suites as pages_of_suites
from harness.service.web import access, error_answers
from harness.service.web.guarding import Guarded
from harness.service.web.head_requests import HeadAnswered
from harness.service.web.request_log import Logged
from harness.service.web.service import Service
from oracle import __version__

ROUTES = (
    *(sign_in.ROUTES, course.ROUTES, assignment_page.ROUTES, submission.ROUTES, gradings.ROUTES),
    *(student.ROUTES, roster.ROUTES, own_mark.ROUTES, private.ROUTES, points.ROUTES),
    *(routes.ROUTES, tokens.ROUTES, own_name.ROUTES, mail_links.ROUTES, provider.ROUTES),
    *(pages_of_suites.ROUTES, pages_of_runs.ROUTES),
    *(people.ROUTES, courses.ROUTES, submissions.ROUTES, requests.ROUTES),
    *(staff.ROUTES, marks.REMARKS, api_private.ROUTES, api_points.ROUTES),
    *(own_files.ROUTES, drafts.ROUTES),
    *(students.ROUTES, api_gradings.ROUTES, marks.ROUTES, suites.ROUTES, runs.ROUTES),
    *(changing.ROUTES, api_changing.ROUTES),
    operating.ROUTES,
    operating.FOR_TOKENS,
)


def application(service: Service) -> FastAPI:
    """Return the application.

    Raises:
        RuntimeError: a route says not who may use it.
    """
    # The schema has a route of its own, with a rule like all others.
    app = FastAPI(
        title="gtp-harness", version=__version__, openapi_url=None, docs_url=None, redoc_url=None
    )
    app.state.service = service
    for routes in ROUTES:
        for route in routes.routes:
            app.router.routes.append(route)
    access.require_rules(app)
    error_answers.add_handlers(app)
    return app


def guard_application(service: Service) -> ASGIApp:
    """Return the application as it is served: with what is said with every answer."""
    settings = service.settings
    answering = HeadAnswered(application(service))
    inner = Guarded(answering, is_secure=settings.is_secure, largest=settings.largest)
    return Logged(inner, settings, service.requests)
