"""The schema of the API, as the routes themselves tell it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response

from harness.service.api import bodies
from harness.service.web.access import TOKENS, Now, Routes
from harness.service.web.rules import ANYBODY

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["schema"])
_ABOUT = (
    "Errors are problems (RFC 9457). Lists come in pages. Times are in UTC where they have a zone."
)
_ANY_OBJECT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "OpenAPI 3.1",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@ROUTES.at("GET", "/openapi.json", ANYBODY, responses=_ANY_OBJECT)
def openapi(here: Now) -> Response:
    """Give this schema."""
    return JSONResponse(schema_of(here.request.app))


def schema_of(app: FastAPI) -> dict[str, Any]:
    """Return the schema of an application; it is made once."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=_ABOUT, routes=app.routes
        )
        schemes = {TOKENS: {"type": "http", "scheme": "bearer"}}
        parts = made.setdefault("components", {})
        parts["securitySchemes"] = schemes
        parts.setdefault("schemas", {}).update(bodies.PARTS)
        app.openapi_schema = made
    return app.openapi_schema
