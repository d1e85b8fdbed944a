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
)
from harness.service.api import gradings as api_gradings
from harness.service.api import points as api_points
from harness.service.api import private_cases as api_private_cases
from harness.service.api import suites as api_suites
from harness.service.operations import routes as operations
from harness.service.pages import (
    account,
    assignment,
    course,
    gradings,
    points,
    private_cases,
    roster,
    sign_in,
    student,
    submission,
    suites,
)
from harness.service.web import access, error_answers
from harness.service.web.middleware import Guarded, HeadAnswered, Logged
from harness.service.web.service import Service
from oracle import __version__

ROUTES = (
    *(sign_in.ROUTES, course.ROUTES, assignment.ROUTES, submission.ROUTES, gradings.ROUTES),
    *(student.ROUTES, roster.ROUTES, private_cases.ROUTES, points.ROUTES, account.ROUTES),
    suites.ROUTES,
    *(people.ROUTES, courses.ROUTES, submissions.ROUTES, requests.ROUTES, staff.ROUTES),
    *(marks.REMARKS, api_private_cases.ROUTES, api_points.ROUTES, own_files.ROUTES),
    *(drafts.ROUTES, students.ROUTES, api_gradings.ROUTES, marks.ROUTES, api_suites.ROUTES),
    *(runs.ROUTES, operations.ROUTES, operations.FOR_TOKENS),
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
